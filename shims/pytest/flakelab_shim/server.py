"""Forks a child for every request, one at a time, and cleans up behind it.

Used by a zygote (which has collected the suite) and by a template (which has loaded pytest and nothing of
the project). Each child leads its own process group, gets private files, and ends with `os._exit`.
"""

import signal

from .channel import clean
from .sealed import os
from .state import State
from .strays import Strays


class ForkServer:
    def __init__(self, channel, kernel, repair, sandbox, guard, setup):
        self._channel = channel
        self._kernel = kernel
        self._repair = repair
        self._sandbox = sandbox
        self._guard = guard
        self._strays = Strays(kernel)
        self._state = None if sandbox else State(setup["state"], setup["saved"])
        # Whether runs may write into a layer of ours.
        self._lends = False
        self._watched = False

    def serve(self, prepare=None):
        """Returns, with its request, in each child; never in the server itself. `prepare` does once what each
        fork would do again."""
        saved = self._state.save() if self._state else None
        company = self._strays.begin()
        if self._sandbox and not self._repair.holds_files():
            if not self._sandbox.is_untouched():
                self._sandbox.settle()
            self._lends = not company
        while True:
            request = self._channel.receive()
            if request is None:
                os._exit(0)
            self._watched = request.get("experiment") is not None
            if prepare is not None:
                prepare(request)
            shares = self._may_share()
            pid = self._fork(shares, request["reseed"])
            if pid == 0:
                return request
            status, usage = self._reap(pid)
            left = self._strays.end()
            if shares:
                self._clean_up(left)
            if saved:
                self._state.restore(saved)
            cpu = int((usage.ru_utime + usage.ru_stime) * 1_000_000)
            self._channel.send({"k": "done", "status": status, "cpu_us": cpu})

    def obstacle(self):
        """What stands in the way of another branch of this process, or None."""
        return self._repair.obstacle_of_branches()

    def fork(self, is_last):
        """True in a new child that is to continue a branch; False in the parent, once that child ended. The last of
        its line forks no further."""
        saved = self._state.save() if self._state else None
        shares = is_last and self._may_share()
        # A branch goes on from the very state of its parent, random generators included.
        pid = self._fork(shares, ())
        if pid == 0:
            return True
        status, _ = self._reap(pid)
        if shares:
            self._clean_up(self._strays.are_there())
        if saved:
            self._state.restore(saved)
            self._state.forget(saved)
        self._channel.send({"k": "left", "status": status})
        return False

    def _may_share(self):
        """Whether a child may write into the layer of this process, which waits for it and has written nothing."""
        return self._lends and not self._watched and self._sandbox.is_untouched()

    def _clean_up(self, strays):
        if strays or not self._sandbox.is_untouched():
            self._sandbox.renew(everything=strays)

    def _fork(self, shares_layer, reseed):
        self._repair.before()
        pid = os.fork()
        if pid == 0:
            self._enter_lineage(shares_layer, reseed)
        else:
            _own_group(pid)
        return pid

    def _enter_lineage(self, shares_layer, reseed):
        _own_group(0)
        self._kernel.die_with_parent()
        self._guard.begin()
        self._channel.send_raw(b'{"k":"begin","pid":%d}' % os.getpid())
        try:
            if shares_layer:
                self._sandbox.part()
            elif self._sandbox:
                if self._watched:
                    self._sandbox.keep_bottoms()
                self._sandbox.split()
            self._repair.in_child(reseed)
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
        self._guard.resume()
        return status, usage


def _own_group(pid):
    try:
        os.setpgid(pid, pid)
    except OSError:
        pass
