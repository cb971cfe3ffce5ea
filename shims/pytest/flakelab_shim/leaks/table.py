"""A probe that reads named states: the shape of everything that is not the object graph or files."""

from . import change as ranks
from .change import Change
from .reading import MISSING
from .render import show
from .sameness import same


class Table:
    """Subclasses read {key: state}, and put one state back. States are scalars or tuples, or by identity."""

    kind = ""
    rank = ranks.SYSTEM

    def read(self):
        raise NotImplementedError

    def put(self, key, state):
        """Writes a state back; MISSING removes it."""
        raise NotImplementedError

    def name(self, key):
        return str(key)

    def show(self, key, state):
        return show(state)

    def same(self, key, before, after):
        return same(before, after)

    def restorable(self, key, before, after):
        return True

    def rank_of(self, key, before, after):
        return self.rank

    def peek(self, key):
        """The present state under one key, for tracing; cheaper than all of them where it can be."""
        return self.read().get(key, MISSING)

    # -- the same for all ----------------------------------------------------------------------------

    def before(self):
        self._before = self.read()

    def changes(self):
        now = self.read()
        found = []
        for key in dict.fromkeys([*self._before, *now]):
            before, after = self._before.get(key, MISSING), now.get(key, MISSING)
            if not self.same(key, before, after):
                found.append(self._change(key, before, after))
        return found

    def _change(self, key, before, after):
        restore = (lambda: self.put(key, before)) if self.restorable(key, before, after) else None
        rank = self.rank_of(key, before, after)
        texts = self.show(key, before), self.show(key, after)
        return Change(self.kind, self.name(key), texts[0], texts[1], restore, rank, key=self.key(key))

    def key(self, key):
        """What identifies the state in every process; its name unless said otherwise."""
        return None

    def probe(self, kind, name):
        if kind != self.kind:
            return None
        for key in self.candidates(name):
            if (self.key(key) or self.name(key)) == name:
                return lambda: self.peek(key)
        return None

    def candidates(self, name):
        """Keys that may have the name; states that do not exist yet need a way of their own."""
        return list(self._before)
