"""Many changes in one process, one after the other: a quick look at which test may tell which of them.

A process that has executed one test executes the next for a fraction of what a fork costs. What a change leaves behind
reaches the tests behind it, so what is seen here is only a hint; a process of its own decides.
"""

from .edits import prepared, put
from .mutation import Pursuit


class InTurn(Pursuit):
    """Executes the n-th test with the change `which[n]` in place, until a test has failed with that change."""

    def __init__(self, session, items, recorder, channel, probe, mutation):
        super().__init__(session, items, recorder, channel, probe, mutation)
        self._bodies = mutation["in_turn"]["bodies"]
        self._which = mutation["in_turn"]["which"]
        self._through = set()
        # For each change what is put in place, and whether making that has executed it.
        self._ready = {}

    def run(self):
        for which, body in enumerate(self._bodies):
            if not body.get("defaults"):
                self._prepare(which)
        for number, which in enumerate(self._which):
            if which not in self._ready and which not in self._through:
                # Defaults are evaluated, by code of the project: that belongs to the first test.
                self._announce(number)
                self._prepare(which)
            if which in self._through:
                continue
            changes, self._imported = self._ready[which]
            before = put(changes)
            _, killed = self._execute(number, self._next(number))
            put(before)
            if killed:
                self._through.add(which)

    def _prepare(self, which):
        self._probe.start()
        try:
            self._ready[which] = prepared(self._bodies[which], self._session.config), self._probe.is_hit()
        except LookupError:
            self._through.add(which)

    def _next(self, number):
        """The one that is executed next. Nobody may know yet whether this change is through, or whether that one can
        be put in place: then all is torn down."""
        for following in range(number + 1, len(self._which)):
            which = self._which[following]
            if which == self._which[number]:
                break
            if which not in self._through:
                return following if which in self._ready else len(self._items)
        return len(self._items)
