"""Where the walk over objects starts: modules by whose they are, values of fixtures, parameters of tests."""

import re
import sys
import types

from ..sealed import os
from . import owners
from .origin import IGNORED, PROJECT, THIRD_PARTY
from .reading import is_kind, module_dict
from .sameness import SCALARS

# State that has a probe of its own, or that pytest and the interpreter change between two tests.
_APART = {
    "sys": "stdin stdout stderr __stdin__ __stdout__ __stderr__ last_exc last_type last_value last_traceback modules"
    " path meta_path path_hooks argv path_importer_cache orig_argv",
    "os": "environb",
    "posix": "environ",
    "time": "tzname timezone altzone daylight",
    "warnings": "filters _filters_version showwarning _showwarnmsg_impl defaultaction onceregistry _onceregistry",
    "logging": "_loggerClass",
    "asyncio.events": "_event_loop_policy",
    "_asyncio": "_event_loop_policy",
    "builtins": "_",
    "gc": "garbage",
    "inspect": "modulesbyfile _filesbymodname",
    "unittest.case": "_module_cleanups",
    "threading": "_active_limbo_lock _shutdown_locks_lock _shutdown_locks _active _limbo _main_thread _dangling",
}
_SHAPES = {name: owners.Module(frozenset(labels.split())) for name, labels in _APART.items()}
_MODULE = owners.Module()
# Sources beyond this are not read to find out where a name is assigned.
_SOURCE = 1 << 20


class Roots:
    def __init__(self, session, origins):
        self.project, self.third_party, self.standard = [], [], []
        for name, module in self._modules(session):
            origin = origins.of(name)
            if origin == IGNORED:
                continue
            entry = (name, module, _SHAPES.get(name, _MODULE))
            if origin == PROJECT:
                self.project.append(entry)
            elif origin == THIRD_PARTY:
                self.third_party.append(entry)
            else:
                self.standard.append(entry)
        self.homes = _homes(self.project)

    def _modules(self, session):
        found = {}
        for name, module in list(sys.modules.items()):
            if type(name) is str and is_kind(type(module), types.ModuleType):
                found[id(module)] = (name, module)
        # With `importmode=importlib` test modules need not be in sys.modules; conftests share one name.
        for module in _of_session(session):
            if is_kind(type(module), types.ModuleType) and id(module) not in found:
                name = module_dict(module).get("__name__")
                found[id(module)] = (name if type(name) is str else "?", module)
        return found.values()


def _of_session(session):
    for item in getattr(session, "items", ()):
        yield getattr(item, "module", None)
    manager = getattr(getattr(session, "config", None), "pluginmanager", None)
    yield from getattr(manager, "_conftest_plugins", ())


def parameters(session):
    """(kind, name, value) of what tests are parametrized with: one object can serve several tests."""
    for item in getattr(session, "items", ()):
        callspec = getattr(item, "callspec", None)
        for name, value in getattr(callspec, "params", {}).items():
            if type(type(value)) is not type or type(value) not in SCALARS:
                yield ("fixture", "parameter %s of %s" % (name, item.nodeid), value)


def _homes(project):
    """id -> module that assigns the name, of objects that several modules of the project import."""
    places = {}
    for name, module, _ in project:
        for label, value in module_dict(module).items():
            kind = type(value)
            if type(kind) is type and (kind in SCALARS or kind is types.FunctionType or kind is type):
                continue
            if is_kind(kind, types.ModuleType):
                continue
            places.setdefault(id(value), []).append((name, module, label))
    homes, sources = {}, {}
    for known, holders in places.items():
        if len({name for name, _, _ in holders}) < 2:
            continue
        for name, module, label in holders:
            if name not in sources:
                sources[name] = _source(module)
            if type(label) is str and _assigned(label).search(sources[name]):
                homes[known] = name
                break
    return homes


def _assigned(label):
    return re.compile(r"^%s\b[^=\n]*=[^=]" % re.escape(label), re.MULTILINE)


def _source(module):
    path = module_dict(module).get("__file__")
    if type(path) is not str or not path.endswith(".py"):
        return ""
    try:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            return os.read(descriptor, _SOURCE).decode("utf-8", "replace")
        finally:
            os.close(descriptor)
    except OSError:
        return ""
