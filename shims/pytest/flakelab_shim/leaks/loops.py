"""asyncio: the policy, the loop it would hand out, and whether that one is closed."""

import sys

from .reading import MISSING, instance_dict, type_module
from .render import show
from .table import Table

_NAMES = {
    "policy": "event loop policy",
    "loop": "current event loop",
    "set": "whether an event loop was ever set",
    "closed": "whether the current event loop is closed",
    "running": "running event loop",
}


class Loops(Table):
    """Read from where asyncio keeps them: its functions would make a policy or a loop by being asked."""

    kind = "asyncio"

    def read(self):
        events = sys.modules.get("asyncio.events")
        if events is None:
            return {}
        policy = vars(events).get("_event_loop_policy")
        found = {"policy": policy, "loop": None, "set": False, "running": events._get_running_loop()}
        local = _local(policy)
        if local is not None:
            found["loop"] = getattr(local, "_loop", None)
            found["set"] = bool(getattr(local, "_set_called", False))
        closed = instance_dict(found["loop"]).get("_closed") if found["loop"] is not None else None
        found["closed"] = closed if type(closed) is bool else None
        return found

    def same(self, key, before, after):
        # A policy that is made on first use, and asyncio imported just now, are as good as none.
        if key == "policy" and (before is None or before is MISSING) and _is_usual(after):
            return True
        if before is MISSING and not after:
            return True
        return super().same(key, before, after)

    def name(self, key):
        return _NAMES[key]

    def show(self, key, state):
        return "none" if state is None or state is MISSING else show(state)

    def restorable(self, key, before, after):
        return key in ("policy", "loop", "set")

    def put(self, key, state):
        events = sys.modules["asyncio.events"]
        state = None if state is MISSING else state
        if key == "policy":
            vars(events)["_event_loop_policy"] = state
            return
        local = _local(vars(events).get("_event_loop_policy"))
        if local is None:
            return
        # Together: a loop that was set to None is what makes asyncio refuse to make a new one.
        before = self._before
        local._loop = before.get("loop", None)
        local._set_called = before.get("set", False)


def _local(policy):
    return instance_dict(policy).get("_local") if policy is not None else None


def _is_usual(policy):
    return policy is None or type_module(type(policy)).startswith("asyncio.")
