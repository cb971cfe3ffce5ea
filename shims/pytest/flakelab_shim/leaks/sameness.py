"""Whether two values are the same to a test, decided without calling any code of theirs.

Identity, or type and value for builtin scalars and for tuples and frozensets of such. Everything else that
is another object counts as changed.
"""

import re
import types

SCALARS = frozenset([int, str, bytes, float, bool, complex, type(None), type(Ellipsis), type(NotImplemented), range])
_PATTERN = type(re.compile(""))
# Deeper nesting than this is compared by identity only.
_DEPTH = 6
# Containers larger than this are not compared element by element when they were replaced.
_ELEMENTS = 10_000


def same(old, new, depth=_DEPTH):
    if old is new:
        return True
    kind = type(old)
    if kind is not type(new):
        return False
    if type(kind) is type and kind in SCALARS:
        return old == new or (old != old and new != new)
    if depth == 0:
        return False
    if kind is tuple:
        return len(old) == len(new) and all(same(a, b, depth - 1) for a, b in zip(old, new))
    if kind is frozenset:
        return _same_set(old, new)
    if kind is types.MethodType:
        return old.__self__ is new.__self__ and old.__func__ is new.__func__
    if kind is types.BuiltinMethodType:
        return old.__self__ is new.__self__ and old.__name__ == new.__name__
    if kind is _PATTERN:
        return old.flags == new.flags and same(old.pattern, new.pattern)
    return False


def equal_content(old, new, depth=_DEPTH):
    """Whether two builtin containers that are not the same object hold the same."""
    if same(old, new, depth):
        return True
    kind = type(old)
    if depth == 0 or kind is not type(new):
        return False
    if type(kind) is type and kind in (list, tuple, dict, set):
        if len(old) != len(new) or len(old) > _ELEMENTS:
            return False
        if kind is set:
            return _same_set(old, new)
        if kind is dict:
            pairs = zip(old.items(), new.items())
            return all(same(a, c) and equal_content(b, d, depth - 1) for (a, b), (c, d) in pairs)
        return all(equal_content(a, b, depth - 1) for a, b in zip(old, new))
    return False


def _same_set(old, new):
    return len(old) == len(new) and {key_of(a) for a in old} == {key_of(b) for b in new}


def key_of(value):
    """Something to look a dictionary key or a set element up by that never calls its `__hash__`."""
    kind = type(value)
    if type(kind) is type:
        if kind in SCALARS:
            return (kind, value)
        if kind is tuple and len(value) < 20:
            return (tuple, tuple(key_of(each) for each in value))
    return id(value)
