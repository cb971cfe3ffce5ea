"""A whole run: this interpreter collects the user's selection, tells what that is, executes all of it, and ends.

It waits for a word before it executes: flakelab may have found that this suite is collected better in another way.
"""

from . import suite
from .sealed import os
from .walk import Stop, Trie, Walker


class WholeDriver:
    def __init__(self, channel, surround, setup, sandbox_error, layers=None):
        self._channel = channel
        self._surround = surround
        self._setup = setup
        self._sandbox_error = sandbox_error
        self._layers = layers
        surround.begin(setup)

    def __call__(self, session, plugin):
        # Nothing is forked, so nothing stands in the way of that.
        suite.tell(self._channel, session, plugin, None, self._sandbox_error)
        if self._channel.receive() is None:
            os._exit(0)
        self._channel.send({"k": "ready", "plain": True})
        items = list(session.items)
        try:
            surroundings = self._surround(self._setup, session, len(items) - 1)
            walker = Walker(session, items, plugin.recorder, self._channel, None, surroundings, layers=self._layers)
            if items:
                walker.walk(Trie({"tests": list(range(len(items)))}))
        except Stop:
            pass
        self._channel.send_raw(b'{"k":"end"}')
        os._exit(0)
