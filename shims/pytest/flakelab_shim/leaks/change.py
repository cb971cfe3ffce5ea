"""One thing that is not as it was: what the rest of flakelab is told of a leak."""

from .render import shorten

# The most telling first. Gaps leave room; the order is what a person would look at first.
PROJECT = 10
MONKEYPATCH = 14
MODULE = 16
FILE = 20
SYSTEM = 30
THREAD = 50
THIRD_PARTY = 60
STANDARD_LIBRARY = 70
RANDOM = 80
EQUAL = 85
NEW_MODULE = 90


class Change:
    """`restore` puts the former state back in this process, in place; says whether that worked.

    `module` is what the name starts with, where that is one: nobody can tell from `a.b.c` where the module ends.
    """

    __slots__ = ("id", "kind", "name", "before", "after", "restorable", "rank", "module", "_restore")

    def __init__(self, kind, name, before, after, restore=None, rank=SYSTEM, key=None, module=None):
        self.kind = kind
        self.name = shorten(name, 300)
        self.id = "%s:%s" % (kind, shorten(name if key is None else key, 300))
        self.before = shorten(before)
        self.after = shorten(after)
        self.restorable = restore is not None
        self.rank = rank
        self.module = module
        self._restore = restore

    def restore(self):
        if self._restore is None:
            return False
        try:
            self._restore()
        except Exception:
            return False
        return True

    def __repr__(self):
        return "<%s %s: %s -> %s>" % (self.kind, self.name, self.before, self.after)


def distinct(changes):
    """Gives every change an id of its own: two closures of one function have the same name."""
    count = {}
    for change in changes:
        number = count[change.id] = count.get(change.id, 0) + 1
        if number > 1:
            change.id += "#%d" % number
            change.name += " #%d" % number
    return changes
