"""Objects of builtin types whose state is not in attributes: caches, iterators, buffers, locks."""

import _random
import _thread
import array
import functools
import io
import itertools
import types
import zlib

from .reading import MISSING
from .render import show
from .shapes import WHOLE, Shape

BYTES = 1 << 20


class Cache(Shape):
    """`functools.lru_cache`; its entries are out of reach, so putting it back means emptying it."""

    kind = "cache"

    def take(self, obj):
        info = functools._lru_cache_wrapper.cache_info(obj)
        return (info.currsize, info.misses)

    def children(self, content):
        return ()

    def same(self, obj, content):
        return self.take(obj) == content

    def differences(self, obj, content):
        now = self.take(obj)
        return [] if now[0] == 0 == content[0] else [(WHOLE, content, now)]

    def put(self, obj, content, label):
        functools._lru_cache_wrapper.cache_clear(obj)

    def shown(self, value):
        return "1 entry" if value[0] == 1 else "%d entries" % value[0]


class Generator(Shape):
    """How far a generator came. It cannot go back: what restores it is a copy taken of its output."""

    kind = "generator"

    def take(self, obj):
        frame = obj.gi_frame
        return -2 if frame is None else frame.f_lasti

    def same(self, obj, content):
        return self.take(obj) == content

    def restorable(self, obj, content, label):
        return False

    def shown(self, value):
        if value == -2:
            return "generator at its end"
        return "generator that has not started" if value == -1 else "generator suspended at instruction %d" % value


class Iterator(Shape):
    """Iterators over builtin containers, which can be copied; the copy takes the place of the original."""

    kind = "generator"

    def take(self, obj):
        return (type(obj).__length_hint__(obj), _copied(obj))

    def same(self, obj, content):
        return type(obj).__length_hint__(obj) == content[0]

    def differences(self, obj, content):
        now = (type(obj).__length_hint__(obj), None)
        return [] if now[0] == content[0] else [(WHOLE, content, now)]

    def replacement(self, obj, content):
        return content[1]

    def restorable(self, obj, content, label):
        return False

    def shown(self, value):
        return "iterator, %d left" % value[0]


def _copied(iterator):
    """Another iterator at the same place, or None where that would run code of the user."""
    made = type(iterator).__reduce__(iterator)
    maker, arguments = made[0], made[1]
    if maker not in (iter, reversed) or len(arguments) != 1 or type(arguments[0]) not in _COPYABLE:
        return None
    copy = maker(arguments[0])
    if len(made) > 2 and made[2] is not None:
        type(copy).__setstate__(copy, made[2])
    return copy


_COPYABLE = frozenset([list, tuple, range, str, bytes])


class Count(Shape):
    """`itertools.count`: the usual source of identifiers, and of tests that rely on the first one."""

    kind = "generator"

    def take(self, obj):
        text = itertools.count.__repr__(obj)
        return text if len(text) < 100 else MISSING

    def same(self, obj, content):
        return self.take(obj) == content

    def replacement(self, obj, content):
        numbers = [int(part) for part in content[6:-1].split(",")]
        return itertools.count(*numbers)

    def restorable(self, obj, content, label):
        return False

    def shown(self, value):
        return value if type(value) is str else "itertools.count"


class Buffer(Shape):
    """io.StringIO and io.BytesIO: text and position."""

    def __init__(self, cls):
        self._cls = cls

    def take(self, obj):
        try:
            position = self._cls.tell(obj)
            value = self._cls.getvalue(obj)
        except ValueError:
            return None
        return (value if len(value) <= BYTES else len(value), position)

    def same(self, obj, content):
        return self.take(obj) == content

    def restorable(self, obj, content, label):
        return content is not None and type(content[0]) is not int and self.take(obj) is not None

    def put(self, obj, content, label):
        self._cls.seek(obj, 0)
        self._cls.truncate(obj)
        self._cls.write(obj, content[0])
        self._cls.seek(obj, content[1])

    def shown(self, value):
        return "closed" if value is None else "%s at %d" % (show(value[0]), value[1])


class Position(Shape):
    """How far an open file was read. Text that is written is left alone: asking for its position writes it."""

    def __init__(self, cls):
        self._cls = cls

    def take(self, obj):
        try:
            if self._cls is io.TextIOWrapper and self._cls.writable(obj):
                return None
            return self._cls.tell(obj) if self._cls.seekable(obj) else None
        except (OSError, ValueError):
            return None

    def same(self, obj, content):
        return self.take(obj) == content

    def restorable(self, obj, content, label):
        return content is not None and self.take(obj) is not None

    def put(self, obj, content, label):
        self._cls.seek(obj, content)

    def shown(self, value):
        return "file without a position" if value is None else "file at %d" % value


class Lock(Shape):
    """A lock that was left locked makes the next test wait for ever."""

    def take(self, obj):
        return obj.locked()

    def same(self, obj, content):
        return obj.locked() == content

    def put(self, obj, content, label):
        if content:
            obj.acquire(False)
        elif obj.locked():
            obj.release()

    def shown(self, value):
        return "locked" if value else "unlocked"


class Random(Shape):
    """A generator of random numbers of its own: seeded once, drawn from by every test."""

    kind = "random"

    def take(self, obj):
        return _random.Random.getstate(obj)

    def same(self, obj, content):
        return _random.Random.getstate(obj) == content

    def put(self, obj, content, label):
        _random.Random.setstate(obj, content)

    def shown(self, value):
        return "state %08x" % zlib.crc32(repr(value).encode())


class Array(Shape):
    """array.array and numpy.ndarray of plain numbers, by their bytes."""

    def take(self, obj):
        try:
            view = memoryview(obj)
            if view.nbytes > BYTES or view.format in ("O", None):
                return None
            return view.tobytes("A") if view.contiguous else None
        except Exception:
            return None

    def weight(self, obj):
        try:
            return min(memoryview(obj).nbytes, BYTES)
        except Exception:
            return 0

    def same(self, obj, content):
        return content is None or self.take(obj) == content

    def restorable(self, obj, content, label):
        return content is not None

    def put(self, obj, content, label):
        view = memoryview(obj)
        if view.ndim != 1 and not view.c_contiguous:
            raise ValueError("not in the order of C")
        view.cast("B")[:] = content

    def shown(self, value):
        return "(unknown)" if value is None else "%d bytes, crc %08x" % (len(value), zlib.crc32(value))


_ITERATOR = (Iterator(),)
EXACT = {
    types.GeneratorType: (Generator(),),
    functools._lru_cache_wrapper: (Cache(),),
    itertools.count: (Count(),),
    io.StringIO: (Buffer(io.StringIO),),
    io.BytesIO: (Buffer(io.BytesIO),),
    io.TextIOWrapper: (Position(io.TextIOWrapper),),
    io.BufferedReader: (Position(io.BufferedReader),),
    io.FileIO: (Position(io.FileIO),),
    _thread.LockType: (Lock(),),
    array.array: (Array(),),
    type(iter([])): _ITERATOR,
    type(iter(())): _ITERATOR,
    type(iter(range(0))): _ITERATOR,
    type(iter("")): _ITERATOR,
    type(iter(b"")): _ITERATOR,
    type(reversed([])): _ITERATOR,
}
