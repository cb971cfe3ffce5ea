"""Readers of well-known types that are no builtins: dates, decimals, paths, patterns, UUIDs, numpy.

A type is known when it is the very class that the imported module holds under its name. The modules are
looked up when the first such value comes by: what the shim imports itself is hidden from the suite, and
would be another class.
"""

import datetime
import hashlib
import re
import sys

from ..leaks.reading import is_kind, module_dict, slot_members, type_name
from .masks import NOW

# Beyond this only the first bytes of an array are hashed.
_ARRAY_BYTES = 1 << 24


def library_readers(kind, digest):
    """A reader (value, left, depth) -> text for a class of a library, or None."""
    if is_kind(kind, datetime.date):
        return _date_reader(kind, digest)
    if kind is datetime.time or kind is datetime.timedelta or kind is datetime.timezone:
        return _moment_reader(kind)
    if kind is range:
        return lambda value, left, depth: "range(%d, %d, %d)" % (value.start, value.stop, value.step)
    if kind is re.Pattern:
        return lambda value, left, depth: "re(%s, %d)" % (digest.plain(value.pattern, left, depth), value.flags)
    name = type_name(kind)
    module, _, attribute = name.rpartition(".")
    if module == "numpy" or module.startswith("numpy."):
        return _numpy_reader(kind, digest, name)
    module = module.partition("._local")[0]
    if _held(module, attribute) is not kind:
        return None
    if name == "decimal.Decimal":
        return lambda value, left, depth: "Decimal(%s)" % str(value)
    if name == "fractions.Fraction":
        slots = slot_members(kind)
        return lambda value, left, depth: (
            "Fraction(%d, %d)" % (slots["_numerator"].__get__(value), slots["_denominator"].__get__(value))
        )
    if name == "uuid.UUID":
        return _uuid_reader(kind, digest)
    if module == "pathlib" and attribute in ("PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath"):
        return lambda value, left, depth: "%s(%s)" % (attribute, digest.string(str(value)))
    return None


def _held(module, attribute):
    """What an imported module holds under a name, without asking the module."""
    found = sys.modules.get(module)
    return module_dict(found).get(attribute) if is_kind(type(found), type(sys)) else None


_date = {name: datetime.date.__dict__[name].__get__ for name in ("year", "month", "day")}
_clock = {
    name: datetime.datetime.__dict__[name].__get__
    for name in ("hour", "minute", "second", "microsecond", "tzinfo", "fold")
}


def _date_reader(kind, digest):
    name, has_time = type_name(kind), is_kind(kind, datetime.datetime)

    def read(value, left, depth):
        day = tuple(_date[each](value) for each in ("year", "month", "day"))
        if digest.masks.day(*day):
            return "%s(%s)" % (name, NOW)
        text = "%04d-%02d-%02d" % day
        if has_time:
            clock = tuple(_clock[each](value) for each in ("hour", "minute", "second", "microsecond"))
            zone = _clock["tzinfo"](value)
            text += " %02d:%02d:%02d.%06d" % clock
            if zone is not None:
                text += " " + digest.plain(zone, left, depth)
        return "%s(%s)" % (name, text)

    return read


def _moment_reader(kind):
    if kind is datetime.time:
        # Its text would ask the time zone, which may be anybody's.
        return lambda value, left, depth: (
            "time(%02d:%02d:%02d.%06d%s)"
            % (
                value.hour,
                value.minute,
                value.second,
                value.microsecond,
                "" if value.tzinfo is None else " " + type_name(type(value.tzinfo)),
            )
        )
    return lambda value, left, depth: repr(value)


def _uuid_reader(kind, digest):
    number = slot_members(kind).get("int")
    if number is None:
        return None
    if digest.masks.masks_uuids:
        return lambda value, left, depth: "UUID(<uuid>)"
    return lambda value, left, depth: "UUID(%032x)" % number.__get__(value)


def _numpy_reader(kind, digest, name):
    array, scalar = _held("numpy", "ndarray"), _held("numpy", "generic")
    if array is not None and is_kind(kind, array):
        return lambda value, left, depth: _array(value, array, name, digest, left, depth)
    if scalar is not None and is_kind(kind, scalar):
        return lambda value, left, depth: "%s(%s)" % (name, digest.plain(scalar.item(value), left, depth))
    return None


def _array(value, array, name, digest, left, depth):
    dtype = array.dtype.__get__(value)
    shape = tuple(int(each) for each in array.shape.__get__(value))
    size = array.size.__get__(value)
    head = "%s(%s, %s" % (name, dtype.str, shape)
    if dtype.hasobject:
        # The bytes would be addresses.
        if size > 400 or depth <= 0:
            return head + ")"
        return "%s, %s)" % (head, digest.plain(array.tolist(value), left, depth - 1))
    if array.nbytes.__get__(value) > _ARRAY_BYTES:
        return head + ")"
    if size <= 8:
        return "%s, %s)" % (head, digest.plain(array.tolist(value), left, depth))
    return "%s, %s)" % (head, hashlib.blake2b(array.tobytes(value), digest_size=8).hexdigest())
