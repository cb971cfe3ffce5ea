"""The file a measured run writes: JSON lines, with a table so that no text is written twice.

The descriptor was opened before the sandbox was entered, and every test's line is written as the test ends,
so that a test that kills the process takes only itself along.
"""

from ..channel import _encode, clean
from ..sealed import os

TEXT_LIMIT = 300
# More than any suite needs and less than what fills a disk.
FILE_LIMIT = 256 << 20
# A line of the table is never longer than about a megabyte.
_TEXTS_IN_A_LINE = 2_000


class Trace:
    def __init__(self, descriptor):
        self._descriptor = descriptor
        self._numbers = {}
        self._new = []
        self._points = {}
        self._new_points = []
        self._notes = set()
        self._new_notes = []
        self._written = 0
        # Nothing is recorded any more.
        self.full = False

    def number(self, text):
        """The number of a text in the table."""
        found = self._numbers.get(text)
        if found is None:
            cleaned = text[:TEXT_LIMIT] if text.isascii() else clean(text, TEXT_LIMIT)[:TEXT_LIMIT]
            found = self._numbers.get(cleaned)
            if found is None:
                found = self._numbers[cleaned] = len(self._numbers)
                self._new.append(cleaned)
        return found

    def point(self, name, variables):
        """The number of a point of the program whose variables are sampled."""
        key = (name, variables)
        found = self._points.get(key)
        if found is None:
            self._new_points.append([self.number(name), [self.number(each) for each in variables]])
            found = self._points[key] = len(self._points)
        return found

    def note(self, text):
        """Something the reader should know; said once."""
        if text not in self._notes and len(self._notes) < 50:
            self._notes.add(text)
            self._new_notes.append(clean(text, TEXT_LIMIT))

    def write(self, record=None):
        """What is new in the tables, then the record of a test."""
        if self.full:
            return
        lines = []
        new, self._new = self._new, []
        for first in range(0, len(new), _TEXTS_IN_A_LINE):
            lines.append({"x": new[first : first + _TEXTS_IN_A_LINE]})
        points, self._new_points = self._new_points, []
        lines.extend({"p": point} for point in points)
        notes, self._new_notes = self._new_notes, []
        lines.extend({"note": note} for note in notes)
        if record is not None:
            lines.append(record)
        self._put("".join(_encode(line) + "\n" for line in lines).encode("ascii"))

    def _put(self, data):
        if self._written + len(data) > FILE_LIMIT:
            self.full = True
            data = _encode({"note": "the record is full: later tests are not in it"}).encode("ascii") + b"\n"
        self._written += len(data)
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError:
            # The disk is full, or a test closed the descriptor: what is written stays.
            self.full = True
