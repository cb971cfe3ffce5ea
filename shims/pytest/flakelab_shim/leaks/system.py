"""What the interpreter keeps in `sys`: search paths, arguments, and the table of modules."""

import sys
import types

from . import change as ranks
from .origin import IGNORED, PROJECT
from .reading import MISSING, is_kind, module_dict
from .render import show
from .sameness import same
from .table import Table

_LISTS = ("path", "meta_path", "path_hooks", "argv")


class Paths(Table):
    kind = "sys_path"
    rank = ranks.FILE + 2

    def read(self):
        found = {}
        for name in _LISTS:
            held = module_dict(sys).get(name)
            if is_kind(type(held), list):
                found[name] = (held, tuple(list.__iter__(held)))
        return found

    def name(self, key):
        return "sys." + key

    def show(self, key, state):
        return show(state[1] if type(state) is tuple else state)

    def same(self, key, before, after):
        return type(before) is type(after) is tuple and same(before[1], after[1])

    def put(self, key, state):
        held, content = state
        list.__setitem__(held, slice(None), content)
        module_dict(sys)[key] = held


class Modules(Table):
    """Replaced, mocked and removed modules first; modules that were merely imported come last."""

    kind = "module"

    def __init__(self, origins):
        self._origins = origins

    def read(self):
        return {
            name: module
            for name, module in dict.items(sys.modules)
            if type(name) is str and (self._origins.of(name) != IGNORED or not is_kind(type(module), types.ModuleType))
        }

    def name(self, key):
        return 'sys.modules["%s"]' % key

    def key(self, key):
        return key

    def same(self, key, before, after):
        return before is after

    def show(self, key, state):
        return "not imported" if state is MISSING else show(state)

    def rank_of(self, key, before, after):
        if before is not MISSING:
            return ranks.MODULE
        if after is None or not is_kind(type(after), types.ModuleType):
            return ranks.MODULE
        return ranks.NEW_MODULE if self._origins.of(key) == PROJECT else ranks.NEW_MODULE + 1

    def put(self, key, state):
        parent, _, child = key.rpartition(".")
        package = sys.modules.get(parent)
        attributes = module_dict(package) if package is not None and is_kind(type(package), types.ModuleType) else {}
        if state is MISSING:
            present = sys.modules.pop(key, None)
            if attributes.get(child) is present:
                attributes.pop(child, None)
        else:
            sys.modules[key] = state
            if child in attributes:
                attributes[child] = state

    def peek(self, key):
        return dict.get(sys.modules, key, MISSING)

    def candidates(self, name):
        return [name]
