"""Samples of what functions of the project were given and gave back, and of what assertions compared.

They are what likely invariants are inferred from: numbers stay numbers, strings are digested, of everything else
only the type and size are kept. A point is sampled a few times in each test; after that it costs nothing.
"""

import collections
import math
import sys

from ..sealed import os
from .codes import function_name
from .identity import identity

SAMPLES = 5_000
TIMES = 20
ELEMENTS = 64
_ABSENT = ["u"]
_MISSING = object()
_SMALLEST, _LARGEST = -(1 << 63), (1 << 63) - 1
_OPTIMIZED, _NEW_LOCALS, _STAR, _STARS, _GENERATORS = 0x1, 0x2, 0x4, 0x8, 0x20 | 0x80 | 0x200
_SIZED = (list, tuple, dict, set, frozenset, bytes, bytearray, range, collections.deque)
_SIZES = {identity(kind): kind.__len__ for kind in _SIZED}
# Before Python 3.13 a function has one dictionary of its variables, and reading it refreshes what these gave out.
_SEES_OWN_VARIABLES = frozenset(("locals", "vars", "eval", "exec", "dir", "_getframe", "currentframe"))
_ONE_DICTIONARY = sys.version_info < (3, 13)
# `sys.settrace` writes that dictionary back into the variables.
_MAY_CLEAR = _ONE_DICTIONARY and sys.version_info >= (3, 12)


class Points:
    """What is sampled in one function."""

    __slots__ = ("name", "arguments", "has_exit", "reads_exit", "entry", "exit", "test", "entries", "exits")

    def __init__(self, name, code):
        self.name = name
        self.arguments = _arguments(code)
        self.has_exit = not code.co_flags & _GENERATORS
        self.reads_exit = not (_ONE_DICTIONARY and _SEES_OWN_VARIABLES.intersection(code.co_names))
        self.entry = self.exit = self.test = None
        self.entries = self.exits = 0


class Behaviour:
    def __init__(self, trace, digest):
        self._trace = trace
        self._digest = digest
        self._test = None
        self._samples = []
        self._asserted = {}

    def start(self, test):
        self._samples, self._asserted = [], {}
        self._test = test

    def finish(self):
        self._test = None
        samples, self._samples = self._samples, []
        return {"b": samples}

    # -- functions -----------------------------------------------------------------------------------

    def is_sampled(self, entry):
        return self._points(entry) is not False

    def has_exit(self, entry):
        return self._points(entry).has_exit

    def _points(self, entry):
        if entry.points is None:
            code = entry.code
            name = code.co_name
            is_function = code.co_flags & _OPTIMIZED and code.co_flags & _NEW_LOCALS
            if not is_function or _is_test_file(entry.path) or (name[0] == "<" and name != "<lambda>"):
                entry.points = False
            else:
                entry.points = Points(function_name(entry), code)
        return entry.points

    def at_entry(self, entry, frame):
        """Takes a sample; whether another one is wanted."""
        points = entry.points
        if not points or self._test is None or len(self._samples) >= SAMPLES:
            return False
        try:
            if points.test is not self._test:
                points.test, points.entries, points.exits = self._test, 0, 0
            points.entries += 1
            if points.entries > TIMES:
                return False
            if points.entry is None:
                points.entry = self._trace.point(points.name + ":entry", points.arguments)
            held = frame.f_locals
            sample = [self._sample(held.get(name, _MISSING)) for name in points.arguments]
            if _MAY_CLEAR:
                # Or it would hold the arguments for as long as the function runs.
                held.clear()
            self._samples.append((points.entry, sample))
            return points.entries < TIMES
        except Exception as error:
            return self._trouble(error)

    def at_exit(self, entry, frame, value):
        points = entry.points
        if not points or self._test is None or len(self._samples) >= SAMPLES:
            return False
        try:
            if points.test is not self._test:
                points.test, points.entries, points.exits = self._test, 0, 0
            points.exits += 1
            if points.exits > TIMES:
                return False
            arguments = points.arguments if points.reads_exit else ()
            if points.exit is None:
                points.exit = self._trace.point(points.name + ":exit", ("return", *arguments))
            held = frame.f_locals if arguments else {}
            sample = [self._sample(value)]
            sample.extend(self._sample(held.get(name, _MISSING)) for name in arguments)
            self._samples.append((points.exit, sample))
            return points.exits < TIMES
        except Exception as error:
            return self._trouble(error)

    # -- assertions ----------------------------------------------------------------------------------

    def at_assertion(self, name, variables, operands):
        if self._test is None or len(self._samples) >= SAMPLES:
            return
        times = self._asserted[name] = self._asserted.get(name, 0) + 1
        if times <= TIMES:
            point = self._trace.point(name + ":assert", tuple(each.strip() for each in variables))
            self._samples.append((point, [self._sample(each) for each in operands]))

    # -- values --------------------------------------------------------------------------------------

    def _sample(self, value):
        kind = type(value)
        if value is _MISSING:
            return _ABSENT
        if value is None or kind is bool:
            return value
        if kind is int and _SMALLEST <= value <= _LARGEST:
            return value
        if kind is float and math.isfinite(value):
            return value
        if kind is str:
            return ["s", self._trace.number(self._digest.text(value)), len(value)]
        if kind is list or kind is tuple:
            some = value[:ELEMENTS]
            if some and all(map(_is_number, some)):
                return ["n", len(value), list(some)]
        size = _SIZES.get(identity(kind))
        name = self._trace.number(self._digest.type_text(value))
        return ["c", name, size(value)] if size is not None else ["o", name]

    def _trouble(self, error):
        self._trace.note("some samples were not taken: %s" % type(error).__name__)
        return False


def _is_number(value):
    if type(value) is int:
        return _SMALLEST <= value <= _LARGEST
    return type(value) is float and math.isfinite(value)


def _arguments(code):
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & _STAR) + bool(code.co_flags & _STARS)
    return code.co_varnames[:count]


def _is_test_file(path):
    name = os.path.basename(path)
    return name == "conftest.py" or name.startswith("test_") or name.endswith("_test.py")
