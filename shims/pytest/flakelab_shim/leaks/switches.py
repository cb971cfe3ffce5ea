"""Settings that no attribute shows, only functions: of the interpreter, of sockets, of `csv`."""

import gc
import sys

from .reading import MISSING
from .render import show
from .table import Table

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
        }
        self._write = {
            "recursion limit": sys.setrecursionlimit,
            "switch interval": sys.setswitchinterval,
            "garbage collection": lambda on: (gc.enable if on else gc.disable)(),
            "thresholds of garbage collection": lambda state: gc.set_threshold(*state),
            "default timeout of sockets": lambda state: sys.modules["_socket"].setdefaulttimeout(state),
        }
        if hasattr(sys, "get_int_max_str_digits"):
            self._read["most digits of an int"] = sys.get_int_max_str_digits
            self._write["most digits of an int"] = sys.set_int_max_str_digits

    def read(self):
        return {name: read() for name, read in self._read.items()}

    def peek(self, key):
        return self._read[key]()

    def put(self, key, state):
        self._write[key](state)


def _socket_timeout():
    module = sys.modules.get("_socket")
    return None if module is None else module.getdefaulttimeout()


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
