"""Forks a child for every request, one at a time, and cleans up behind it.

Used by a zygote (which has collected the suite) and by a template (which has loaded pytest and nothing of
the project). Each child leads its own process group, gets private files, and ends with `os._exit`.
"""

import signal

from .channel import clean
from .sealed import os
from .state import State


class ForkServer:
    def __init__(self, channel, kernel, repair, sandbox, setup):
        self._channel = channel
        self._kernel = kernel
        self._repair = repair
        self._sandbox = sandbox
        self._state = None if sandbox else State(setup["state"], setup["saved"])
        self._reseed = ()
        self._watched = False

    def serve(self):
        """Returns, with its request, in each child; never in the server itself."""
        saved = self._state.save() if self._state else None
        while True:
            request = self._channel.receive()
            if request is None:
                os._exit(0)
            self._reseed = request["reseed"]
            self._watched = request.get("experiment") is not None
            if request.get("edits"):
                from .edits import learn

                learn()
            pid = self._fork()
            if pid == 0:
                return request
            status, usage = self._reap(pid)
            if saved:
                self._state.restore(saved)
            cpu = int((usage.ru_utime + usage.ru_stime) * 1_000_000)
            self._channel.send({"k": "done", "status": status, "cpu_us": cpu})

    def fork_branch(self):
        """True in a new child that is to continue a branch; False in the parent, once that child ended."""
        saved = self._state.save() if self._state else None
        pid = self._fork()
        if pid == 0:
            return True
        status, _ = self._reap(pid)
        if saved:
            self._state.restore(saved)
            self._state.forget(saved)
        self._channel.send({"k": "left", "status": status})
        return False

    def _fork(self):
        self._repair.before()
        pid = os.fork()
        if pid == 0:
            self._enter_lineage()
        else:
            _own_group(pid)
        return pid

    def _enter_lineage(self):
        _own_group(0)
        self._kernel.die_with_parent()
        self._channel.send_raw(b'{"k":"begin","pid":%d}' % os.getpid())
        try:
            if self._sandbox:
                if self._watched:
                    self._sandbox.keep_bottoms()
                self._sandbox.split()
            self._repair.in_child(self._reseed)
        except OSError as error:
            self._channel.send({"k": "lost", "m": clean(str(error), 1_000)})
            os._exit(84)

    def _reap(self, pid):
        """Waits for a lineage and ends whatever its tests left running in its process group."""
        while True:
            try:
                _, status, usage = os.wait4(pid, 0)
                break
            except InterruptedError:
                continue
        try:
            os.killpg(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        return status, usage


def _own_group(pid):
    try:
        os.setpgid(pid, pid)
    except OSError:
        pass
