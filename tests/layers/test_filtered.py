"""A filtered assertion that fails is written down, and the test goes on."""

import sys

import harness
import pytest


def _sites(lab, *marks, file="test_a"):
    """The sites of statements: lines of the file that contain a mark, at their first character."""
    lines = (lab.root / (file + ".py")).read_text().splitlines()
    return [
        [file + ".py", number, len(line) - len(line.lstrip())]
        for mark in marks
        for number, line in enumerate(lines, 1)
        if mark in line
    ]


def _failing(lab, *tests):
    """The outcomes without a filter, and the sites that failed, which for `with` differ between interpreters."""
    run = lab.run(*("test_a.py::" + test for test in tests), assertions=True)
    found = {name for test in run.tests.values() for name, verdict in test.verdicts.items() if verdict == "fail"}
    split = [each.split(":") for each in sorted(found)]
    return run, [[path, int(line), int(column)] for path, line, column in split]


def _run(lab, *tests, sites, **layers):
    order = ["test_a.py::" + test for test in tests]
    wanted = {test: sites for test in order}
    return lab.run(*order, assertions=True, filtered=wanted, **layers)


@pytest.mark.parametrize("failing_only", [False, True])
def test_the_test_goes_on_and_the_assertions_behind_it_still_count(lab, failing_only):
    lab.write(
        test_a="""
        def test_it():
            x = [1]
            assert x == [2], "filtered"
            assert x == [1]
            assert len(x) > 3  # also
            assert x == [3]
        """
    )
    run = _run(lab, "test_it", sites=_sites(lab, "filtered", "also"), failing_only=failing_only)
    test = run.tests[0]
    assert run.outcomes[0]["o"] == "f"
    assert run.outcomes[0]["m"].startswith("assert [1] == [3]")
    assert [element for element, _ in test.filtered] == ["test_a.py:4:4", "test_a.py:6:4"]
    assert test.filtered[0][1].startswith("filtered\nassert [1] == [2]\n")
    assert test.filtered[1][1] == "assert 1 > 3\n +  where 1 = len([1])"
    failed = {element for element, verdict in test.verdicts.items() if verdict == "fail"}
    assert failed == {"test_a.py:4:4", "test_a.py:6:4", "test_a.py:7:4"}
    assert ("test_a.py:5:4" in test.verdicts) is not failing_only
    assert test.values["test_a.py:4:4 left"] == "[1]"
    assert test.margins["test_a.py:6:4"] == -2.0


def test_what_is_wanted_for_a_function_is_wanted_for_all_of_its_parameters(lab):
    lab.write(
        test_a="""
        import pytest

        @pytest.mark.parametrize("text", ["x", "y[1]"])
        def test_it(text):
            assert text == "z"  # filtered

        def test_it_not():
            assert 1 == 2
        """
    )
    order = ["test_a.py::test_it[x]", "test_a.py::test_it[y[1]]", "test_a.py::test_it_not"]
    wanted = {"test_a.py::test_it": _sites(lab, "filtered") + [["test_a.py", 9, 4]]}
    run = lab.run(*order, assertions=True, filtered=wanted)
    assert [outcome["o"] for outcome in run.outcomes.values()] == ["p", "p", "f"]


def test_a_test_whose_failures_are_all_filtered_passes(lab):
    lab.write(
        test_a="""
        import asyncio

        def check(v):
            assert v == 0

        async def wait():
            assert await one() == 2

        async def one():
            return 1

        def test_it():
            check(1)
            check(2)
            asyncio.run(wait())
            assert not (1 == 1) or 0
            if True:
                class A:
                    assert 0
            for each in (assertion() for assertion in [lambda: check(3)]):
                assert each
        """
    )
    run = _run(lab, "test_it", sites=_sites(lab, "assert "))
    assert run.outcomes[0]["o"] == "p", run.outcomes
    assert run.tests[0].filtered == [
        ("test_a.py:5:4", "assert 1 == 0"),
        ("test_a.py:5:4#2", "assert 2 == 0"),
        ("test_a.py:8:4", "assert 1 == 2"),
        ("test_a.py:17:4", "assert (not 1 == 1 or 0)"),
        ("test_a.py:20:12", "assert 0"),
        ("test_a.py:5:4#3", "assert 3 == 0"),
        ("test_a.py:22:8", "assert None"),
    ]


def test_only_the_named_test_is_filtered(lab):
    lab.write(
        test_a="""
        import pytest

        @pytest.fixture
        def around():
            assert 0
            yield
            assert 0

        @pytest.mark.parametrize("number", [1, 2])
        def test_it(number, around):
            assert number == 3
        """
    )
    ids = ["test_a.py::test_it[1]", "test_a.py::test_it[2]"]
    run = lab.run(*ids, assertions=True, filtered={ids[1]: _sites(lab, "assert "), "another": [["x", 1, 2]]})
    assert [each["o"] for each in run.outcomes.values()] == ["e", "p"]
    assert run.tests[0].filtered == []
    assert [element for element, _ in run.tests[1].filtered] == ["test_a.py:6:4", "test_a.py:12:4", "test_a.py:8:4"]


def test_another_site_on_the_same_line_raises(lab):
    lab.write(test_a="def test_it():\n    assert 1; assert 0\n")
    run = _run(lab, "test_it", sites=[["test_a.py", 2, 4]])
    assert run.outcomes[0]["o"] == "f"
    run = _run(lab, "test_it", sites=[["test_a.py", 2, 14]])
    assert run.outcomes[0]["o"] == "p"


def test_helpers_in_other_rewritten_modules_count(lab):
    lab.write(
        conftest="import pytest\npytest.register_assert_rewrite('help', 'plain')\n",
        help="def check(v):\n    assert v == 1\n    return 'on'\n",
        test_a="import help\n\ndef test_it():\n    assert help.check(2) == 'on'\n",
    )
    run = _run(lab, "test_it", sites=[["help.py", 2, 4]])
    assert run.outcomes[0]["o"] == "p"
    assert run.tests[0].filtered == [("help.py:2:4", "assert 2 == 1")]


_BLOCKS = """
    import pytest, warnings

    def did_not_raise():
        with pytest.raises(ValueError):
            pass

    def another_message():
        with pytest.raises(ValueError, match="b") as caught:
            raise ValueError("a")
        assert str(caught.value) == "a"

    def another_type():
        with pytest.raises(ValueError):
            raise KeyError("k")

    def did_not_warn():
        with pytest.warns(UserWarning):
            pass

    def another_warning():
        with pytest.warns(UserWarning, match="b"):
            warnings.warn("a")

    def raised_instead_of_warning():
        with pytest.warns(UserWarning):
            raise KeyError("k")

    def asked_to_fail():
        with pytest.raises(ValueError):
            pytest.fail("k")
"""
_OF_BLOCKS = {
    "did_not_raise": ("p", "DID NOT RAISE "),
    "another_message": ("p", "Regex pattern did not match"),
    "another_type": ("f", ""),
    "did_not_warn": ("p", "DID NOT WARN. "),
    "another_warning": ("p", ""),
    "raised_instead_of_warning": ("f", None),
    "asked_to_fail": ("f", ""),
}


@pytest.mark.filterwarnings("ignore")
def test_blocks_that_expect_an_exception_or_warning(lab):
    calls = "".join("def test_%s():\n    %s()\n    done.append(1)\n" % (name, name) for name in _OF_BLOCKS)
    lab.write(test_a=_BLOCKS)
    with (lab.root / "test_a.py").open("a") as file:
        file.write("\ndone = []\n" + calls)
    tests = ["test_" + name for name in _OF_BLOCKS]
    seen, sites = _failing(lab, *tests)
    run = _run(lab, *tests, sites=sites)
    for number, (name, (outcome, message)) in enumerate(_OF_BLOCKS.items()):
        assert seen.outcomes[number]["o"] == "f", name
        assert run.outcomes[number]["o"] == outcome, (name, run.outcomes[number])
        filtered = run.tests[number].filtered
        if outcome == "p":
            assert len(filtered) == 1 and filtered[0][1].startswith(message), (name, filtered)
        elif message is not None:
            assert filtered == [], name
    assert "KeyError" in run.outcomes[5]["m"]


def test_a_group_of_another_kind_than_expected(lab):
    raises_group = getattr(pytest, "RaisesGroup", None)
    if raises_group is None or sys.version_info < (3, 11):
        pytest.skip("needs pytest 8.4 and Python 3.11")
    lab.write(
        test_a="""
        import pytest

        def test_group():
            with pytest.RaisesGroup(ValueError):
                raise ExceptionGroup("", [KeyError()])

        def test_single():
            with pytest.RaisesGroup(ValueError):
                raise KeyError("k")
        """
    )
    _, sites = _failing(lab, "test_group", "test_single")
    run = _run(lab, "test_group", "test_single", sites=sites)
    assert len(sites) == 2
    assert [each["o"] for each in run.outcomes.values()] == ["p", "f"]


def test_a_check_of_the_project_that_fails_is_an_assertion_of_its_own(lab):
    try:
        pytest.raises(ValueError, check=bool)
    except TypeError:
        pytest.skip("needs pytest 8.4")
    lab.write(
        test_a="""
        import pytest

        def check(error):
            assert error.args == ()
            return True

        def test_it():
            with pytest.raises(ValueError, check=check):
                raise ValueError("a")
        """
    )
    _, sites = _failing(lab, "test_it")
    check = _sites(lab, "assert ")
    blocks = [site for site in sites if site not in check]
    assert len(blocks) == 1
    assert _run(lab, "test_it", sites=blocks).outcomes[0]["o"] == "f"
    assert _run(lab, "test_it", sites=check).outcomes[0]["o"] == "p"


@pytest.mark.parametrize("failing_only", [False, True])
def test_methods_of_unittest(lab, failing_only):
    lab.write(
        test_a="""
        import unittest

        class TestIt(unittest.TestCase):
            def own(self, v):
                self.assertEqual(v, 1, "helped")

            def test_it(self):
                assert self.assertEqual([1], [2]) is None
                self.assertTrue(0, "no")
                self.own(5)
                self.fail("asked for")
                with self.assertRaises(KeyError):
                    pass
                with self.assertRaisesRegex(KeyError, "b"):
                    raise KeyError("a")
                with self.subTest("kept"):
                    self.assertIn(1, [])

            def test_sub(self):
                with self.subTest("kept"):
                    self.assertIn(1, [2])

            def test_error(self):
                self.assertEqual(Rude(), 1)

            def test_other(self):
                with self.assertRaises(KeyError):
                    raise ValueError("v")

        class Rude:
            def __eq__(self, other):
                raise RuntimeError("no eq")
        """
    )
    names = ["TestIt::test_" + name for name in ("it", "sub", "error", "other")]
    ids = ["test_a.py::" + name for name in names]
    lines = (lab.root / "test_a.py").read_text().splitlines()
    sites = []
    for number, line in enumerate(lines, 1):
        for column in {0, line.find("self."), 8}:
            sites.append(["test_a.py", number, column])
    kept = [number for number, line in enumerate(lines, 1) if "assertIn(1, [2])" in line]
    sites = [site for site in sites if site[1] not in kept]
    run = _run(lab, *names, sites=sites, failing_only=failing_only)
    assert [run.outcomes[number]["o"] for number in range(4)] == ["p", "f", "f", "f"], run.outcomes
    messages = [message for _, message in run.tests[0].filtered]
    assert [each.split("\n")[0] for each in messages] == [
        "Lists differ: [1] != [2]",
        "0 is not true : no",
        "5 != 1 : helped",
        "asked for",
        "KeyError not raised",
        '"b" does not match "\'a\'"',
        "1 not found in []",
    ]
    assert len(ids) == 4 and "RuntimeError" in run.outcomes[2]["m"] and "ValueError" in run.outcomes[3]["m"]
    assert set(run.tests[0].verdicts.values()) == {"fail"} if failing_only else {"pass", "fail"}


def test_nothing_filtered_is_nothing_written(lab):
    lab.write(test_a="def test_it():\n    assert 0\n")
    for wanted in ({}, {"test_a.py::test_it": []}):
        run = lab.run("test_a.py::test_it", assertions=True, filtered=wanted)
        assert run.outcomes[0]["o"] == "f"
        assert run.tests[0].keys == {"n", "a", "v"}


def test_a_filter_alone_records_no_values(lab):
    lab.write(test_a="def test_it():\n    assert 0 == 1\n")
    run = lab.run("test_a.py::test_it", filtered={"test_a.py::test_it": [["test_a.py", 2, 4]]})
    assert run.outcomes[0]["o"] == "p"
    assert run.tests[0].keys == {"n", "q"}
    assert run.tests[0].filtered == [("test_a.py:2:4", "assert 0 == 1")]


def test_bytecode_is_the_same_for_all_options(lab):
    lab.write(test_a="def test_it():\n    assert 0 == 1\n")
    _run(lab, "test_it", sites=[["test_a.py", 2, 4]])
    written = {path: path.read_bytes() for path in (lab.base / "bytecode").rglob("*.pyc")}
    stamps = {path: path.stat().st_mtime_ns for path in written}
    assert lab.run("test_a.py::test_it", assertions=True).outcomes[0]["o"] == "f"
    assert _run(lab, "test_it", sites=[["test_a.py", 2, 4]], failing_only=True).outcomes[0]["o"] == "p"
    assert {path: path.stat().st_mtime_ns for path in (lab.base / "bytecode").rglob("*.pyc")} == stamps
    assert len(stamps) == 1


def test_failures_and_messages_are_bounded(lab):
    lab.write(
        test_a="""
        class Rude:
            def __str__(self): raise RuntimeError("no str")
            __repr__ = __str__

        import unittest

        class TestIt(unittest.TestCase):
            def test_rude(self):
                self.fail(Rude())

        def test_it():
            for each in range(300):
                assert each == 0.5, "\\udce4" * 1000
            assert Rude() is None
        """
    )
    names = ["test_it", "TestIt::test_rude"]
    # Without columns, before Python 3.11.
    sites = [*_sites(lab, "assert ", "self.fail"), ["test_a.py", 10, 0]]
    run = _run(lab, *names, sites=sites)
    assert [each["o"] for each in run.outcomes.values()] == ["p", "p"]
    assert len(run.tests[0].filtered) == 100
    assert max(len(message) for _, message in run.tests[0].filtered) == 300
    assert len(run.tests[1].filtered) == 1
    only = _run(lab, *names, sites=sites, failing_only=True)
    assert [element for element, _ in only.tests[0].filtered][-1] == "test_a.py:14:8#100"
    assert len(only.tests[0].verdicts) == 33


def test_malformed_sites_are_a_note_and_filter_nothing(lab):
    lab.write(test_a="def test_it():\n    assert 0\n")
    run = lab.run("test_a.py::test_it", assertions=True, filtered={"test_a.py::test_it": [["test_a.py", "two"], 7]})
    assert run.outcomes[0]["o"] == "f"
    assert run.notes


def test_what_cannot_be_written_down_fails(lab):
    lab.write(
        test_a="""
        import os

        def test_a():
            for number in range(700, 710):
                path = "/proc/self/fd/%d" % number
                if os.path.exists(path) and os.readlink(path).endswith("trace"):
                    os.close(number)

        def test_b():
            assert 0
        """
    )
    run = _run(lab, "test_a", "test_b", sites=_sites(lab, "assert 0"))
    assert [each["o"] for each in run.outcomes.values()] == ["p", "f"]


def test_failing_only_keeps_the_parts_of_failing_assertions(lab):
    lab.write(
        test_a="""
        def check(v):
            assert v < 9 and v != 4
            return v

        def test_it():
            for each in range(40):
                assert each < 100
            assert check(1) and not check(2) or check(3) == 4
        """
    )
    test = lab.run("test_a.py::test_it", assertions=True, failing_only=True).tests[0]
    whole = lab.run("test_a.py::test_it", assertions=True).tests[0]
    assert test.values and all(element.startswith("test_a.py:9:") for element in test.values)
    assert test.values == {name: text for name, text in whole.values.items() if name.startswith("test_a.py:9:")}
    assert test.verdicts == {"test_a.py:9:4": "fail"}


def test_a_whole_run_tells_what_it_collected_and_executes_it(lab):
    lab.write(
        test_a="def test_a():\n    assert 0\ndef test_b():\n    pass\n",
        test_broken="import nothing_of_this_name\n",
        test_c="def test_c():\n    assert 1 == 2\n",
    )
    layers = {"assertions": True, "filtered": {"test_a.py::test_a": [["test_a.py", 2, 4]]}}
    run = lab.run(mode="whole", **layers)
    kinds = [event["k"] for event in run.events]
    tests = [each for event in run.events if event["k"] == "tests" for each in event["list"]]
    assert tests == ["test_a.py::test_a", "test_a.py::test_b", "test_c.py::test_c"]
    assert kinds.index("hello") < kinds.index("ready") < kinds.index("s")
    assert "collection_errors" in kinds
    assert [each["o"] for each in run.outcomes.values()] == ["p", "p", "f"]
    assert run.tests[0].filtered == [("test_a.py:2:4", "assert 0")]
    # As in every cold run, the first failure is not the last.
    stopped = lab.run(mode="whole", arguments=["-x", "test_c.py", "test_a.py"])
    assert [each["o"] for each in stopped.outcomes.values()] == ["f", "f", "p"]


def test_a_whole_run_without_tests(lab):
    run = harness.run(lab.root, [], mode="whole", base=lab.base)
    assert [event["k"] for event in run.events][-3:] == ["hello", "ready", "end"]


def test_the_hook_for_passing_assertions_hears_of_no_filtered_one(lab):
    lab.write(
        conftest="""
        passed = []

        def pytest_assertion_pass(item, lineno, orig, expl):
            passed.append(lineno)
        """,
        test_a="""
        import conftest

        def test_it():
            assert 1 == 1
            assert 1 == 2
            assert conftest.passed == [5]
        """,
    )
    (lab.root / "pytest.ini").write_text("[pytest]\nenable_assertion_pass_hook = true\n")
    run = _run(lab, "test_it", sites=_sites(lab, "1 == 2"))
    assert run.outcomes[0]["o"] == "p", run.outcomes
    assert run.tests[0].verdicts == {"test_a.py:5:4": "pass", "test_a.py:6:4": "fail", "test_a.py:7:4": "pass"}


def test_a_million_filtered_failures_are_bounded(lab):
    sites = "\n".join("        assert i < 0 and i" for _ in range(300))
    lab.write(test_a="def test_it():\n    for i in range(100):\n%s\n    assert i == 5\n" % sites)
    run = _run(lab, "test_it", sites=_sites(lab, "assert i <"), failing_only=True)
    test = run.tests[0]
    assert run.outcomes[0]["o"] == "f"
    assert len(test.values) <= 5_000 and len(test.verdicts) <= 10_000
    assert test.verdicts["test_a.py:303:4"] == "fail"
    assert len(test.filtered) == 100
