"""What a failing test says is the same to the byte, whether or not its values are recorded."""

import json
import re

import pytest

_REPORTS = """
    import json, os

    def pytest_runtest_logreport(report):
        with open(os.environ["REPORTS"], "a") as file:
            print(json.dumps([report.nodeid, report.when, report.outcome, report.longreprtext]), file=file)
"""

FORMS = {
    "equal": "assert f(1) == 2",
    "chained": "assert 1 < f(2) < 2",
    "chained_first": "assert 3 < f(2) < g(9)",
    "conjunction": "assert f(1) == 1 and f(2) == 3",
    "disjunction": "assert f(1) == 2 or not f(1) or f(0)",
    "nested_boolean": "assert (f(1) and (f(0) or f(2) < 1)) or x is None",
    "negation": "assert not f(1)",
    "negated_compare": "assert not (x == [1, 2])",
    "double_negation": "assert not not f(0)",
    "membership": "assert 3 in x",
    "no_membership": "assert 1 not in x",
    "identity": "assert x is None",
    "no_identity": "assert None is not None",
    "call": "assert f(0)",
    "method": "assert 'abc'.startswith('b')",
    "attribute": "assert o.value.real == 3",
    "name": "assert empty",
    "constant": "assert 0",
    "walrus": "assert (y := f(0))",
    "walrus_compare": "assert (y := f(1)) == 2 and y",
    "walrus_right": "assert 2 == (y := f(1))",
    "walrus_boolean": "assert f(1) and (y := f(0))",
    "approximate": "assert 0.1 + 0.2 == pytest.approx(0.4)",
    "approximate_sequence": "assert [0.1, 0.2] == pytest.approx([0.1, 0.4])",
    "message": "assert f(1) == 2, 'they %s differ' % x",
    "message_object": "assert f(1) == 2, o",
    "many_lines": "assert (\n        f(1)\n        ==\n        g(\n            3\n        )\n    )",
    "nested_function": "def inner(v):\n        assert v == [3]\n    inner(x)",
    "lambda_call": "assert (lambda v: v > 3)(1)",
    "comprehension": "assert [each for each in x if each > 1] == [1]",
    "all_of": "assert all(each > 1 for each in x)",
    "generator": "v = (each for each in x)\n    assert v == x",
    "generator_kept": "v = (each for each in x)\n    assert v\n    assert list(v) == [1]",
    "subscript": "assert x[0] == {'a': 1}['a'] + 1",
    "arithmetic": "assert f(1) + 2 * 3 == 8",
    "text": "assert 'first\\nsecond\\n' == 'first\\nthird\\n'",
    "dictionaries": "assert {'a': 1, 'b': 2} == {'a': 1, 'b': 3}",
    "sets": "assert {1, 2} == {1, 3}",
    "starred": "assert max(*x) == 5",
    "keywords": "assert dict(a=1, **{'b': 2}) == {}",
    "conditional": "assert (f(0) if x else f(1))",
    "format_string": "assert f'{x}' == 'y'",
    "percent": "assert '100%' == '%s'",
    "raises_in_operand": "assert {}['a'] == 1",
    "raises_in_compare": "assert Rude() == 1",
    "raises_in_truth": "assert Rude()",
    "unbound": "assert nobody == 1",
    "unbound_in_boolean": "assert x and nobody",
    "tuple_test": "assert f(1) == 1, (1, 2)\n    assert () ",
    "did_not_raise": "with pytest.raises(ValueError):\n        pass",
    "another_raised": "with pytest.raises(ValueError):\n        {}['a']",
    "another_message": "with pytest.raises(ValueError, match='b'):\n        raise ValueError('a')",
    "raises_function": "pytest.raises(ValueError, f, 1)",
    "did_not_warn": "with pytest.warns(UserWarning):\n        pass",
    "asynchronous": "async def inner():\n        assert await h(1) == 2\n    import asyncio\n    asyncio.run(inner())",
    "in_a_loop": "for each in range(60):\n        assert each < 50",
    "in_a_class_body": "class A:\n        z = 1\n        assert z == 2",
}
_HEAD = """
import pytest, types, unittest

def f(v): return v
def g(v): return v
async def h(v): return v
class Rude:
    def __eq__(self, other): raise RuntimeError("no eq")
    def __bool__(self): raise RuntimeError("no bool")
o = types.SimpleNamespace(value=1)
empty = []

class TestUnit(unittest.TestCase):
    def test_equal(self): self.assertEqual([1], [2])
    def test_text(self): self.assertEqual("a\\nb", "a\\nc", "with a message")
    def test_less(self): self.assertLess(3, 2)
    def test_almost(self): self.assertAlmostEqual(1.0, 1.1, places=3)
    def test_true(self): self.assertTrue(0, msg="no")
    def test_raises(self):
        with self.assertRaises(ValueError): pass
    def test_raises_other(self):
        with self.assertRaises(ValueError): {}["a"]
    def test_regex(self): self.assertRegex("abc", "d+")
    def test_fail(self): self.fail("asked for")
    def test_count(self): self.assertCountEqual([1], [1, 2])
"""
UNIT = ["equal", "text", "less", "almost", "true", "raises", "raises_other", "regex", "fail", "count"]


def _reports(lab, order, name, arguments, **layers):
    path = lab.base / name
    done = lab.run(*order, arguments=arguments, environment={"REPORTS": str(path)}, **layers)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    found = {each[0]: each[2:] for each in lines if each[1] == "call"}
    return found, done


@pytest.mark.parametrize("arguments", [[], ["-vv", "--showlocals"], ["--tb=short"]], ids=["usual", "locals", "short"])
def test_messages_are_the_same_with_and_without_recording(lab, arguments):
    tests = "".join("def test_%s():\n    x = [1, 2]\n    %s\n\n" % form for form in FORMS.items())
    lab.write(conftest=_REPORTS)
    (lab.root / "test_forms.py").write_text(_HEAD + tests)
    order = ["test_forms.py::TestUnit::test_" + name for name in UNIT]
    order += ["test_forms.py::test_" + name for name in FORMS]
    plain, before = _reports(lab, order, "plain", arguments)
    measured, after = _reports(lab, order, "measured", arguments, assertions=True, behaviour=True, functions=True)
    other = {name: [["test_forms.py", 1, 0]] for name in order}
    again, _ = _reports(lab, order, "again", arguments, assertions=True, failing_only=True, filtered=other)
    assert set(plain) == set(order)
    for name in order:
        assert plain[name][0] == "failed", name
        assert _timeless(measured[name]) == _timeless(plain[name]), name
        assert _timeless(again[name]) == _timeless(plain[name]), name
    places = [[(n, each["m"], each["at"]) for n, each in sorted(run.outcomes.items())] for run in (before, after)]
    assert _timeless(places[0]) == _timeless(places[1])


def _timeless(value):
    """Addresses are others in every process, also where pytest cuts them."""
    return re.sub(r"x[0-9a-f]{6,}", "x", json.dumps(value))
