"""Many changes in one process, one after the other: a quick look at which test may tell which of them.

A process that has executed one test executes the next for a fraction of what a fork costs. What a change leaves behind
reaches the tests behind it, so what is seen here is only a hint; a process of its own decides.
"""

from .edits import swap, swap_back
from .mutation import Pursuit


class InTurn(Pursuit):
    """Executes the n-th test with the change `which[n]` in place, until a test has failed with that change."""

    def __init__(self, session, items, recorder, channel, probe, mutation):
        super().__init__(session, items, recorder, channel, probe, mutation)
        self._bodies = mutation["in_turn"]["bodies"]
        self._which = mutation["in_turn"]["which"]
        self._through = set()

    def run(self):
        config = self._session.config
        for which, body in enumerate(self._bodies):
            try:
                swap_back(swap(body, config))
            except LookupError:
                self._through.add(which)
        for number, which in enumerate(self._which):
            if which in self._through:
                continue
            self._probe.start()
            try:
                before = swap(self._bodies[which], config)
            except LookupError:  # defaults, which are evaluated each time
                self._through.add(which)
                continue
            # They are executed here, and not by the test.
            self._imported = self._probe.is_hit()
            _, killed = self._execute(number, self._next(number))
            swap_back(before)
            if killed:
                self._through.add(which)

    def _next(self, number):
        """The one that is executed next. Nobody knows yet whether this change is through: then all is torn down."""
        for following in range(number + 1, len(self._which)):
            if self._which[following] == self._which[number]:
                break
            if self._which[following] not in self._through:
                return following
        return len(self._items)
