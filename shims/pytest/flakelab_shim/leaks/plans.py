"""Which shapes describe the objects of a type. Decided once per type, by its bases, and remembered."""

import _random
import sys
import types

from . import containers, owners, stateful
from .origin import IGNORED
from .reading import class_dict, class_mro, dict_getter, module_dict, slot_members, type_module, type_name
from .sameness import SCALARS

# Refer to nothing a test could change, or to far too much (frames).
_ATOMIC = SCALARS | frozenset(
    [
        slice,
        memoryview,
        types.CodeType,
        types.FrameType,
        types.TracebackType,
        types.BuiltinFunctionType,
        types.WrapperDescriptorType,
        types.MethodWrapperType,
        types.MethodDescriptorType,
        types.ClassMethodDescriptorType,
        types.GetSetDescriptorType,
        types.MemberDescriptorType,
        types.CoroutineType,
        types.AsyncGeneratorType,
    ]
)
# Loggers fill their caches as they are used, and lead everywhere; what matters of them is watched apart.
_WATCHED_APART = frozenset(["logging.Logger", "logging.Manager", "logging.PlaceHolder"])
# Values to everybody but themselves: they only remember what they have worked out.
_IMMUTABLE = frozenset(
    ["pathlib.PurePath", "pathlib._local.PurePath", "ipaddress._IPAddressBase", "fractions.Fraction"]
)

CLASS = "class"
FUNCTION = "function"


class Plans:
    """`of(type)`: a tuple of shapes, CLASS, FUNCTION, or None for what is not looked into."""

    def __init__(self, origins):
        self._origins = origins
        # By id, because a metaclass may define `__hash__`; the types are kept alive beside.
        self._known = {id(cls): (cls, None) for cls in _ATOMIC}
        for cls, shape in containers.EXACT.items():
            self._known[id(cls)] = (cls, (shape,))
        for cls, shapes in stateful.EXACT.items():
            self._known[id(cls)] = (cls, shapes)
        self._known[id(types.FunctionType)] = (types.FunctionType, FUNCTION)
        self._known[id(types.CellType)] = (types.CellType, owners.CELL)

    def of(self, cls):
        found = self._known.get(id(cls))
        if found is None:
            found = self._known[id(cls)] = (cls, self._make(cls))
        return found[1]

    def lead_nowhere(self, content):
        """Whether nothing in a dictionary, list or set is looked into; much faster than asking for each."""
        values = content.values() if type(content) is dict else content
        unknown = (None, ())
        return all(self._known.get(each, unknown)[1] is None for each in set(map(id, map(type, values))))

    def _make(self, cls):
        mro = class_mro(cls)
        bases = {id(each) for each in mro}
        if id(type) in bases:
            return CLASS
        if id(types.ModuleType) in bases or self._origins.of(type_module(cls)) == IGNORED:
            return None
        names = {type_name(each) for each in mro}
        if names & _WATCHED_APART or names & _IMMUTABLE:
            return None
        shapes = [shape for base, shape in containers.DERIVED if id(base) in bases][:1]
        if shapes and shapes[0] is containers.DICT and _overrides_iter(mro):
            shapes[0] = containers.GUARDED
        if id(_random.Random) in bases and "random.SystemRandom" not in names:
            shapes.append(stateful.Random())
        if cls is _ndarray():
            shapes.append(stateful.Array())
        getter = dict_getter(cls)
        if getter is not None:
            shapes.append(owners.Attributes(getter))
        members = slot_members(cls)
        if members:
            shapes.append(owners.Slots(members))
        return tuple(shapes) or None


def _overrides_iter(mro):
    return next(each for each in mro if "__iter__" in class_dict(each)) is not dict


def _ndarray():
    numpy = sys.modules.get("numpy")
    return module_dict(numpy).get("ndarray") if type(numpy) is types.ModuleType else None
