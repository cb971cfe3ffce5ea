"""Open descriptors: files and sockets that a test left open, closed, or pointed elsewhere."""

import re

from ..channel import FIRST_DESCRIPTOR
from ..sealed import os
from . import change as ranks
from .reading import MISSING
from .table import Table

_NUMBER = re.compile(r":\[\d+\]")
_HIDDEN = re.compile(r"/#\d+ \(deleted\)$")


class Descriptors(Table):
    """Those from FIRST_DESCRIPTOR on are flakelab's own; the first three are pytest's, which swaps them."""

    kind = "descriptor"
    rank = ranks.THREAD + 1

    def read(self):
        found = {}
        for name in os.listdir("/proc/self/fd"):
            number = int(name)
            if 2 < number < FIRST_DESCRIPTOR:
                try:
                    found[number] = os.readlink("/proc/self/fd/" + name)
                except OSError:
                    # The one that listed the directory.
                    continue
        return found

    def peek(self, key):
        try:
            return os.readlink("/proc/self/fd/%d" % key)
        except OSError:
            return MISSING

    def candidates(self, name):
        number = name.rpartition(" ")[2]
        return [int(number)] if number.isdigit() else []

    def name(self, key):
        return "descriptor %d" % key

    def show(self, key, state):
        if state is MISSING:
            return "not open"
        return _HIDDEN.sub("/(deleted)", _NUMBER.sub("", state))

    def restorable(self, key, before, after):
        return before is MISSING

    def put(self, key, state):
        os.close(key)
