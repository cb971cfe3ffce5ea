"""A cold run: this interpreter executes one order and ends.

In the mode `twice` it is one test in two sessions of one process, which is how a plain command repeats a
test; the second session's events carry the next node number.
"""

from .channel import clean
from .sealed import os
from .walk import Stop, Trie, Walker


class ColdDriver:
    def __init__(self, channel, surround, setup, layers=None, reach=None):
        self._channel = channel
        self._surround = surround
        self._setup = setup
        self._layers = layers
        self._reach = reach
        self._order = setup["order"]
        self.arguments = list(setup["args"])
        self._wanted = 2 if setup["mode"] == "twice" else 1
        self._sessions = 0
        self._surroundings = None
        self._probe = None
        surround.begin(setup)
        if setup.get("mutation"):
            from .mutation import put_in_place

            self._probe = put_in_place(setup["mutation"], channel)

    @property
    def wants_another_session(self):
        return 0 < self._sessions < self._wanted

    def __call__(self, session, plugin):
        items = self._find(session.items)
        missing = [i for i, item in enumerate(items) if item is None]
        if missing:
            self._channel.send({"k": "fatal", "kind": "missing", "exit": 0, "m": clean(self._order[missing[0]], 1_000)})
            os._exit(0)
        plain = len(items) == len(session.items) and all(a is b for a, b in zip(items, session.items))
        self._channel.send({"k": "ready", "plain": plain})
        session.items[:] = items
        first = self._sessions * len(items)
        self._sessions += 1
        try:
            if self._probe is not None:
                self._pursue(session, items, plugin.recorder)
            if self._reach is not None:
                self._reach.begin()
            if self._surroundings is None:
                last = self._wanted * len(items) - 1
                self._surroundings = self._surround(self._setup, session, last)
            walker = Walker(
                session,
                items,
                plugin.recorder,
                self._channel,
                None,
                self._surroundings,
                first,
                self._layers,
                self._reach,
            )
            walker.walk(Trie({"tests": list(range(len(items)))}))
        except Stop:
            self._sessions = self._wanted
        if self._sessions < self._wanted:
            return
        self._channel.send_raw(b'{"k":"end"}')
        os._exit(0)

    def _pursue(self, session, items, recorder):
        from .mutation import Pursuit
        from .mute import mute

        mute(session.config)
        Pursuit(session, items, recorder, self._channel, self._probe, self._setup["mutation"]).run()
        raise Stop

    def _find(self, collected):
        """The items of the order; a second collection of the same id is told apart by its number."""
        seen, by_id = {}, {}
        for item in collected:
            name = clean(item.nodeid, 20_000)
            number = seen[name] = seen.get(name, 0) + 1
            by_id[name if number == 1 else "%s#%d" % (name, number)] = item
        return [by_id.get(name) for name in self._order]
