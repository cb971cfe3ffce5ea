"""The object graph as a probe: names what changed in it, folds what belongs together, restores it."""

import ast
import itertools
import sys
import types

from . import change as ranks
from .change import Change
from .graph import Graph, Root
from .origin import IGNORED, PROJECT, STANDARD, THIRD_PARTY
from .owners import Attributes, Cell, Class, Function, Module, Slots
from .reading import MISSING, is_kind, module_dict, type_module, type_name
from .render import function_name, show
from .roots import Roots, parameters
from .sameness import equal_content, key_of
from .shapes import WHOLE
from .stateful import Cache, Generator

# A path longer than this keeps its ends: nobody reads the middle of a linked list.
_STEPS = 12
# How far up a changed object is searched for a changed holder.
_CLIMB = 64


class Objects:
    def __init__(self, session, origins, fixture_values, *limits):
        self._session = session
        self._origins = origins
        self._fixture_values = fixture_values
        self._graph = Graph(origins, *limits)
        self.notes = self._graph.notes
        self._halves = {}

    @property
    def size(self):
        return self._graph.looked_at

    def before(self, tee=False):
        roots = Roots(self._session, self._origins)
        others = [*self._fixture_values, *parameters(self._session)]
        self._graph.take(roots.project, others, roots.third_party, roots.standard, roots.homes)
        if tee:
            self._split_generators()

    def _split_generators(self):
        """Each generator gives way to one half of a tee; the other half still has all of it."""
        for node in self._graph.nodes:
            if type(node.shape) is not Generator or node.content == -2 or node.parent is None:
                continue
            parent = node.parent
            if parent.shape.swap is None or not parent.shape.holds(parent.obj, node.obj, node.label):
                continue
            ours, theirs = itertools.tee(node.obj)
            try:
                parent.shape.swap(parent.obj, node.label, node.obj, theirs)
            except Exception:
                continue
            _amend(parent.content, node.obj, node.label, theirs)
            self._halves[id(node)] = (theirs, ours)

    # -- what changed --------------------------------------------------------------------------------

    def changes(self):
        changed = self._graph.changed()
        slots = {}
        for node, differences in changed:
            for label, _, _ in differences:
                slots[(id(node), key_of(label))] = []
        alone = []
        for node, differences in changed:
            holder = self._changed_holder(node, slots)
            if holder is None:
                alone.append((node, differences))
            else:
                slots[holder].append((node, differences))
        changes = []
        for node, differences in alone:
            for label, before, after in differences:
                below = slots.get((id(node), key_of(label)), ())
                change = self._change(node, label, before, after, below)
                if change is not None:
                    changes.append(change)
        return changes

    def _changed_holder(self, node, slots):
        """The changed slot that used to lead to the node: its old value changed as well, and is its matter."""
        child, parent = node, node.parent
        for _ in range(_CLIMB):
            if parent is None:
                return None
            slot = (id(parent), key_of(child.label))
            if slot in slots:
                return slot
            whole = (id(parent), key_of(WHOLE))
            if whole in slots and not parent.shape.holds(parent.obj, child.obj, child.label):
                return whole
            child, parent = parent, parent.parent
        return None

    def _change(self, node, label, before, after, below):
        shape = node.shape
        if type(shape) is Module and self._is_import(node, label, before, after):
            return None
        path, steps, root = self._path(node)
        name = path if label is WHOLE else path + shape.step(label)
        kind, origin = self._kind(node, root)
        if type(shape) is Cache and origin in (STANDARD, IGNORED):
            return None
        return Change(
            kind,
            name,
            shape.shown(before) if label is WHOLE else show(before),
            shape.shown(after) if label is WHOLE else show(after),
            self._restore(node, label, below),
            _rank(kind, origin, before, after) + min(steps, 20) * 0.01,
            module=_module(root, name),
        )

    def _is_import(self, node, label, before, after):
        """A module that became an attribute of its package: reported as a new module, unless it is none any more."""
        name = "%s.%s" % (node.label, label)
        return (
            before is MISSING
            and is_kind(type(after), types.ModuleType)
            and module_dict(after).get("__name__") == name
            and sys.modules.get(name) is after
        )

    def _restore(self, node, label, below):
        if label is WHOLE and not node.shape.restorable(node.obj, node.content, label):
            return self._replace(node)

        def restore():
            node.shape.put(node.obj, node.content, label)
            for inner, differences in below:
                for each, _, _ in differences:
                    inner.shape.put(inner.obj, inner.content, each)

        return restore

    def _replace(self, node):
        """For iterators: another one in the former state, in the place of the one that went on."""
        parent, old = node.parent, node.obj
        if id(node) in self._halves:
            old, new = self._halves[id(node)]
        else:
            try:
                new = node.shape.replacement(node.obj, node.content)
            except Exception:
                new = None
        if new is None or parent is None or parent.shape.swap is None:
            return None
        return lambda: parent.shape.swap(parent.obj, node.label, old, new)

    # -- names ---------------------------------------------------------------------------------------

    def _path(self, node):
        """(text, number of steps, the node the text starts at)."""
        steps = []
        while True:
            own = _own_name(node)
            if own is not None:
                break
            if node.parent is None:
                own = node.label
                break
            shape = node.parent.shape
            if type(shape) is Function and type(node.shape) is Cell:
                steps.append(" closure variable %s" % node.label)
            else:
                steps.append(shape.step(node.label))
            node = node.parent
            if len(steps) > 10_000:
                own = "…"
                break
        steps.reverse()
        if len(steps) > _STEPS:
            half = _STEPS // 2
            text = "%s…%s" % ("".join(steps[:half]), "".join(steps[-half:]))
        else:
            text = "".join(steps)
        return own + text, len(steps), node

    def _kind(self, node, root):
        origin = self._origin(root)
        while node is not None:
            kind = node.shape.kind
            if kind is not None:
                if origin == STANDARD and kind in ("global", "class_attribute"):
                    return "builtin", origin
                return kind, origin
            if node is root and type(root.shape) is Root:
                break
            node = node.parent
        return "global", origin

    def _origin(self, root):
        if type(root.shape) is Module:
            return self._origins.of(root.label)
        if type(root.shape) is Class:
            return self._origins.of(type_module(root.obj))
        if type(root.obj) is types.FunctionType and type(root.obj.__module__) is str:
            return self._origins.of(root.obj.__module__)
        return PROJECT

    # -- tracing -------------------------------------------------------------------------------------

    def probe(self, kind, name):
        """A function that returns the present value at the slot of that name, or None."""
        whole, holder, holder_path = [], None, ""
        for node in self._graph.nodes:
            path = self._path(node)[0]
            if not name.startswith(path):
                continue
            if path == name:
                whole.append(node)
            elif type(node.shape) not in (Function, Cell) and len(path) >= len(holder_path):
                if _label(node.shape, name[len(path) :]) is not MISSING:
                    holder, holder_path = node, path
            elif type(node.shape) is Function and name[len(path) : len(path) + 1] == "(":
                whole.append(node)
        if not whole and holder is None:
            return None
        label = None if holder is None else _label(holder.shape, name[len(holder_path) :])

        def token():
            values = [node.shape.token(node.obj, WHOLE) for node in whole]
            if holder is not None:
                values.append(holder.shape.token(holder.obj, label))
            return tuple(values)

        return token


def _amend(content, old, label, new):
    if type(content) is dict:
        content[label] = new
    elif type(content) is list:
        content[:] = [new if each is old else each for each in content]


def _own_name(node):
    """Classes and functions are named by where they are defined, whoever refers to them."""
    if type(node.shape) is Class:
        name = type_name(node.obj)
        return None if "<locals>" in name else name
    if type(node.obj) is types.FunctionType:
        name = function_name(node.obj)
        return None if "<" in name else name
    return None


def _module(root, name):
    """The module in which the name of a path starts."""
    if type(root.shape) is Module:
        found = root.label
    elif type(root.shape) is Class:
        found = type_module(root.obj)
    elif type(root.obj) is types.FunctionType:
        found = root.obj.__module__
    else:
        found = None
    return found if type(found) is str and found and name.startswith(found + ".") else None


def _label(shape, text):
    """The key that `shape.step` would show as this text; MISSING if it is none."""
    if isinstance(shape, (Module, Class, Attributes, Slots)):
        return text[1:] if text[:1] == "." and text[1:].isidentifier() else MISSING
    if text[:1] == "[" and text[-1:] == "]":
        try:
            return ast.literal_eval(text[1:-1])
        except (ValueError, SyntaxError):
            return MISSING
    return MISSING


def _rank(kind, origin, before, after):
    if kind == "random":
        return ranks.RANDOM
    if equal_content(before, after):
        return ranks.EQUAL
    if origin == STANDARD:
        # A function or class that was replaced is a patch that was left; the rest is mostly bookkeeping.
        return ranks.MONKEYPATCH if callable(before) else ranks.STANDARD_LIBRARY
    return ranks.THIRD_PARTY if origin == THIRD_PARTY else ranks.PROJECT
