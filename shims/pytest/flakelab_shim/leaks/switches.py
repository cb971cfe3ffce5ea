"""Settings that no attribute shows, only functions: of the interpreter, of the process, of sockets, of `csv`."""

import _signal
import gc
import sys

from .reading import MISSING
from .render import show
from .table import Table

try:
    import resource as _resource
except ImportError:
    _resource = None

_DIALECT = (
    "delimiter",
    "doublequote",
    "escapechar",
    "lineterminator",
    "quotechar",
    "quoting",
    "skipinitialspace",
    "strict",
)
_sigmask = _signal.pthread_sigmask
_getrlimit = getattr(_resource, "getrlimit", None)
_setrlimit = getattr(_resource, "setrlimit", None)
# Those that `csv` comes with.
_USUAL_DIALECTS = ("excel", "excel-tab", "unix")


class Switches(Table):
    """Modules that the suite has not imported have their usual settings, and stay unimported."""

    kind = "setting"

    def __init__(self):
        # Tests replace these functions, too.
        self._read = {
            "recursion limit": sys.getrecursionlimit,
            "switch interval": sys.getswitchinterval,
            "garbage collection": gc.isenabled,
            "thresholds of garbage collection": gc.get_threshold,
            "default timeout of sockets": _socket_timeout,
            "start method of multiprocessing": _start_method,
            "trace function": sys.gettrace,
            "profile function": sys.getprofile,
            "blocked signals": _blocked_signals,
        }
        self._write = {
            "recursion limit": sys.setrecursionlimit,
            "switch interval": sys.setswitchinterval,
            "garbage collection": lambda on: (gc.enable if on else gc.disable)(),
            "thresholds of garbage collection": lambda state: gc.set_threshold(*state),
            "default timeout of sockets": lambda state: sys.modules["_socket"].setdefaulttimeout(state),
            "start method of multiprocessing": _set_start_method,
            "trace function": sys.settrace,
            "profile function": sys.setprofile,
            "blocked signals": lambda state: _sigmask(_signal.SIG_SETMASK, state),
        }
        for name in sorted(vars(_resource)) if _resource else ():
            if name.startswith("RLIMIT_"):
                limit = getattr(_resource, name)
                self._read["limit " + name] = lambda limit=limit: _getrlimit(limit)
                self._write["limit " + name] = lambda state, limit=limit: _setrlimit(limit, state)
        if hasattr(sys, "get_int_max_str_digits"):
            self._read["most digits of an int"] = sys.get_int_max_str_digits
            self._write["most digits of an int"] = sys.set_int_max_str_digits

    def read(self):
        return {name: read() for name, read in self._read.items()}

    def peek(self, key):
        return self._read[key]()

    def show(self, key, state):
        if key == "start method of multiprocessing":
            return show(getattr(state, "_name", None) or state)
        return super().show(key, state)

    def put(self, key, state):
        self._write[key](state)


def _socket_timeout():
    module = sys.modules.get("_socket")
    return None if module is None else module.getdefaulttimeout()


def _start_method():
    """The context that was chosen; none as long as nobody has asked for one."""
    module = sys.modules.get("multiprocessing.context")
    return None if module is None else module._default_context._actual_context


def _set_start_method(state):
    sys.modules["multiprocessing.context"]._default_context._actual_context = state


def _blocked_signals():
    return tuple(sorted(map(int, _sigmask(_signal.SIG_BLOCK, ()))))


class Dialects(Table):
    kind = "csv"

    def read(self):
        module = sys.modules.get("_csv")
        if module is None:
            return {}
        found = {}
        for name in module.list_dialects():
            dialect = module.get_dialect(name)
            found[name] = tuple(getattr(dialect, field) for field in _DIALECT)
        return found

    def same(self, key, before, after):
        # `csv` was imported just now.
        return (before is MISSING and key in _USUAL_DIALECTS) or super().same(key, before, after)

    def name(self, key):
        return 'csv dialect "%s"' % key

    def show(self, key, state):
        if state is MISSING:
            return "not registered"
        return ", ".join("%s=%s" % (field, show(value)) for field, value in zip(_DIALECT, state))

    def put(self, key, state):
        module = sys.modules["_csv"]
        if state is MISSING:
            module.unregister_dialect(key)
        else:
            module.register_dialect(key, **dict(zip(_DIALECT, state)))
