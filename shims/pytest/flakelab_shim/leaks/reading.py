"""Reads objects without running any code of theirs.

A suite holds proxies, mocks and lazy objects: `getattr`, `isinstance`, `len` or `==` on one of them can
load a database, raise, or never return. Everything here goes through the slots of builtin types.
"""

import _thread
import types

class_module = type.__dict__["__module__"].__get__
class_qualname = type.__dict__["__qualname__"].__get__
_class_dict = type.__dict__["__dict__"].__get__
_class_mro = type.__dict__["__mro__"].__get__
module_dict = types.ModuleType.__dict__["__dict__"].__get__
local_getattribute = _thread._local.__getattribute__

# `is MISSING`: there is no such key, attribute, variable or file.
MISSING = type("Missing", (), {"__slots__": ()})()


def class_dict(cls):
    """The attributes of a class itself; a type of C that was never used has none yet."""
    return _class_dict(cls) or {}


def class_mro(cls):
    return _class_mro(cls) or (cls,)


def is_kind(cls, base):
    """Whether `cls` is `base` or derived from it; neither asks a metaclass."""
    return any(each is base for each in class_mro(cls))


def type_module(cls):
    """The name of the module a class says it comes from, or an empty string."""
    try:
        name = class_module(cls)
    except Exception:
        return ""
    return name if type(name) is str else ""


def type_name(cls):
    """`shop.cart.Basket`; builtins without their module."""
    module = type_module(cls)
    try:
        name = class_qualname(cls)
    except Exception:
        name = "?"
    name = name if type(name) is str else "?"
    return name if module in ("", "builtins") else "%s.%s" % (module, name)


def dict_getter(cls):
    """A function that returns the attribute dictionary of an instance of `cls`, or None if it has none.

    A class may define `__dict__` as a property of its own: then the real one is out of reach.
    """
    for each in class_mro(cls):
        if each is _thread._local:
            return lambda obj: local_getattribute(obj, "__dict__")
        found = class_dict(each).get("__dict__")
        if found is None:
            continue
        if type(found) in (types.GetSetDescriptorType, types.MemberDescriptorType):
            return found.__get__
        return None
    return None


def slot_members(cls):
    """name -> descriptor of every slot an instance of `cls` has."""
    members = {}
    for each in class_mro(cls):
        for name, found in class_dict(each).items():
            if type(found) is types.MemberDescriptorType and name not in ("__dict__", "__weakref__"):
                members.setdefault(name, found)
    return members


def instance_dict(obj):
    """The attribute dictionary of an object whatever it is, or an empty one."""
    getter = dict_getter(type(obj))
    found = getter(obj) if getter is not None else None
    return found if type(found) is dict else {}
