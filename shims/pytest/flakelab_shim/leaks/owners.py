"""Modules, classes, instances and functions: what has named attributes."""

import types

from .reading import MISSING, class_dict, module_dict
from .render import show
from .sameness import same
from .shapes import WHOLE, Keyed, Shape

# Filled in by the interpreter or by the machinery of tests when something is first used.
_MODULE_NOISE = frozenset(
    "__builtins__ __warningregistry__ __cached__ __loader__ __spec__ __annotations__ __annotate__"
    " __annotations_cache__ __conditional_annotations__ @py_builtins @pytest_ar".split()
)
_CLASS_NOISE = frozenset(
    "__annotations__ __annotate__ __annotate_func__ __annotations_cache__ __abstractmethods__ _abc_impl __weakref__"
    " __dict__ __static_attributes__ __firstlineno__ __protocol_attrs__ __non_callable_proto_members__"
    " tearDown_exceptions _classSetupFailed".split()
)


def dotted(label):
    return ".%s" % label if type(label) is str else ".%s" % show(label)


class Module(Keyed):
    kind = "global"
    ignored = _MODULE_NOISE
    present = staticmethod(module_dict)
    step = staticmethod(dotted)

    def __init__(self, further=frozenset()):
        self.ignored = _MODULE_NOISE | further

    def take(self, obj):
        return dict.copy(module_dict(obj))

    def children(self, content):
        return [pair for pair in content.items() if type(pair[0]) is not str or pair[0] not in _MODULE_NOISE]

    def write(self, obj, key, value):
        module_dict(obj)[key] = value

    def erase(self, obj, key):
        module_dict(obj).pop(key, None)


class Class(Keyed):
    kind = "class_attribute"
    ignored = _CLASS_NOISE
    step = staticmethod(dotted)

    def present(self, obj):
        return class_dict(obj).copy()

    def take(self, obj):
        return class_dict(obj).copy()

    def write(self, obj, key, value):
        type.__setattr__(obj, key, value)

    def erase(self, obj, key):
        if key in class_dict(obj):
            type.__delattr__(obj, key)

    def restorable(self, obj, content, label):
        # Static types of C cannot be written; nobody changed them either.
        return type(label) is str

    def token(self, obj, label):
        return class_dict(obj).get(label, MISSING) if type(label) is str else MISSING


class Attributes(Keyed):
    """The attribute dictionary of instances of one class."""

    kind = "attribute"
    ignored = frozenset(["__warningregistry__"])
    step = staticmethod(dotted)

    def __init__(self, getter):
        self._getter = getter

    def present(self, obj):
        found = self._getter(obj)
        return found if type(found) is dict else {}

    def write(self, obj, key, value):
        self._getter(obj)[key] = value

    def erase(self, obj, key):
        self._getter(obj).pop(key, None)


class Slots(Keyed):
    """Attributes that live in slots of the class instead."""

    kind = "attribute"
    step = staticmethod(dotted)

    def __init__(self, members):
        self._members = tuple(members.items())
        self._by_name = members

    def take(self, obj):
        content = {}
        for name, member in self._members:
            try:
                content[name] = member.__get__(obj)
            except Exception:
                pass
        return content

    present = take

    def write(self, obj, key, value):
        self._by_name[key].__set__(obj, value)

    def erase(self, obj, key):
        self._by_name[key].__delete__(obj)


class Function(Shape):
    """Default arguments, and the code itself, which some tests replace."""

    kind = "closure"

    def take(self, obj):
        return (obj.__defaults__, dict(obj.__kwdefaults__ or ()), obj.__closure__, obj.__code__)

    def children(self, content):
        defaults, keywords, cells, code = content
        found = []
        if defaults:
            names = code.co_varnames[: code.co_argcount][-len(defaults) :]
            found.extend(zip(names, defaults))
        found.extend(keywords.items())
        found.extend((name, cell) for name, cell in zip(code.co_freevars, cells or ()))
        return found

    def same(self, obj, content):
        defaults, keywords, _, code = content
        now = obj.__kwdefaults__
        return (
            obj.__defaults__ is defaults
            and obj.__code__ is code
            and (
                len(now) == len(keywords) and all(now.get(k, MISSING) is v for k, v in keywords.items())
                if now
                else not keywords
            )
        )

    def differences(self, obj, content):
        if obj.__code__ is not content[3]:
            return [(WHOLE, content[3], obj.__code__)]
        before = {**dict(_named(content[0], content[3])), **content[1]}
        after = {**dict(_named(obj.__defaults__, content[3])), **(obj.__kwdefaults__ or {})}
        names = dict.fromkeys([*before, *after])
        pairs = [(name, before.get(name, MISSING), after.get(name, MISSING)) for name in names]
        return [each for each in pairs if not same(each[1], each[2])]

    def put(self, obj, content, label):
        obj.__defaults__, obj.__kwdefaults__, obj.__code__ = content[0], dict(content[1]) or None, content[3]

    def step(self, label):
        return "(%s=…)" % label

    def token(self, obj, label):
        named = {**dict(_named(obj.__defaults__, obj.__code__)), **(obj.__kwdefaults__ or {})}
        return (obj.__code__, named.get(label, MISSING))

    def holds(self, obj, value, label):
        return True


def _named(defaults, code):
    if not defaults:
        return ()
    return zip(code.co_varnames[: code.co_argcount][-len(defaults) :], defaults)


class Cell(Shape):
    """A variable that a function shares with the one it was made in."""

    kind = "closure"

    def take(self, obj):
        try:
            return (obj.cell_contents,)
        except ValueError:
            return (MISSING,)

    def children(self, content):
        return ((0, content[0]),)

    def same(self, obj, content):
        return self.take(obj)[0] is content[0]

    def differences(self, obj, content):
        after = self.take(obj)[0]
        return [] if same(content[0], after) else [(WHOLE, content[0], after)]

    def put(self, obj, content, label):
        if content[0] is MISSING:
            del obj.cell_contents
        else:
            obj.cell_contents = content[0]

    def holds(self, obj, value, label):
        return self.take(obj)[0] is value

    def swap(self, obj, label, old, new):
        obj.cell_contents = new


FUNCTION = (Attributes(types.FunctionType.__dict__["__dict__"].__get__), Function())
CELL = (Cell(),)
