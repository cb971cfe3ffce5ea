"""Changed code under watch: put in place, counted where it is executed, and pursued until tests reach it."""

import builtins

from . import sources
from .hidden import Hidden
from .sealed import os
from .walk import Stop, execute

# Once, in the process that forks: loading it takes as long as a test.
with Hidden():
    import mmap

# The process ended itself because the changed code was executed too often.
IN_CIRCLES = 86


class Probe:
    """Counts how often the changed expression or statement begins."""

    def __init__(self, channel, most):
        self._channel = channel
        self._most = most
        self._count = 0
        self._start = 0
        # Shared with processes that a test forks: whether one was hit.
        self._flag = mmap.mmap(-1, 1)
        builtins.__flakelab_hit__ = self._hit
        builtins.__flakelab_seen__ = self._seen

    def _hit(self, number=0, one=1):
        self._count += 1
        since = self._count - self._start
        if since == 1:
            # Said at once: the test may end the process.
            self._flag[0] = 1
            self._channel.send_raw(b'{"k":"hit"}')
        elif since > self._most:
            self._channel.send_raw(b'{"k":"circles"}')
            os._exit(IN_CIRCLES)

    def _seen(self, decorated):
        self._hit()
        return decorated

    def start(self):
        """Hits from now on belong to the next execution; whether there were any since the last call."""
        self._start = self._count
        was_hit, self._flag[0] = self.is_hit(), 0
        return was_hit

    def hits(self):
        return self._count - self._start

    def is_hit(self):
        return self._flag[0] == 1


def put_in_place(mutation, channel):
    """For an interpreter that has imported nothing of the project."""
    changed = mutation["import"]
    sources.install({os.path.realpath(changed["file"]): changed["text"]})
    return Probe(channel, mutation["most_hits"])


def swap_in(mutation, channel, config):
    """For a fork of the collected suite."""
    from .edits import prepared, put

    probe = Probe(channel, mutation["most_hits"])
    put(prepared(mutation["body"], config))
    return probe


class Pursuit:
    """Executes tests one after the other, again where they did not reach the change."""

    def __init__(self, session, items, recorder, channel, probe, mutation):
        self._session = session
        self._items = items
        self._recorder = recorder
        recorder.brief = True
        self._channel = channel
        self._probe = probe
        self._executions = 1 + mutation["reruns"]
        self._immediate = mutation["immediate"]
        self._first_kill = mutation["first_kill"]
        self._imported = self._hit_before = False
        self._pid = os.getpid()

    def run(self):
        self._imported = self._hit_before = self._probe.start()
        numbers = list(range(len(self._items)))
        if self._immediate:
            for number in numbers:
                for _ in range(self._executions):
                    hit, killed = self._execute(number, number + 1)
                    if hit:
                        break
                if killed and self._first_kill:
                    return
            return
        for _ in range(self._executions):
            missed = []
            for at, number in enumerate(numbers):
                following = numbers[at + 1] if at + 1 < len(numbers) else len(self._items)
                hit, killed = self._execute(number, following)
                if killed and self._first_kill:
                    return
                if not hit:
                    missed.append(number)
            numbers = missed

    def _announce(self, number):
        """Its time is limited from here on."""
        self._channel.send_raw(b'{"k":"s","n":%d}' % number)

    def _execute(self, number, following):
        item = self._items[number]
        following = self._items[following] if following < len(self._items) else None
        self._hit_before |= self._probe.start()
        self._announce(number)
        event, is_over = execute(self._session, self._recorder, self._pid, item, following)
        hit = self._imported or self._probe.is_hit()
        event.update(k="o", n=number, hit=hit, hits=self._probe.hits(), earlier=self._hit_before)
        self._channel.send(event)
        if is_over:
            raise Stop
        return hit, hit and event["o"] in ("f", "e")
