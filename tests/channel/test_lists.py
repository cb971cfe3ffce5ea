"""Lists are told in packets that the reader takes, whatever is in them."""

import json
import os
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "shims" / "pytest"))

from flakelab_shim import channel  # noqa: E402


def told(entries):
    """The packets of a list, as they come."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
        sender = channel.Channel(os.dup(ours.fileno()), os.dup(ours.fileno()))
        sender.send_list("errors", entries)
        theirs.setblocking(False)
        packets = []
        while True:
            try:
                packets.append(theirs.recv(1 << 22))
            except BlockingIOError:
                return packets


def test_packets_are_bounded_and_nothing_is_lost():
    entries = [{"id": "test_%d.py" % n, "m": "\u00e9" * 5_000} for n in range(100)]
    packets = told(entries)
    assert all(len(packet) <= channel.PACKET for packet in packets)
    assert [entry for packet in packets for entry in json.loads(packet)["list"]] == entries


def test_short_entries_go_together():
    assert len(told(["test_%d" % n for n in range(1_000)])) == 1
