"""What is taken down about assertions."""

import pytest


def test_operands_verdicts_and_margins(lab):
    lab.write(
        test_a="""
        import pytest

        def test_it():
            x = [1, 2]
            assert x == [1, 2]
            assert 1 < len(x) <= 4 and not (3 <= len(x))
            assert 1.0 == pytest.approx(1.5, abs=2)
            with pytest.raises(ValueError):
                raise ValueError("no", 1)
            assert len(x) > 5
        """
    )
    test = lab.run("test_a.py::test_it", assertions=True).tests[0]
    assert test.values["test_a.py:6:4 left"] == "[1, 2]"
    assert test.values["test_a.py:6:4 right"] == "[1, 2]"
    assert [test.values["test_a.py:7:11 " + name] for name in ("left", "right", "operand 2")] == ["1", "2", "4"]
    assert test.margins["test_a.py:7:11"] == 1.0
    assert test.margins["test_a.py:7:11 pair 2"] == 2.0
    assert test.margins["test_a.py:7:36"] == 1.0
    assert test.margins["test_a.py:8:4"] == 1.5
    raised = [value for element, value in test.values.items() if element.endswith(" raised")]
    assert raised == ["ValueError('no', 1)"]
    assert test.margins["test_a.py:11:4"] == -3.0
    assert test.verdicts["test_a.py:6:4"] == "pass"
    assert test.verdicts["test_a.py:11:4"] == "fail"
    assert test.keys == {"n", "a", "v", "m"}


def test_an_operand_that_is_not_reached_is_neither_evaluated_nor_recorded(lab):
    lab.write(
        test_a="""
        calls = []

        def f(v):
            calls.append(v)
            return v

        def test_it():
            assert f(0) == 1 or f(1) == 1 or f(2) == 2
            assert f(3) == 3 and f(4)
            assert calls == [0, 1, 3, 4]
        """
    )
    run = lab.run("test_a.py::test_it", assertions=True)
    assert run.outcomes[0]["o"] == "p"
    values = {element: value for element, value in run.tests[0].values.items() if ":9:" in element}
    assert values == {
        "test_a.py:9:11 left": "0",
        "test_a.py:9:11 right": "1",
        "test_a.py:9:24 left": "1",
        "test_a.py:9:24 right": "1",
    }


def test_an_operand_is_evaluated_once_and_a_generator_is_not_consumed(lab):
    lab.write(
        test_a="""
        def test_it():
            numbers = iter([1, 2, 3])
            assert next(numbers) == 1
            assert next(numbers) and next(numbers)
            some = (each for each in [1])
            assert some
            assert list(some) == [1]
        """
    )
    assert lab.run("test_a.py::test_it", assertions=True).outcomes[0]["o"] == "p"


def test_a_site_that_is_passed_often_is_numbered_and_then_rolled_up(lab):
    lab.write(
        test_a="""
        import pytest

        @pytest.mark.parametrize("last", [99, 99, 98], ids=["a", "b", "c"])
        def test_it(last):
            for each in range(100):
                assert (each if each < 99 else last) >= 0
        """
    )
    run = lab.run(*("test_a.py::test_it[%s]" % name for name in "abc"), assertions=True)
    first, second, third = (run.tests[number].values for number in range(3))
    assert first["test_a.py:7:8 left"] == "0"
    assert first["test_a.py:7:8 left#2"] == "1"
    assert first["test_a.py:7:8 left#32"] == "31"
    assert first == second
    different = [element for element in first if first[element] != third[element]]
    assert different == ["test_a.py:7:8#33…"]


def test_a_test_of_a_million_assertions_is_bounded(lab):
    sites = "\n".join("            assert %d >= i" % (number + 10) for number in range(200))
    lab.write(test_a="def test_it():\n    for i in range(3):\n        for i in range(10):\n" + sites)
    test = lab.run("test_a.py::test_it", assertions=True).tests[0]
    assert len(test.values) <= 5_300
    assert test.values["…"].endswith(" more " + test.values["…"].split()[-1])


def test_assertions_of_unittest(lab):
    lab.write(
        test_a="""
        import unittest

        class Base(unittest.TestCase):
            def assertSame(self, left, right):
                self.assertEqual(left, right)

        class TestIt(Base):
            def test_it(self):
                self.assertEqual("a", "a", "the message")
                self.assertLess(1, 3)
                self.assertAlmostEqual(1.0, 1.25, delta=0.5)
                self.assertTrue([1])
                self.assertSame({1: 2}, {1: 2})
                with self.assertRaises(KeyError):
                    {}["k"]
                self.assertIn(4, [1])
        """
    )
    test = lab.run("test_a.py::TestIt::test_it", assertions=True).tests[0]

    def at(line):
        return [value for element, value in test.values.items() if element.startswith("test_a.py:%d:" % line)]

    assert at(10) == ["'a'", "'a'"]
    assert at(13) == ["[1]"]
    assert at(6) == ["{1: 2}", "{1: 2}"]
    # Before Python 3.10 a `with` ends at the last line of its block.
    assert at(15) + at(16) == ["KeyError('k')"]
    assert at(17) == ["4", "[1]"]
    assert sorted(test.margins.values()) == [0.25, 2.0]
    assert [verdict for element, verdict in test.verdicts.items() if ":17:" in element] == ["fail"]


def test_what_runs_outside_of_a_test_belongs_to_none(lab):
    lab.write(
        test_a="""
        import pytest
        assert 1 == 1

        @pytest.fixture(scope="module")
        def it():
            assert 2 == 2
            yield
            assert 3 == 3

        def test_one(it): pass
        def test_two(it): pass
        """
    )
    run = lab.run("test_a.py::test_one", "test_a.py::test_two", assertions=True)
    assert run.tests[0].values == {"test_a.py:7:4 left": "2", "test_a.py:7:4 right": "2"}
    assert run.tests[1].values == {"test_a.py:9:4 left": "3", "test_a.py:9:4 right": "3"}


@pytest.mark.parametrize("unmasked", [[], ["timestamp"]])
def test_other_masks_need_no_other_bytecode(lab, unmasked):
    lab.write(test_a="import time\ndef test_it():\n    assert time.time() > 5\n")
    lab.run("test_a.py::test_it", assertions=True)
    written = {path: path.stat().st_mtime_ns for path in (lab.base / "bytecode").rglob("*.pyc")}
    test = lab.run("test_a.py::test_it", assertions=True, unmasked=unmasked).tests[0]
    assert (test.values["test_a.py:3:4 left"] == "<timestamp>") is not bool(unmasked)
    assert {path: path.stat().st_mtime_ns for path in (lab.base / "bytecode").rglob("*.pyc")} == written
    assert len(written) == 1
