"""Texts of values: canonical, masked, bounded, and never asking the value."""

import collections
import datetime
import decimal
import enum
import fractions
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import uuid

import harness
import pytest
from flakelab_shim.layers.digest import Digest

_PROGRAM = """
import sys, json
sys.path.insert(0, sys.argv[1])
from flakelab_shim.layers.digest import Digest
values = eval(sys.argv[2])
print(json.dumps([Digest().text(value) for value in values]))
"""
_VALUES = """[
    {"a", "b", "c", "d", "e"}, frozenset(["x", ("y", 1)]), {"b": 1, "a": {"z", "y"}}, dict.fromkeys("hello"),
    {i for i in range(3)} | {str(i) for i in range(50)}, {str(i) for i in range(1000)}, list(range(2000)),
    {str(i): i for i in range(700)}, {frozenset(range(i)) for i in range(40)}, object(), len, int, ValueError("x"),
    [{("a", str(i)) for i in range(30)} for _ in range(30)], {"k": {"k": {"k": {"k": {"k": {"k": {"k": 1}}}}}}},
    "x" * 5000, b"y" * 5000, 10 ** 5000, float("nan"), float("inf"), -0.0, 1e100, ..., {}.keys(), {"a": 1}.items(),
]"""


def test_texts_are_the_same_under_every_hash_seed():
    answers = []
    for seed in ("0", "1", "2"):
        command = [sys.executable, "-c", _PROGRAM, str(harness.SHIM), _VALUES]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        answers.append(json.loads(subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout))
    assert answers[0] == answers[1] == answers[2]
    assert all(len(text) <= 300 for text in answers[0])


class Colour(enum.Enum):
    RED = 1


class Names(list):
    pass


Pair = collections.namedtuple("Pair", "a b")


class Fields:
    def __init__(self):
        self.a, self.b, self.c = 1, "two", object()


class Slots:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a = 3


@pytest.mark.parametrize(
    "value, text",
    [
        (12, "12"),
        (True, "True"),
        ("it's", '"it\'s"'),
        ([1, "a", None], "[1, 'a', None]"),
        ((1,), "(1,)"),
        ({"b": 1, "a": 2}, "{'a': 2, 'b': 1}"),
        ({3, 1}, "{1, 3}"),
        (set(), "set()"),
        (Colour.RED, "test_digest.Colour.RED"),
        (Names([1]), "test_digest.Names([1])"),
        (Pair(1, 2), "test_digest.Pair((1, 2))"),
        (collections.deque([1]), "deque[1]"),
        (ValueError("a", 1), "ValueError('a', 1)"),
        (datetime.date(2001, 2, 3), "datetime.date(2001-02-03)"),
        (datetime.timedelta(1), "datetime.timedelta(days=1)"),
        (decimal.Decimal("1.50"), "Decimal(1.50)"),
        (fractions.Fraction(1, 3), "Fraction(1, 3)"),
        (pathlib.PurePosixPath("a/b"), "PurePosixPath('a/b')"),
        (range(3), "range(0, 3, 1)"),
        (re.compile("a"), "re('a', 32)"),
        (uuid.UUID(int=1), "UUID(<uuid>)"),
        (len, "<function builtins.len>"),
        (Colour, "<class test_digest.Colour>"),
        (json, "<module json>"),
        (Fields(), "<test_digest.Fields>"),
    ],
    ids=repr,
)
def test_texts(value, text):
    assert Digest().text(value) == text


def test_different_values_beyond_what_is_shown_have_different_texts():
    for one, other in (
        ("x" * 500 + "a", "x" * 500 + "b"),
        (list(range(1000)), [*range(999), 5]),
        ({str(i) for i in range(900)}, {str(i) for i in range(1, 901)}),
        ([["a" * 50] * 5] * 5 + [1], [["a" * 50] * 5] * 5 + [2]),
    ):
        assert Digest().text(one) != Digest().text(other)


def test_fields_are_read_when_asked_for():
    digest = Digest((), {"test_digest.Fields": ["a", "b", "missing"], "test_digest.Slots": ["*"]})
    assert digest.text(Fields()) == "<test_digest.Fields>{a=1, b='two'}"
    assert digest.text(Slots()) == "<test_digest.Slots>{a=3}"


def test_cycles_end():
    loop = []
    loop.append(loop)
    assert Digest().text(loop) == "[[[[[[[… 1]]]]]]]"


def test_masks():
    now = datetime.datetime.now()
    for name, value, text in (
        ("address", "<object at 0x7f00deadbeef>", "'<object at 0x…>'"),
        ("uuid", "id %s." % uuid.uuid4(), "'id <uuid>.'"),
        ("path", "/tmp/tmpab12cd34/x7/f.txt", "'<tmp>/#/x#/f.txt'"),
        (
            "path",
            pathlib.PurePosixPath("/tmp/pytest-of-me/pytest-12/test_a0"),
            "PurePosixPath('<tmp>/pytest-#/test_a#')",
        ),
        ("timestamp", now.isoformat(), "'<timestamp>'"),
        ("timestamp", now, "datetime.datetime(<timestamp>)"),
        ("timestamp", time.time(), "<timestamp>"),
        ("timestamp", int(time.time() * 1000), "<timestamp>"),
        ("timestamp", time.time_ns(), "<timestamp>"),
    ):
        assert Digest().text(value) == text
        assert Digest([name]).text(value) != text
        assert Digest([name]).text(value) == Digest([name]).text(value)


def test_constant_dates_stay():
    for value in ("2001-02-03T04:05:06Z", 981173106, datetime.datetime(2001, 2, 3), "0x1f", "12:30:00", "/usr/lib/a1"):
        assert "<" not in Digest().text(value)


def test_hostile_objects_are_never_asked():
    asked = []

    def hostile(name):
        def method(self, *arguments):
            asked.append(name)
            raise RuntimeError(name)

        return method

    names = (
        "repr str eq hash len iter getattr getattribute bool contains getitem int float index class fspath"
    ).split()
    body = {"__%s__" % name: hostile(name) for name in names}
    meta = type("Meta", (type,), {k: v for k, v in body.items() if k not in ("__getattribute__", "__class__")})
    body["__class__"] = property(hostile("class"))
    body["anything"] = property(hostile("property"))
    for base in (object, list, dict, str, int, float, tuple, set, bytes, Exception, collections.deque):
        kind = meta("Hostile", (base,), dict(body))
        value = base.__new__(kind)
        digest = Digest((), {"test_digest.Hostile": ["*"], "Hostile": ["*", "anything"]})
        assert digest.text(value)
        assert digest.text([value, value])
        assert digest.text({"k": value})
        assert digest.text(kind)
    assert asked == []


def test_a_long_text_is_read_once_however_often_it_is_asserted():
    digest, seen = Digest(), []
    masked = digest._masks.text
    digest._masks.text = lambda text: seen.append(len(text)) or masked(text)
    long = "".join("/v%d" % number for number in range(15_000))
    texts = {digest.text(long) for _ in range(10)}
    assert len(seen) == 1
    assert texts == {Digest().text(long)}
    others = ["%d%s" % (number, long) for number in range(10)]
    assert [digest.text(other) for other in others] == [Digest().text(other) for other in others]
    assert digest.text(long) in texts


def test_how_long_a_text_takes(capsys):
    """Printed, not judged: a busy machine is no defect."""
    digest, times = Digest(), 20_000
    with capsys.disabled():
        for value in (1, "short", None, [1, 2, 3], {"a": 1}, "a/b-c", 1.5):
            began = time.perf_counter()
            for _ in range(times):
                digest.text(value)
            print("%-12r %.2f µs" % (value, (time.perf_counter() - began) / times * 1e6))
