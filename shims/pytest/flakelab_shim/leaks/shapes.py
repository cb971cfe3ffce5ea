"""What the graph needs to know of a kind of object: how to take its content, compare it, put it back.

A shape looks one level deep. It never calls code of the object; `put` may hash keys of user types.
"""

from operator import is_

from .reading import MISSING
from .render import show
from .sameness import key_of, same

# The label of a change that concerns the object as a whole.
WHOLE = type("Whole", (), {"__slots__": ()})()


class Shape:
    # The kind of change an object of this shape is reported as; None: that of what holds it.
    kind = None
    # Only a step on the way: immutable, never compared itself.
    passing = False

    def take(self, obj):
        raise NotImplementedError

    def weight(self, obj):
        """Bytes that the content will take, about; 0 where it is never much."""
        return 0

    def children(self, content):
        """(label, value) of what the object refers to."""
        return ()

    def same(self, obj, content):
        raise NotImplementedError

    def differences(self, obj, content):
        """[(label, before, after)], values as they are."""
        return [(WHOLE, content, self.take(obj))]

    def put(self, obj, content, label):
        raise NotImplementedError

    def restorable(self, obj, content, label):
        return True

    def shown(self, value):
        """A value of `differences` as text."""
        return show(value)

    def step(self, label):
        """How a path goes on from the object to what the label names."""
        return ""

    def token(self, obj, label):
        """The present value at a label; compared by identity while a test is traced."""
        return self.take(obj)

    def holds(self, obj, value, label):
        """Whether the object still refers to what it held under a label."""
        return True

    def replacement(self, obj, content):
        """Another object in the former state, for what cannot be put back itself; or None."""
        return None

    # Puts another object at a label; None where that is impossible.
    swap = None


class Keyed(Shape):
    """Content is a dictionary: dictionaries, attributes of instances, classes and modules."""

    ignored = frozenset()

    def present(self, obj):
        """The content now, to be read only."""
        raise NotImplementedError

    def write(self, obj, key, value):
        raise NotImplementedError

    def erase(self, obj, key):
        raise NotImplementedError

    def take(self, obj):
        return dict.copy(self.present(obj))

    def children(self, content):
        return content.items()

    def same(self, obj, content):
        now = self.present(obj)
        return (
            dict.__len__(now) == len(content)
            and all(map(is_, dict.values(now), content.values()))
            and all(map(is_, dict.keys(now), content))
        )

    def differences(self, obj, content):
        now = self.take(obj)
        old_by_key = {key_of(key): (key, value) for key, value in content.items()}
        new_by_key = {key_of(key): (key, value) for key, value in now.items()}
        found = []
        for known, (key, value) in old_by_key.items():
            after = new_by_key.get(known, (key, MISSING))[1]
            if not same(value, after) and not self._is_ignored(key):
                found.append((key, value, after))
        for known, (key, value) in new_by_key.items():
            if known not in old_by_key and not self._is_ignored(key):
                found.append((key, MISSING, value))
        return found

    def _is_ignored(self, key):
        return type(key) is str and key in self.ignored

    def put(self, obj, content, label):
        for key, value in content.items():
            if key is label or same(key, label):
                self.write(obj, key, value)
                return
        self.erase(obj, label)

    def token(self, obj, label):
        now = self.present(obj)
        if type(label) is str or type(label) is int:
            return dict.get(now, label, MISSING)
        for key, value in dict.items(now):
            if key is label or same(key, label):
                return value
        return MISSING

    def holds(self, obj, value, label):
        return self.token(obj, label) is value

    def swap(self, obj, label, old, new):
        self.write(obj, label, new)


class Sequence(Shape):
    """Content is a list or a tuple, and a change is one of the whole."""

    def iterate(self, obj):
        raise NotImplementedError

    def take(self, obj):
        return list(self.iterate(obj))

    def children(self, content):
        return enumerate(content)

    def same(self, obj, content):
        now = list(self.iterate(obj))
        return len(now) == len(content) and all(map(is_, now, content))

    def differences(self, obj, content):
        now = self.take(obj)
        if len(now) == len(content) and all(map(same, content, now)):
            return []
        return [(WHOLE, content, now)]

    def step(self, label):
        return "[%d]" % label

    def token(self, obj, label):
        # Large ones by their length and ends, because this runs at every traced line.
        now = self.take(obj)
        return tuple(now) if len(now) < 500 else (len(now), now[0], now[-1])

    def holds(self, obj, value, label):
        return any(each is value for each in self.iterate(obj))
