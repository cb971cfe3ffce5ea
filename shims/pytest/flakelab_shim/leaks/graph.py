"""The objects a suite can reach, each with a shallow copy of its content: snapshot and comparison.

Identity, not digests: a copy holds strong references, so a difference is found without calling any code
of the suite, named by its path, and put back exactly, in place. Breadth first, so that what the limits cut
off is what is furthest from the project.
"""

import gc
from collections import deque, namedtuple
from itertools import islice
from time import perf_counter

from . import owners
from .origin import IGNORED, PROJECT, THIRD_PARTY
from .plans import CLASS, FUNCTION, Plans
from .reading import class_dict, module_dict, type_module
from .render import shorten
from .shapes import Shape

# Elements of one container that are looked into; all of them are compared.
ELEMENTS = 10_000
# How often the clock is asked: after so many objects, and while a container of so many bytes is gone through.
_STRIDE = 256
_LARGE = 1 << 20

# `parent` and `label` say how the object was first reached.
Node = namedtuple("Node", "obj shape content parent label")


class Root(Shape):
    """Something that no module holds, such as the value of a fixture."""

    passing = True

    def __init__(self, kind):
        self.kind = kind


class Graph:
    def __init__(self, origins, limit_nodes, limit_seconds, limit_bytes):
        self._origins = origins
        self._plans = Plans(origins)
        self._limit_nodes = limit_nodes
        self._limit_seconds = limit_seconds
        self._class = owners.Class()
        self.nodes = []
        self.notes = []
        self.looked_at = 0
        self._room = self._limit_bytes = limit_bytes
        self._left_out = []

    def take(self, project, others, third_party, standard, homes):
        """Roots: modules as (name, module, shape), `others` as (kind, name, value).

        `homes` tells by id in which module an object is at home that several of them import.
        """
        self._homes = homes
        collecting = gc.isenabled()
        # Half a million new objects would set off a collection after the other, and find nothing.
        gc.disable()
        try:
            self._take(project, others, third_party, standard)
        finally:
            if collecting:
                gc.enable()

    def _take(self, project, others, third_party, standard):
        self._end = perf_counter() + self._limit_seconds
        self._seen = {id(self.nodes), id(self)}
        self._later = deque()
        queue = deque()
        for name, module, shape in project:
            self._root(queue, name, module, shape)
        for kind, name, value in others:
            root = Node(None, Root(kind), None, None, name)
            if id(value) not in self._seen:
                self._seen.add(id(value))
                queue.append((value, root, ""))
        whole = self._walk(queue)
        if not whole:
            self._cut("some of what the project's modules refer to", third_party)
        else:
            queue = self._later
            waiting = []
            for name, module, shape in third_party:
                waiting.append(name)
                self._root(queue, name, module, shape)
            if not self._walk(queue):
                left = [node.label for _, node, _ in queue if node.parent is None and type(node.label) is str]
                self._cut("", [(name, None, None) for name in dict.fromkeys(left)] or third_party)
        for name, module, shape in standard:
            try:
                self._shallow(name, module, shape)
            except Exception as error:
                self.notes.append("%s could not be looked into: %s" % (name, type(error).__name__))
        if self._left_out:
            self._note_left_out()
        del self._seen, self._later

    def _root(self, queue, name, module, shape):
        """A module; what its globals refer to waits in the queue."""
        if id(module) in self._seen:
            return
        self._seen.add(id(module))
        self._seen.add(id(module_dict(module)))
        content = shape.take(module)
        node = Node(module, shape, content, None, name)
        self.nodes.append(node)
        for label, value in shape.children(content):
            if self._plans.of(type(value)) is None or id(value) in self._seen:
                continue
            if self._homes.get(id(value), name) != name:
                continue
            self._seen.add(id(value))
            queue.append((value, node, label))

    def _walk(self, queue):
        """Empties the queue; False if a limit was met before."""
        seen, plan_of, nodes = self._seen, self._plans.of, self.nodes
        count = self.looked_at
        countdown = _STRIDE
        while queue:
            countdown -= 1
            if countdown == 0:
                countdown = _STRIDE
                if perf_counter() > self._end or len(nodes) > self._limit_nodes:
                    self.looked_at = count
                    return False
            obj, parent, label = queue.popleft()
            shapes = plan_of(type(obj))
            if shapes is None:
                continue
            count += 1
            if shapes is CLASS:
                shapes = self._of_class(obj, parent, label, queue)
            elif shapes is FUNCTION:
                shapes = self._of_function(obj, parent, label, queue)
            for shape in shapes:
                try:
                    weight = shape.weight(obj)
                    if weight > self._room:
                        self._left_out.append(label)
                        continue
                    self._room -= weight
                    content = shape.take(obj)
                except Exception:
                    # Half made, or changed by another thread: one object is not worth the rest.
                    continue
                node = Node(obj, shape, content, parent, label)
                if not shape.passing:
                    nodes.append(node)
                left = ELEMENTS
                children = shape.children(content)
                if weight > _LARGE:
                    children = () if self._plans.lead_nowhere(content) else self._in_time(children)
                    countdown = 1
                for key, value in children:
                    if plan_of(type(value)) is None:
                        continue
                    known = id(value)
                    if known in seen:
                        continue
                    left -= 1
                    if left < 0:
                        self._note_large(content)
                        break
                    seen.add(known)
                    queue.append((value, node, key))
        self.looked_at = count
        return True

    def _in_time(self, children):
        children = iter(children)
        while perf_counter() < self._end:
            part = list(islice(children, 1 << 16))
            if not part:
                return
            yield from part

    def _of_class(self, cls, parent, label, queue):
        origin = self._origins.of(type_module(cls))
        if origin == PROJECT or (origin == THIRD_PARTY and queue is self._later):
            return (self._class,)
        if origin == THIRD_PARTY:
            self._later.append((cls, parent, label))
        return ()

    def _of_function(self, function, parent, label, queue):
        module = function.__module__
        origin = self._origins.of(module) if type(module) is str else PROJECT
        if origin == PROJECT or (origin == THIRD_PARTY and queue is self._later):
            return owners.FUNCTION
        if origin == THIRD_PARTY:
            self._later.append((function, parent, label))
            return ()
        # A decorator of the standard library, around a function of the project.
        return owners.FUNCTION if function.__closure__ and origin != IGNORED else ()

    def _shallow(self, name, module, shape):
        """Globals, class dictionaries and public containers of a module; nothing further down."""
        if id(module) in self._seen:
            return
        self._seen.add(id(module))
        content = shape.take(module)
        node = Node(module, shape, content, None, name)
        self.nodes.append(node)
        for label, value in content.items():
            if type(label) is not str or label in shape.ignored or id(value) in self._seen:
                continue
            plan = self._plans.of(type(value))
            if plan is CLASS:
                if type_module(value) == name:
                    self._seen.add(id(value))
                    self.nodes.append(Node(value, self._class, class_dict(value).copy(), node, label))
            elif label[:1] != "_" and type(value) in (dict, list, set):
                self._seen.add(id(value))
                self.nodes.append(Node(value, plan[0], plan[0].take(value), node, label))

    def _cut(self, what, modules):
        why = "%.1f seconds" % self._limit_seconds
        if len(self.nodes) > self._limit_nodes:
            why = f"{self._limit_nodes:,} objects"
        tops = list(dict.fromkeys(name.partition(".")[0] for name, _, _ in modules))
        shown = [what] if what else []
        shown += tops[:5] + (["%d more" % (len(tops) - 5)] if len(tops) > 5 else [])
        self.notes.append("snapshot cut after %s: %s not looked into" % (why, ", ".join(shown) or "the rest"))

    def _note_left_out(self):
        names = [label for label in self._left_out if type(label) is str]
        example = ", such as %s" % shorten(names[0], 80) if names else ""
        count = len(self._left_out)
        what = "1 container was" if count == 1 else f"{count:,} containers were"
        self.notes.append("%s too large to be copied (%d MB for all)%s" % (what, self._limit_bytes >> 20, example))

    def _note_large(self, content):
        note = f"of containers with more than {ELEMENTS:,} elements only that many were looked into"
        if note not in self.notes:
            self.notes.append(note)

    def changed(self, limit=5_000):
        """(node, differences) of every node that is not as it was, in the order of the walk."""
        found = []
        for node in self.nodes:
            try:
                if node.shape.same(node.obj, node.content):
                    continue
                differences = node.shape.differences(node.obj, node.content)
            except Exception:
                # Another thread is at work on it right now, or it cannot be read any more.
                continue
            if differences:
                found.append((node, differences))
                if len(found) == limit:
                    self.notes.append(f"more than {limit:,} objects changed: the rest was not compared")
                    break
        return found
