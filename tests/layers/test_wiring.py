"""The whole shim with layers, as flakelab starts it."""


def test_nothing_of_ours_is_in_the_process_or_the_tree(lab):
    lab.write(
        test_a="""
        import sys

        def test_it():
            ours = [name for name in sys.modules if "flakelab" in name and "layers" in name]
            assert ours == []
            for name in ("opcode", "decimal", "uuid", "fractions"):
                assert name not in sys.modules, name
            assert True
        """
    )
    wanted = {"assertions": True, "functions": True, "lines": True, "behaviour": True}
    before = lab.run("test_a.py::test_it", environment={"PYTHONHASHSEED": "1"})
    after = lab.run("test_a.py::test_it", environment={"PYTHONHASHSEED": "1"}, **wanted)
    assert {**before.outcomes[0], "us": 0} == {**after.outcomes[0], "us": 0}
    assert sorted(path.name for path in lab.root.rglob("*")) == ["test_a.py"]
    assert after.notes == []


def test_two_sessions_of_one_process_are_two_tests(lab):
    lab.write(test_a="count = [0]\ndef test_it():\n    count[0] += 1\n    assert count[0] < 9\n")
    run = lab.run("test_a.py::test_it", mode="twice", assertions=True, functions=True)
    assert sorted(run.tests) == [0, 1]
    assert run.tests[1].functions


def test_a_test_that_ends_the_process_keeps_the_ones_before(lab):
    lab.write(test_a="import os\ndef test_a():\n    assert 1\ndef test_b():\n    os._exit(3)\n")
    import harness

    run = harness.run(lab.root, ["test_a.py::test_a", "test_a.py::test_b"], layers={"assertions": True}, base=lab.base)
    assert sorted(run.tests) == [0]
    assert run.tests[0].values == {"test_a.py:3:4 value": "1"}


def test_a_closed_descriptor_changes_no_verdict(lab):
    lab.write(
        test_a="""
        import os

        def test_a():
            for number in range(700, 710):
                if "trace" in os.path.basename(os.readlink("/proc/self/fd/%d" % number)) if os.path.exists(
                    "/proc/self/fd/%d" % number
                ) else False:
                    os.close(number)
            assert 1

        def test_b():
            assert 2
        """
    )
    run = lab.run("test_a.py::test_a", "test_a.py::test_b", assertions=True)
    assert [each["o"] for each in run.outcomes.values()] == ["p", "p"]
    assert run.tests == {}


def test_an_unknown_rewriter_is_a_note(lab):
    lab.write(test_a="def test_a():\n    assert 1 == 1\n")
    site = lab.base / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import _pytest.assertion.rewrite as r\ndel r.AssertionRewriter.visit_Compare\n"
    )
    run = lab.run("test_a.py::test_a", environment={"PYTHONPATH": str(site)}, assertions=True)
    assert run.outcomes[0]["o"] == "p"
    assert [note for note in run.notes if note.startswith("assertion values are not recorded: ")], run.notes
