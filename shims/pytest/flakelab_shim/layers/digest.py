"""Any value as a short text that is the same in every process for the same structure.

Values are read through the slots of builtin types only. What has no fixed order is sorted by its text, and
gets an equal share of the nodes that may be read, so that the text does not depend on the order in which
a set happens to be walked. Depth and nodes are bounded, which also ends cycles.
"""

import collections
import enum
import hashlib
import types

from ..leaks.reading import class_mro, dict_getter, instance_dict, is_kind, module_dict, slot_members, type_module
from ..leaks.reading import type_name as _type_name
from .identity import identity
from .known import library_readers
from .masks import NOW, Masks
from .trace import TEXT_LIMIT

DEPTH = 6
NODES = 400
# A string up to this long is shown whole.
STRING = 120
# Beyond this only the beginning of a string is masked and hashed.
_MASKED_STRING = 100_000
# Elements beyond the nodes that are still hashed when they are plain.
_HASHED = 5_000
# Beyond this many bits turning a number into decimal digits is slow or refused.
_BITS = 1_000
_CACHED_STRINGS = 20_000
# Long ones that are not read again: a loop asserts something of the same text again and again.
_CACHED_LONG = 4
_CACHED_CLASSES = 5_000
_DICT_VIEWS = {type({}.keys()): "dict_keys", type({}.values()): "dict_values", type({}.items()): "dict_items"}
# What `pytest.approx` makes, by the names it has had.
_APPROX = dict.fromkeys(("_pytest.python_api.ApproxBase", "pytest.Approx"), ("expected", "rel", "abs"))
_PLAIN = frozenset(map(identity, (int, float, bool, str, bytes, type(None), complex)))


def hashed(text):
    """Sixteen hexadecimal digits."""
    return hashlib.blake2b(text.encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()


class Digest:
    def __init__(self, unmasked=(), fields=None):
        self._masks = Masks(unmasked)
        self._first_moment = self._masks.first_moment
        self._fields = {**_APPROX, **(fields or {})}
        self._strings = {}
        self._long_strings = {}
        # id of a class -> its reader; the classes are kept so that no id is used again.
        self._readers = {}
        self._kept = []

    def text(self, value):
        """At most 300 characters."""
        kind = type(value)
        if kind is str:
            found = self._strings.get(value)
            if found is not None:
                return found
        elif kind is int:
            if -9_999_999 < value < self._first_moment:
                return repr(value)
        elif value is None or kind is bool:
            return repr(value)
        try:
            text = self._read(value, [NODES], DEPTH)
        except Exception:
            text = "<%s>" % type_name(kind)
        if len(text) > TEXT_LIMIT:
            text = "%s… %s" % (text[: TEXT_LIMIT - 20], hashed(text))
        return text

    def type_text(self, value):
        return type_name(type(value))

    def _read(self, value, left, depth):
        kind = type(value)
        reader = self._readers.get(identity(kind))
        if reader is None:
            reader = self._reader(kind)
        left[0] -= 1
        return reader(value, left, depth)

    def _reader(self, kind):
        reader = self._choose(kind)
        if len(self._kept) >= _CACHED_CLASSES:
            self._readers, self._kept = {}, []
        self._kept.append(kind)
        self._readers[identity(kind)] = reader
        return reader

    def _choose(self, kind):
        name = type_name(kind)
        if is_kind(kind, enum.Enum):
            return lambda value, left, depth: self._enum(value, name, left, depth)
        for base, reader in (
            (bool, self._bool),
            (int, self._int),
            (float, self._float),
            (str, self._str),
            (bytes, self._bytes),
            (list, self._list),
            (tuple, self._tuple),
            (dict, self._dict),
            (set, self._set),
            (frozenset, self._frozenset),
            (collections.deque, self._deque),
            (bytearray, self._bytearray),
            (BaseException, self._exception),
        ):
            if kind is base:
                return reader
            if is_kind(kind, base):
                found = library_readers(kind, self)
                return found or self._with_fields(kind, name, reader, named=base is not BaseException)
        if kind is type(None) or kind is complex or value_is_constant(kind):
            return lambda value, left, depth: repr(value)
        if kind in _DICT_VIEWS if type(kind) is type else False:
            view = _DICT_VIEWS[kind]
            if view == "dict_values":
                return lambda value, left, depth: "dict_values(%s)" % self._list(list(value), left, depth)
            return lambda value, left, depth: "%s(%s)" % (view, self._sorted(list(value), left, depth))
        if is_kind(kind, type):
            return lambda value, left, depth: "<class %s>" % type_name(value)
        if is_kind(kind, types.ModuleType):
            return self._module
        if kind in _CALLABLES if type(kind) is type else False:
            return lambda value, left, depth: "<function %s>" % _function_name(value)
        if kind is types.MethodType:
            return lambda value, left, depth: "<method %s>" % _function_name(value.__func__)
        found = library_readers(kind, self)
        if found is not None:
            return found
        if name.startswith("unittest.mock."):
            # Each mock has a class of its own; its base is the one people know.
            bases = [each for each in class_mro(kind)[1:] if type_module(each) == "unittest.mock"]
            name = type_name(bases[0]) if bases else name
        return self._with_fields(kind, name, None)

    def _with_fields(self, kind, name, reader, named=True):
        """Reads an object as `<shop.Basket>`, what it holds as a container, and the fields asked for."""
        wanted = self._wanted_fields(kind)

        def read(value, left, depth):
            text = "<%s>" % name
            if reader is not None:
                inner = reader(value, left, depth)
                text = "%s(%s)" % (name, inner) if named else inner
            if not wanted or depth <= 0:
                return text
            return "%s{%s}" % (text, ", ".join(self._field_texts(value, kind, wanted, left, depth)))

        return read

    def _wanted_fields(self, kind):
        for each in class_mro(kind):
            found = self._fields.get(type_name(each))
            if found is not None:
                return list(found)
        return ()

    def _field_texts(self, value, kind, wanted, left, depth):
        held = instance_dict(value) if dict_getter(kind) is not None else {}
        slots = slot_members(kind)
        if "*" in wanted:
            wanted = sorted({*(each for each in held if type(each) is str), *slots})
        for name in wanted:
            if left[0] <= 0:
                yield "…"
                return
            if name in held:
                yield "%s=%s" % (name, self._read(held[name], left, depth - 1))
            elif name in slots:
                try:
                    found = slots[name].__get__(value)
                except AttributeError:
                    continue
                yield "%s=%s" % (name, self._read(found, left, depth - 1))

    # -- scalars -------------------------------------------------------------------------------------

    def _bool(self, value, left, depth):
        return repr(value)

    def _int(self, value, left, depth):
        value = int.__int__(value)
        if value.bit_length() > _BITS:
            return "<int of %d bits %x>" % (value.bit_length(), hash(value) & 0xFFFFFFFFFFFFFFFF)
        return NOW if value >= self._first_moment and self._masks.number(value) else repr(value)

    def _float(self, value, left, depth):
        value = float.__float__(value)
        return NOW if value >= self._first_moment and self._masks.number(value) else repr(value)

    def _str(self, value, left, depth):
        if type(value) is not str:
            value = str.__getitem__(value, slice(None))
        if len(value) > STRING:
            return self._long(value)
        found = self._strings.get(value)
        if found is None:
            if len(self._strings) >= _CACHED_STRINGS:
                self._strings.clear()
            found = repr(self._masks.text(value))
            # What `text` returns from here must not be longer than it may be.
            if len(found) <= TEXT_LIMIT:
                self._strings[value] = found
        return found

    def _long(self, value):
        found = self._long_strings.get(value)
        if found is None:
            whole = self._masks.text(value[:_MASKED_STRING])
            length = len(whole) + max(0, len(value) - _MASKED_STRING)
            found = "%r… %d characters %s" % (whole[:STRING], length, hashed(whole + value[_MASKED_STRING:]))
            if len(self._long_strings) >= _CACHED_LONG:
                self._long_strings.clear()
            self._long_strings[value] = found
        return found

    def _bytes(self, value, left, depth):
        if type(value) is not bytes:
            value = bytes.__getitem__(value, slice(None))
        return self._some_bytes(value)

    def _bytearray(self, value, left, depth):
        return "bytearray(%s)" % self._some_bytes(bytes(bytearray.__getitem__(value, slice(None))))

    def _some_bytes(self, value):
        if len(value) <= STRING:
            return self._masks.text(repr(value))
        return "%r… %d bytes %s" % (value[:STRING], len(value), hashlib.blake2b(value, digest_size=8).hexdigest())

    def string(self, text):
        """A text of a library object, masked and quoted."""
        return self._str(text, None, 0)

    def plain(self, value, left, depth):
        """A value inside a library object."""
        return self._read(value, left, depth)

    @property
    def masks(self):
        return self._masks

    # -- containers ----------------------------------------------------------------------------------

    def _list(self, value, left, depth):
        return "[%s]" % self._in_order(value, list.__len__(value), list.__getitem__, left, depth)

    def _tuple(self, value, left, depth):
        size = tuple.__len__(value)
        inner = self._in_order(value, size, tuple.__getitem__, left, depth)
        return "(%s,)" % inner if size == 1 else "(%s)" % inner

    def _deque(self, value, left, depth):
        copy = list(collections.deque.__iter__(value))
        return "deque[%s]" % self._in_order(copy, len(copy), list.__getitem__, left, depth)

    def _in_order(self, value, size, getter, left, depth):
        if size == 0:
            return ""
        if depth <= 0:
            return "… %d" % size
        texts, first_moment = [], self._first_moment
        for each in getter(value, slice(0, NODES)):
            if left[0] <= 0:
                break
            if type(each) is int and -9_999_999 < each < first_moment:
                left[0] -= 1
                texts.append(repr(each))
            else:
                texts.append(self._read(each, left, depth - 1))
        if len(texts) < size:
            rest = getter(value, slice(len(texts), len(texts) + _HASHED))
            texts.append("… %d in all%s" % (size, self._rest(rest)))
        return ", ".join(texts)

    def _rest(self, rest):
        """A hash of elements that are cut off, where that is cheap."""
        if all(map(_PLAIN.__contains__, map(identity, map(type, rest)))) and sum(
            len(each) for each in rest if type(each) in (str, bytes)
        ) < (1 << 20):
            return " " + hashed(self._masks.text(repr(list(rest))))
        return ""

    def _dict(self, value, left, depth):
        size = dict.__len__(value)
        if size == 0:
            return "{}"
        if depth <= 0 or size > _HASHED:
            return "{… %d}" % size
        items = list(dict.items(value))
        if size > max(left[0], 1):
            return "{… %d%s}" % (size, self._unordered_rest([each for item in items for each in item], 2))
        share, texts, used = max(1, left[0] // size), [], 0
        for key, each in items:
            own = [share]
            texts.append("%s: %s" % (self._read(key, own, depth - 1), self._read(each, own, depth - 1)))
            used += share - own[0]
        left[0] -= used
        texts.sort()
        return "{%s}" % ", ".join(texts)

    def _set(self, value, left, depth):
        size = set.__len__(value)
        return self._sorted(list(set.__iter__(value)) if size <= _HASHED else size, left, depth) if size else "set()"

    def _frozenset(self, value, left, depth):
        size = frozenset.__len__(value)
        elements = list(frozenset.__iter__(value)) if size <= _HASHED else size
        return "frozenset(%s)" % (self._sorted(elements, left, depth) if size else "")

    def _sorted(self, elements, left, depth):
        if type(elements) is int:
            return "{… %d}" % elements
        size = len(elements)
        if depth <= 0:
            return "{… %d}" % size
        if size > max(left[0], 1):
            return "{… %d%s}" % (size, self._unordered_rest(elements, 1))
        share, texts, used = max(1, left[0] // max(size, 1)), [], 0
        for each in elements:
            own = [share]
            texts.append(self._read(each, own, depth - 1))
            used += share - own[0]
        left[0] -= used
        texts.sort()
        return "{%s}" % ", ".join(texts)

    def _unordered_rest(self, elements, width):
        if not all(map(_PLAIN.__contains__, map(identity, map(type, elements)))):
            return ""
        texts = [self._read(each, [1], 0) for each in elements]
        if width == 2:
            texts = [key + ": " + value for key, value in zip(texts[::2], texts[1::2])]
        return " " + hashed("\n".join(sorted(texts)))

    # -- objects with a name -------------------------------------------------------------------------

    def _enum(self, value, name, left, depth):
        held = instance_dict(value)
        member = held.get("_name_")
        if type(member) is str:
            return "%s.%s" % (name, member)
        return "%s(%s)" % (name, self._read(held.get("_value_"), left, depth - 1) if depth > 0 else "…")

    def _exception(self, value, left, depth):
        arguments = _exception_arguments(value)
        size = tuple.__len__(arguments)
        inner = self._in_order(arguments, size, tuple.__getitem__, left, depth)
        return "%s(%s)" % (type_name(type(value)), inner)

    def _module(self, value, left, depth):
        name = module_dict(value).get("__name__")
        return "<module %s>" % (name if type(name) is str else "?")


_exception_arguments = BaseException.__dict__["args"].__get__
_CALLABLES = (types.FunctionType, types.BuiltinFunctionType)


def type_name(kind):
    # A name is anything a class statement or `type` was given.
    return _type_name(kind)[:200]


def value_is_constant(kind):
    return kind is type(...) or kind is type(NotImplemented)


def _function_name(function):
    if not any(type(function) is each for each in _CALLABLES):
        return type_name(type(function))
    name, module = function.__qualname__, function.__module__
    name = name if type(name) is str else "?"
    return ("%s.%s" % (module, name) if type(module) is str and module else name)[:200]
