"""Processes that outlive the run that started them.

The server adopts them, and ends them when that run is over: what they would still write, or listen at, is not for the
next one.
"""

import signal

from .sealed import os

# A killed one's own children become ours in turn. Trees are not deep, but for those of fork bombs.
_ROUNDS = 4_096


class Strays:
    def __init__(self, kernel):
        """To be called before the suite is collected: what becomes an orphan meanwhile is not flakelab's to end."""
        kernel.adopt_orphans()
        self._server = None
        # What was there when the suite was collected belongs to all runs.
        self._company = frozenset()

    def begin(self):
        """To be called in a process that forks runs and executes none. Whether it has children already, or that
        cannot be known."""
        self._server = os.getpid()
        present = children(self._server)
        self._company = present or frozenset()
        return present is None or bool(present)

    def are_there(self):
        """Asked in a run of the server: whether there are any, or that cannot be known."""
        present = children(self._server)
        return present is None or len(present - self._company) > 1

    def end(self):
        """Asked in the server, while it has no run: whether there were any."""
        for found in range(_ROUNDS):
            strays = (children(self._server) or frozenset()) - self._company
            if not strays:
                return found > 0
            # One that is somebody else's now is not waited for either.
            self._company |= {pid for pid in strays if not _killed(pid)}
            for pid in strays - self._company:
                _collect(pid)
        return True


def children(pid):
    """The numbers of its children, or None where the system does not tell."""
    try:
        file = os.open("/proc/%d/task/%d/children" % (pid, pid), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        told = b""
        while True:
            part = os.read(file, 1 << 16)
            if not part:
                return frozenset(map(int, told.split()))
            told += part
    finally:
        os.close(file)


def _killed(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except PermissionError:
        return False
    except ProcessLookupError:
        pass
    return True


def _collect(pid):
    try:
        os.waitpid(pid, 0)
    except (ChildProcessError, InterruptedError):
        pass
