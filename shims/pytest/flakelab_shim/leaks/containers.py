"""Builtin containers and what is derived from them, always through the methods of the builtin type."""

import collections
import functools
import types
from operator import is_

from .render import show
from .sameness import SCALARS, key_of
from .shapes import WHOLE, Keyed, Sequence, Shape

# bytearray, StringIO and the like beyond this are compared by their size only.
BYTES = 1 << 20
# Bytes for each entry of a copy, as `sys.getsizeof` of large ones has it, on 64 bits.
_REFERENCE, _ENTRY, _PAIR = 8, 64, 96
_deque = collections.deque
_ordered = collections.OrderedDict


def bracket(key):
    return "[%s]" % show(key)


def _is_plain(key):
    """Whether hashing the key runs no code of the user."""
    kind = type(key)
    if type(kind) is not type:
        return False
    return kind in SCALARS or (kind is tuple and len(key) < 20 and all(map(_is_plain, key)))


class Dict(Keyed):
    def present(self, obj):
        return obj

    def weight(self, obj):
        return _ENTRY * dict.__len__(obj)

    def step(self, label):
        return bracket(label)

    def write(self, obj, key, value):
        dict.__setitem__(obj, key, value)

    def erase(self, obj, key):
        dict.pop(obj, key, None)

    def differences(self, obj, content):
        found = super().differences(obj, content)
        if not found and list(map(key_of, content)) != list(map(key_of, dict.keys(obj))):
            found.append((WHOLE, tuple(content), tuple(dict.keys(obj))))
        return found

    def put(self, obj, content, label):
        if label is not WHOLE:
            super().put(obj, content, label)
        self._reorder(obj, content)

    def _reorder(self, obj, content):
        """Deleting and adding moves a key to the end; once all keys are back, so is their order."""
        if list(map(key_of, content)) == list(map(key_of, dict.keys(obj))):
            return
        if dict.__len__(obj) == len(content) and all(key in content for key in dict.keys(obj)):
            now = dict.copy(obj)
            for key in content:
                value = now[key]
                dict.__delitem__(obj, key)
                dict.__setitem__(obj, key, value)


class Guarded(Dict):
    """A dictionary with an `__iter__` of its own, which `dict.copy` would call.

    The copy is made entry by entry, which hashes keys: those of user types are left out.
    """

    def take(self, obj):
        return {key: value for key, value in dict.items(obj) if _is_plain(key)}

    def same(self, obj, content):
        now = self.take(obj)
        return len(now) == len(content) and all(map(is_, now.values(), content.values())) and list(now) == list(content)

    def differences(self, obj, content):
        return Keyed.differences(self, obj, content)

    def _reorder(self, obj, content):
        pass


class Ordered(Guarded):
    """An OrderedDict keeps a list of its own beside the dictionary; dict's methods would corrupt it."""

    def take(self, obj):
        values = {key: value for key, value in dict.items(obj) if _is_plain(key)}
        return {key: values[key] for key in _ordered.__iter__(obj) if _is_plain(key)}

    def differences(self, obj, content):
        found = super().differences(obj, content)
        if not found:
            now = list(self.take(obj))
            if now != list(content):
                found.append((WHOLE, tuple(content), tuple(now)))
        return found

    def put(self, obj, content, label):
        super().put(obj, content, label)
        if set(self.take(obj)) == set(content):
            for key in content:
                _ordered.move_to_end(obj, key)

    def write(self, obj, key, value):
        _ordered.__setitem__(obj, key, value)

    def erase(self, obj, key):
        _ordered.pop(obj, key, None)


class List(Sequence):
    iterate = staticmethod(list.__iter__)
    take = staticmethod(list.copy)

    def weight(self, obj):
        return _REFERENCE * list.__len__(obj)

    def same(self, obj, content):
        return list.__len__(obj) == len(content) and all(map(is_, list.__iter__(obj), content))

    def put(self, obj, content, label):
        list.__setitem__(obj, slice(None), content)

    def swap(self, obj, label, old, new):
        for index, each in enumerate(list.__iter__(obj)):
            if each is old:
                list.__setitem__(obj, index, new)


class Deque(Sequence):
    iterate = staticmethod(_deque.__iter__)

    def weight(self, obj):
        return _REFERENCE * _deque.__len__(obj)

    def put(self, obj, content, label):
        _deque.clear(obj)
        _deque.extend(obj, content)


class Set(Sequence):
    def iterate(self, obj):
        return set.__iter__(obj)

    def take(self, obj):
        # Merged from the stored hashes, also for what is derived from set: no element is asked.
        return frozenset(obj)

    def weight(self, obj):
        return _ENTRY * set.__len__(obj)

    def children(self, content):
        return ((each, each) for each in content)

    def same(self, obj, content):
        return set.__len__(obj) == len(content) and set(map(id, set.__iter__(obj))) == set(map(id, content))

    def differences(self, obj, content):
        now = self.take(obj)
        if {key_of(each) for each in now} == {key_of(each) for each in content}:
            return []
        return [(WHOLE, content, now)]

    def put(self, obj, content, label):
        set.clear(obj)
        set.update(obj, content)

    def step(self, label):
        return "{%s}" % show(label)

    def token(self, obj, label):
        return tuple(set.__iter__(obj)) if set.__len__(obj) < 500 else (set.__len__(obj),)


class ByteArray(Shape):
    def take(self, obj):
        return bytes(bytearray.__getitem__(obj, slice(0, BYTES)))

    def weight(self, obj):
        return min(bytearray.__len__(obj), BYTES)

    def same(self, obj, content):
        return self.take(obj) == content

    def restorable(self, obj, content, label):
        return len(content) < BYTES

    def put(self, obj, content, label):
        bytearray.__setitem__(obj, slice(None), content)


class Passing(Shape):
    """Immutable itself, but what it refers to is looked into."""

    passing = True

    def __init__(self, read, step="%s", length=None):
        self._read = read
        self._step = step
        self._length = length

    def weight(self, obj):
        return 0 if self._length is None else _PAIR * self._length(obj)

    def take(self, obj):
        return self._read(obj)

    def children(self, content):
        return content

    def same(self, obj, content):
        return True

    def step(self, label):
        return self._step % (label,)


def _of_partial(obj):
    return [(".func", obj.func), (".args", obj.args), (".keywords", obj.keywords)]


def _of_proxy(obj):
    import gc

    return [("", each) for each in gc.get_referents(obj)]


TUPLE = Passing(lambda obj: list(enumerate(tuple.__iter__(obj))), "[%s]", tuple.__len__)
FROZENSET = Passing(lambda obj: [(show(each), each) for each in frozenset.__iter__(obj)], "{%s}", frozenset.__len__)
PROPERTY = Passing(lambda obj: [("", obj.fget), ("", obj.fset), ("", obj.fdel)])
WRAPPED = Passing(lambda obj: [("", obj.__func__)])
METHOD = Passing(lambda obj: [(".__self__", obj.__self__), ("", obj.__func__)])
PARTIAL = Passing(_of_partial)
PROXY = Passing(_of_proxy)

DICT, GUARDED = Dict(), Guarded()
EXACT = {
    property: PROPERTY,
    classmethod: WRAPPED,
    staticmethod: WRAPPED,
    types.MethodType: METHOD,
    functools.partial: PARTIAL,
    types.MappingProxyType: PROXY,
}
DERIVED = (
    (_ordered, Ordered()),
    (dict, DICT),
    (list, List()),
    (set, Set()),
    (_deque, Deque()),
    (bytearray, ByteArray()),
    (tuple, TUPLE),
    (frozenset, FROZENSET),
)
