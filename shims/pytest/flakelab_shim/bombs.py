"""Processes of a run that are alive at the same time, and the end of those who are too many.

Each of them may go on forking, so only all at once can be stopped, and only by one of them: whoever watches from
outside comes too late. Suites that fork many short-lived processes are left alone. Forks of Python are seen; what other
programs fork is ended with the run.
"""

from time import sleep

from .hidden import Hidden
from .kernel import SIGKILL
from .sealed import os

# Those who test pools of processes stay far below, and a machine bears as many.
MOST_PROCESSES = 256
# Counting takes a look at each process, so it is done by one process in so many. Their numbers are given one after
# the other; a counter that all share would lose steps.
_EVERY = 32
# Those that share a slot are counted once.
_SLOTS = 4_096
# Runs that are forked from each other; deeper ones are not guarded.
_DEPTHS = 1_024
_DEPTH, _LAST_RUN, _OVER, _COUNTS = range(_SLOTS + _DEPTHS, _SLOTS + _DEPTHS + 4)
# Seconds that whoever forks waits at a time, and how often, while one process counts: it would share the processors
# with all the others, and there would be ever more of them.
_PAUSE, _PAUSES = 0.002, 500


class Guard:
    def __init__(self, channel):
        with Hidden():
            import mmap
        self._channel = channel
        # Shared by all forks: a slot for each process, the runs that are forked from each other, then numbers.
        self._shared = memoryview(mmap.mmap(-1, 4 * (_SLOTS + _DEPTHS + 4))).cast("I")
        # What forks inherit: which run they are of.
        self._run = self._group = 0
        self._depth = -1
        self.begin()
        os.register_at_fork(before=self._wait, after_in_child=self._forked)

    def begin(self):
        """From here on this process and its group are a run of their own."""
        self._run = self._shared[_LAST_RUN] = self._shared[_LAST_RUN] + 1
        self._group = os.getpgrp()
        self._depth += 1
        if self._depth < _DEPTHS:
            self._shared[_SLOTS + self._depth] = self._run
        self.resume()

    def resume(self):
        """Goes on with this process's run after one that was forked from it."""
        self._shared[:_SLOTS] = memoryview(bytes(4 * _SLOTS)).cast("I")
        self._shared[_DEPTH] = self._depth
        self._shared[_COUNTS] = 0

    def _is_over(self):
        """Whether the run of this process has ended, or is about to."""
        shared, depth = self._shared, self._depth
        if shared[_OVER] == self._run or shared[_DEPTH] < depth:
            return True
        return depth < _DEPTHS and shared[_SLOTS + depth] != self._run

    def _wait(self):
        for _ in range(_PAUSES):
            counts = self._shared[_COUNTS]
            if not counts:
                return
            if not _is_alive(counts):
                break
            sleep(_PAUSE)
        self._shared[_COUNTS] = 0

    def _forked(self):
        shared = self._shared
        if self._is_over():
            os._exit(87)
        if shared[_DEPTH] != self._depth:
            # Of a process that was there before this run.
            return
        pid = os.getpid()
        shared[pid % _SLOTS] = pid
        if pid % _EVERY:
            return
        shared[_COUNTS] = pid
        alive = self._alive()
        if len(alive) > MOST_PROCESSES:
            self._end(alive)
        shared[_COUNTS] = 0

    def _alive(self):
        alive = []
        for slot, other in enumerate(self._shared[:_SLOTS].tolist()):
            if other and _is_alive(other):
                alive.append(other)
            elif other:
                self._shared[slot] = 0
        return alive

    def _end(self, alive):
        """Those that left the group first, because this one is in it."""
        # Another one may have been faster.
        if not self._is_over():
            self._shared[_OVER] = self._run
            self._channel.send_raw(b'{"k":"bomb","n":%d,"group":%d}' % (len(alive), self._group))
            own = os.getpid()
            # Again, for those that began while the first were looked at: none begins from here on.
            for pid in alive + self._alive():
                try:
                    if pid != own and os.getpgid(pid) != self._group:
                        os.kill(pid, SIGKILL)
                except OSError:
                    continue
            try:
                os.killpg(self._group, SIGKILL)
            except OSError:
                pass
        # This one has left the group itself.
        os._exit(87)


def _is_alive(pid):
    """Those that have ended and wait to be collected are not."""
    try:
        stat = os.open("/proc/%d/stat" % pid, os.O_RDONLY)
    except OSError:
        return False
    try:
        return os.read(stat, 512).rpartition(b") ")[2][:1] not in (b"Z", b"X", b"")
    except OSError:
        return False
    finally:
        os.close(stat)
