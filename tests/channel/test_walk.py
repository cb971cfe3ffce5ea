"""What is said of a trie while it is walked."""

import json

from flakelab_shim import walk
from flakelab_shim.channel import PACKET, Channel


class Said(Channel):
    def __init__(self):
        self.packets = []

    def send_raw(self, packet):
        self.packets.append(packet)


class Branching:
    """Forks that end at once; after so many nobody may fork any more."""

    def __init__(self, obstacle=None):
        self._obstacle = obstacle

    def obstacle(self):
        return self._obstacle

    def fork(self, is_last):
        return False


class Item:
    nodeid = "test_a.py::test"

    def listchain(self):
        return [self]


class Surroundings:
    def before(self, number):
        pass


def walked(monkeypatch, branches, branching):
    class Hooks:
        def __getattr__(self, name):
            return self

        def get_hookimpls(self):
            return []

    class Session:
        config = type("Config", (), {"hook": Hooks()})

    monkeypatch.setattr(walk, "execute", lambda *args: ({"o": "p", "us": 1}, False))
    channel = Said()
    walker = walk.Walker(Session, [Item()] * (branches + 1), None, channel, branching, Surroundings())
    request = {"tests": list(range(branches + 1)), "kids": {"0": list(range(1, branches + 1))}}
    request["kids"].update({str(n): [walk.END] for n in range(1, branches)})
    stopped = False
    try:
        walker.walk(walk.Trie(request))
    except walk.Stop:
        stopped = True
    return channel.packets, stopped


def test_successors_that_fit_into_no_packet_are_told_once_and_in_parts(monkeypatch):
    packets, stopped = walked(monkeypatch, 40_000, Branching())
    assert not stopped
    assert max(map(len, packets)) <= PACKET
    told = [json.loads(packet) for packet in packets]
    start = next(at for at, event in enumerate(told) if event["k"] == "s")
    parts = told[:start]
    assert {event["k"] for event in parts} == {"to"} and len(parts) > 1
    assert sum((event["list"] for event in parts), []) == list(range(1, 40_001))
    assert told[start] == {"k": "s", "n": 0}
    assert told[start + 1] == {"k": "o", "n": 0, "o": "p", "us": 1}


def test_a_walk_ends_where_a_fork_would_lack_something(monkeypatch):
    packets, stopped = walked(monkeypatch, 2, Branching("threads are running: x"))
    assert stopped
    told = [json.loads(packet)["k"] for packet in packets]
    assert told == ["to", "s", "o", "unsharable"]
