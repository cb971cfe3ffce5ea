"""The current context: its variables, and the arithmetic context of `decimal`, which is one of them."""

import sys
from contextvars import Context, copy_context

from .reading import MISSING
from .table import Table

_DECIMAL = "decimal_context"
_FIELDS = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")


class Decimals(Table):
    """Not asked with `getcontext`, which would make a context where there was none."""

    kind = "decimal"

    def read(self):
        decimal = sys.modules.get("decimal")
        if decimal is None:
            return {}
        current = next((value for var, value in copy_context().items() if var.name == _DECIMAL), None)
        default = decimal.DefaultContext
        return {
            **_fields("context", default if current is None else current),
            **_fields("DefaultContext", default),
        }

    def name(self, key):
        return "decimal %s.%s" % key

    def put(self, key, state):
        decimal = sys.modules["decimal"]
        where, field = key
        context = decimal.getcontext() if where == "context" else decimal.DefaultContext
        if field == "traps":
            for signal in list(context.traps):
                context.traps[signal] = signal in state
        else:
            setattr(context, field, state)


def _fields(where, context):
    found = {(where, name): getattr(context, name) for name in _FIELDS}
    found[(where, "traps")] = tuple(signal for signal, on in context.traps.items() if on)
    return found


class Variables(Table):
    """A variable that had no value cannot lose one again; its default, if it has one, does as well."""

    kind = "contextvar"

    def read(self):
        return {var: value for var, value in copy_context().items() if var.name != _DECIMAL}

    def name(self, key):
        return "context variable %s" % key.name

    def same(self, key, before, after):
        return super().same(key, before, after) or (before is MISSING and _default(key) is after)

    def restorable(self, key, before, after):
        return before is not MISSING or _default(key) is not MISSING

    def put(self, key, state):
        key.set(_default(key) if state is MISSING else state)

    def peek(self, key):
        return key.get(MISSING)

    def probe(self, kind, name):
        """A variable without a value is in no context: found among all there are."""
        if kind != self.kind:
            return None
        import gc
        from contextvars import ContextVar

        for each in gc.get_objects():
            if type(each) is ContextVar and self.name(each) == name:
                return lambda: self.peek(each)
        return None


def _default(variable):
    try:
        return Context().run(variable.get)
    except LookupError:
        return MISSING
