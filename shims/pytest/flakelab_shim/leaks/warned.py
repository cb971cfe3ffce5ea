"""The filters of `warnings`, as they are between tests, and what shows a warning."""

import warnings

from . import change as ranks
from .reading import module_dict
from .render import show
from .sameness import same
from .table import Table

_HOOKS = ("showwarning", "_showwarnmsg_impl", "defaultaction", "formatwarning")


class Warnings(Table):
    kind = "warnings"
    rank = ranks.SYSTEM + 1

    def read(self):
        state = module_dict(warnings)
        found = {name: state.get(name) for name in _HOOKS}
        filters = state.get("filters")
        if type(filters) is list:
            found["filters"] = (filters, tuple(filters))
        return found

    def name(self, key):
        return "warnings." + key

    def same(self, key, before, after):
        if key == "filters":
            return type(before) is type(after) is tuple and same(before[1], after[1])
        return same(before, after)

    def show(self, key, state):
        if key == "filters" and type(state) is tuple:
            return "%d filters, first %s" % (len(state[1]), show(state[1][0]) if state[1] else "none")
        return show(state)

    def put(self, key, state):
        if key != "filters":
            module_dict(warnings)[key] = state
            return
        held, content = state
        held[:] = content
        module_dict(warnings)["filters"] = held
        mutated = module_dict(warnings).get("_filters_mutated") or warnings._filters_mutated_lock_held
        try:
            mutated()
        except RuntimeError:
            with warnings._lock:
                mutated()
