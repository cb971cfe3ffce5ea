"""Which files are the project's, how they are called in the record, and where a call stands."""

import itertools
import sys

from ..outcome import FOREIGN
from ..sealed import os
from .identity import identity

# Frames between an assertion of a library and the line of the project that asked for it.
_FRAMES = 30
# Far more than a suite has, but for one that makes code as it runs.
_POSITIONS = 50_000


class Sites:
    def __init__(self, wanted):
        self._sources = _directories(wanted.get("sources", ()))
        self._names = _directories([wanted["names"]] if wanted.get("names") else ())
        self._code = {}
        self._tests = {}
        self._positions = {}

    def code(self, filename):
        """The name of a file whose code is the project's, or None."""
        try:
            return self._code[filename]
        except KeyError:
            found = self._code[filename] = self._find(filename, self._sources)
            return found

    def assertions(self, filename):
        """The name of a file whose assertions are recorded, or None: also tests outside of the sources."""
        try:
            return self._tests[filename]
        except KeyError:
            found = self._tests[filename] = self._find(filename, self._sources + self._names)
            return found

    def caller(self, frame):
        """(file, line, column) of the innermost frame of the project from `frame` on, else of `frame`."""
        first = frame
        for _ in range(_FRAMES):
            if frame is None:
                break
            if self.assertions(frame.f_code.co_filename) is not None:
                return self._position(frame)
            frame = frame.f_back
        return position(first)

    def _position(self, frame):
        """Finding a column takes a walk through the code, so it is done once for each place."""
        code, at = frame.f_code, frame.f_lasti
        known = self._positions.get((identity(code), at))
        if known is None:
            if len(self._positions) >= _POSITIONS:
                self._positions.clear()
            # With the code, so that its identity is not used again.
            known = self._positions[(identity(code), at)] = (code, position(frame))
        return known[1]

    def _find(self, filename, directories):
        if type(filename) is not str or not filename or filename.startswith("<"):
            return None
        try:
            path = os.path.abspath(filename)
            real = os.path.realpath(path)
        except (OSError, ValueError):
            return None
        for each in (path, real):
            if any(_is_below(each, directory) for directory in directories):
                return self._name(each)
        return None

    def _name(self, path):
        for directory in self._names:
            if path.startswith(directory):
                return path[len(directory) :]
        return path


def position(frame):
    """Where a frame is right now; the column only where the interpreter knows it."""
    code, column = frame.f_code, 0
    if sys.version_info >= (3, 11):
        found = next(itertools.islice(code.co_positions(), frame.f_lasti // 2, None), None)
        column = (found[2] or 0) if found else 0
    return (code.co_filename, frame.f_lineno or 0, column)


def _directories(paths):
    """Each as it was given and as it really is, with the separator at its end."""
    found = []
    for path in paths:
        for each in (os.path.abspath(path), os.path.realpath(path)):
            each = each.rstrip(os.sep) + os.sep
            if each not in found:
                found.append(each)
    return found


def _is_below(path, directory):
    if not path.startswith(directory):
        return False
    inside = path[len(directory) :].split(os.sep)
    return not any(part in FOREIGN for part in inside)
