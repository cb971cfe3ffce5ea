"""Threads that a test started and that still run."""

import sys

from . import change as ranks
from .reading import MISSING, instance_dict
from .render import function_name
from .table import Table


class Threads(Table):
    kind = "thread"
    rank = ranks.THREAD

    def read(self):
        active = vars(sys.modules["threading"]).get("_active")
        found = {}
        for number, thread in enumerate(list(dict.values(active))):
            state = instance_dict(thread)
            name = state.get("_name")
            found[(name if type(name) is str else "thread %d" % number, id(thread))] = thread
        return found

    def name(self, key):
        return "thread " + key[0]

    def show(self, key, state):
        if state is MISSING:
            return "(not there)"
        target = instance_dict(state).get("_target")
        function = getattr(target, "__func__", target) if type(target) in _FUNCTIONS else None
        return "running %s" % function_name(function) if function is not None else "running"

    def same(self, key, before, after):
        return after is MISSING or before is after

    def restorable(self, key, before, after):
        return False

    def probe(self, kind, name):
        if kind != self.kind:
            return None
        return lambda: tuple(key for key in self.read() if self.name(key) == name)


_FUNCTIONS = (type(lambda: None), type(Threads().read))
