"""Short text of any value, for people; never asks the value itself."""

import collections
import enum
import functools
import types

from ..channel import clean
from .reading import MISSING, class_mro, instance_dict, is_kind, module_dict, type_module, type_name

LIMIT = 200
_ELEMENTS = 8
_DEPTH = 3
# Beyond this many bits turning a number into decimal digits is slow or refused.
_BITS = 1_000
# Values of the standard library that say what they are.
_SPEAKING = ("decimal.Decimal", "datetime.date", "datetime.time", "datetime.datetime", "datetime.timedelta")
# Flags of types: one that Python code has made, and one that nobody can change.
_MADE, _FIXED = 1 << 9, 1 << 8


def show(value):
    """At most `LIMIT` characters of valid UTF-8."""
    try:
        text = _text(value, _DEPTH)
    except Exception:
        text = "<%s>" % type_name(type(value))
    return shorten(text)


def shorten(text, limit=LIMIT):
    return clean(text if len(text) <= limit else text[: limit - 1] + "…", limit)


def function_name(function):
    name = function.__qualname__
    module = function.__module__
    name = name if type(name) is str else "?"
    return "%s.%s" % (module, name) if type(module) is str and module else name


def _text(value, depth):
    kind = type(value)
    if value is MISSING:
        return "(not there)"
    if kind is str:
        return _quoted(value[:LIMIT])
    if kind is bytes:
        return repr(value[:LIMIT])
    if kind is int:
        return repr(value) if value.bit_length() < _BITS else "<int of %d bits>" % value.bit_length()
    if type(kind) is type and (value is None or kind in (bool, float, complex, range)):
        return repr(value)
    if _speaks(value, kind):
        return repr(value)
    if is_kind(kind, type):
        return "<class %s>" % type_name(value)
    if type(kind) is type and kind in (types.FunctionType, types.BuiltinFunctionType):
        return "<function %s>" % function_name(value)
    if kind is functools._lru_cache_wrapper:
        return "<cached function>"
    if kind is types.MethodType:
        return "<method %s>" % _text(value.__func__, 0).replace("<function ", "").rstrip(">")
    if is_kind(kind, types.ModuleType):
        name = module_dict(value).get("__name__")
        return "<module %s>" % (name if type(name) is str else "?")
    return _container(value, kind, depth)


def _speaks(value, kind):
    """Whether it is written in C, as are all parts of it: then no code of the suite decides how it prints."""
    flags = type.__dict__["__flags__"].__get__(kind)
    if flags & _MADE and not flags & _FIXED or type_name(kind) not in _SPEAKING:
        return False
    return getattr(value, "tzinfo", None) is None


def _container(value, kind, depth):
    for base, reader in _READERS:
        if is_kind(kind, base):
            name = "" if kind is base or kind is collections.OrderedDict else type_name(kind)
            body = reader(value, depth) if depth else "…"
            return "%s(%s)" % (name, body) if name else body
    if is_kind(kind, enum.Enum):
        member = instance_dict(value).get("_name_")
        if type(member) is str:
            return "%s.%s" % (type_name(kind), member)
    if type_module(kind) == "unittest.mock":
        # Each mock has a class of its own; its base is the one people know.
        bases = [each for each in class_mro(kind)[1:] if type_module(each) == "unittest.mock"]
        return "<%s>" % type_name(bases[0] if bases else kind)
    return "<%s>" % type_name(kind)


def _quoted(text):
    # With a quotation mark of the other kind in it, which is cut off, whatever else the text has.
    return '"%s"' % repr('"' + text)[2:-1].replace("\\'", "'").replace('"', '\\"')


def _some(iterator, size, depth, left, right):
    parts = []
    for number, each in enumerate(iterator):
        if number == _ELEMENTS:
            parts.append("… %d in all" % size)
            break
        parts.append(_text(each, depth - 1))
    return left + ", ".join(parts) + right


def _of_list(value, depth):
    return _some(list.__iter__(value), list.__len__(value), depth, "[", "]")


def _of_tuple(value, depth):
    return _some(tuple.__iter__(value), tuple.__len__(value), depth, "(", ")")


def _of_deque(value, depth):
    deque = collections.deque
    return _some(deque.__iter__(value), deque.__len__(value), depth, "deque[", "]")


def _of_set(value, depth):
    base = set if is_kind(type(value), set) else frozenset
    return _sorted_set(base.__iter__(value), base.__len__(value), depth)


def _sorted_set(iterator, size, depth):
    """In the order of the text: the order of a set is another one in every process."""
    texts = sorted(_text(each, depth - 1) for each, _ in zip(iterator, range(200)))
    more = ["… %d in all" % size] if size > _ELEMENTS else []
    return "{" + ", ".join(texts[:_ELEMENTS] + more) + "}"


def _of_dict(value, depth):
    parts = []
    for number, (key, each) in enumerate(dict.items(value)):
        if number == _ELEMENTS:
            parts.append("… %d in all" % dict.__len__(value))
            break
        parts.append("%s: %s" % (_text(key, depth - 1), _text(each, depth - 1)))
    return "{" + ", ".join(parts) + "}"


def _of_bytearray(value, depth):
    return "bytearray(%r)" % bytes(bytearray.__getitem__(value, slice(0, LIMIT)))


_READERS = (
    (dict, _of_dict),
    (list, _of_list),
    (tuple, _of_tuple),
    (set, _of_set),
    (frozenset, _of_set),
    (collections.deque, _of_deque),
    (bytearray, _of_bytearray),
)
