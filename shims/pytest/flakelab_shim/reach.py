"""Which points of instrumented sources a test reaches.

A point is a call of `__flakelab_hit__(number, 1)`: an item of shared memory is set, at the speed of C, and
what processes forked by a test reach is seen as well.
"""

import builtins

# Numbers in one packet.
_MOST = 4_000


class Reach:
    def __init__(self, points, channel):
        import mmap

        self._size = max(1, points)
        self._map = mmap.mmap(-1, self._size)
        self._channel = channel
        self._import = []
        builtins.__flakelab_hit__ = self._map.__setitem__

    def collected(self):
        """What was reached up to here belongs to importing the suite."""
        self._import.extend(self._take())

    def begin(self):
        self.collected()
        self._send("imported", self._import, {})

    def tell(self, node):
        self._send("c", self._take(), {"n": node})

    def _send(self, kind, ranges, fields):
        for first in range(0, len(ranges), _MOST):
            self._channel.send({"k": kind, "r": ranges[first : first + _MOST], **fields})

    def _take(self):
        """[first, length, first, length, …] of what was reached since."""
        data = self._map[:]
        found, end = [], 0
        while True:
            start = data.find(b"\1", end)
            if start < 0:
                break
            end = data.find(b"\0", start)
            if end < 0:
                end = self._size
            found += (start, end - start)
        if found:
            self._map[:] = bytes(self._size)
        return found
