"""A zygote: has collected the suite, and walks orders in forks of itself."""

import pytest

from . import suite
from .ahead import Ahead
from .channel import clean
from .compiled import Compiled
from .mute import mute
from .sealed import os
from .walk import Stop, Trie, Walker


class ZygoteDriver:
    def __init__(self, channel, server, repair, surround, sandbox_error, reach, young, setup):
        self._channel = channel
        self._server = server
        self._repair = repair
        self._surround = surround
        self._sandbox_error = sandbox_error
        self._reach = reach
        self._compiled = Compiled(setup["compiled"])
        self._compiled.install()
        self._young = young
        self._ahead = Ahead(repair)
        self.before_conftests = self._ahead.before_conftests

    def __call__(self, session, plugin):
        self._compiled.remove()
        self._young.end()
        ahead = self._ahead.works(session)
        suite.tell(self._channel, session, plugin, self._repair.obstacle(), self._sandbox_error, ahead)
        mute(session.config)
        items = list(session.items)
        if self._reach is not None:
            self._reach.collected()
        request = self._server.serve(lambda request: _prepare(request, session, items))
        try:
            trie = Trie(request)
            session.items[:] = [items[t] for t in trie.tests]
            if request.get("mutation"):
                self._pursue(request["mutation"], session, plugin.recorder)
            if self._reach is not None:
                self._reach.begin()
            surroundings = self._surround(request, session, len(trie.tests) - 1)
            walker = Walker(
                session, items, plugin.recorder, self._channel, self._server, surroundings, reach=self._reach
            )
            walker.walk(trie)
        except Stop:
            pass
        except BaseException as error:  # ours, not the suite's: it must not look like an outcome
            self._channel.send({"k": "lost", "m": clean(repr(error), 1_000)})
            os._exit(85)
        self._channel.send_raw(b'{"k":"end"}')
        os._exit(0)

    def _pursue(self, mutation, session, recorder):
        from .in_turn import InTurn
        from .mutation import Probe, Pursuit, swap_in

        items = list(session.items)
        if mutation.get("in_turn"):
            probe = Probe(self._channel, mutation["most_hits"])
            InTurn(session, items, recorder, self._channel, probe, mutation).run()
        else:
            probe = swap_in(mutation, self._channel, session.config)
            Pursuit(session, items, recorder, self._channel, probe, mutation).run()
        raise Stop


def _prepare(request, session, items):
    _locate(items[test] for test in set(request["tests"]) if test < len(items))
    edits = list((request.get("edits") or {}).values())
    if request.get("mutation"):
        from . import in_turn, mutation  # noqa: F401

        changed = request["mutation"]
        edits += changed["in_turn"]["bodies"] if changed.get("in_turn") else [changed["body"]]
    if edits:
        from .edits import prepare

        prepare(edits, session.config)


def _locate(items):
    """Where a test stands is looked up by pytest for each that runs, and kept. Not for methods: an instance of their
    class is made for that, by code of the project."""
    for item in items:
        if type(item) is pytest.Function and isinstance(item.parent, pytest.Module):
            item.location  # noqa: B018
