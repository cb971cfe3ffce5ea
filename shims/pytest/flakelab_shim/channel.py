"""The two private descriptors: requests in (newline-delimited JSON), events out (one packet an event).

The event descriptor is a SOCK_SEQPACKET socket, so that every process of a lineage can write to it and
no event is ever torn. Both are moved to high numbers before anything of the suite is imported, because
tests close and replace the low ones.
"""

import json

from .sealed import os

# Well above what a suite opens, and below the usual soft limit of 1024.
FIRST_DESCRIPTOR = 700
# The kernel's default send buffer takes about 200 KiB a packet; flakelab reads at most 128 KiB.
PACKET = 60_000

# Bound now: a test may replace `json.dumps` for good.
_encode = json.JSONEncoder(separators=(",", ":")).encode
_decode = json.JSONDecoder().decode


def clean(text, limit):
    """Any string of the suite as valid UTF-8 of bounded length."""
    if not isinstance(text, str):
        text = str(type(text))
    return text[:limit].encode("utf-8", "backslashreplace").decode("utf-8")


def moved_up(descriptor):
    """The same file under a high number."""
    from fcntl import F_DUPFD_CLOEXEC, fcntl

    high = fcntl(descriptor, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR)
    os.close(descriptor)
    return high


class Channel:
    def __init__(self, request_fd, event_fd):
        self.requests = moved_up(request_fd)
        self.events = moved_up(event_fd)
        self._buffer = b""

    def descriptors(self):
        return (self.requests, self.events)

    def receive(self):
        """The next request, or None when flakelab has closed the pipe."""
        while b"\n" not in self._buffer:
            chunk = os.read(self.requests, 1 << 16)
            if not chunk:
                return None
            self._buffer += chunk
        line, self._buffer = self._buffer.split(b"\n", 1)
        return _decode(line.decode("utf-8"))

    def send(self, event):
        self.send_raw(_encode(event).encode("ascii"))

    def send_raw(self, packet):
        try:
            os.write(self.events, packet)
        except OSError:
            # flakelab is gone, or a test closed our descriptor: nobody is left to tell.
            os._exit(82)

    def send_list(self, kind, entries):
        """A long list in packets of bounded size."""
        batch, size = [], 0
        for entry in entries:
            length = len(_encode(entry)) + 1
            if batch and size + length > PACKET - 100:
                self.send({"k": kind, "list": batch})
                batch, size = [], 0
            batch.append(entry)
            size += length
        if batch:
            self.send({"k": kind, "list": batch})
