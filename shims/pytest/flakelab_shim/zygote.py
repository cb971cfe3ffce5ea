"""A zygote: collects once, then forks a lineage for every run it is asked for, one at a time."""
import os
import signal

from . import suite
from .channel import clean
from .state import State
from .walk import Stop, Trie, Walker


class ZygoteDriver:
    def __init__(self, channel, kernel, repair, sandbox, sandbox_error, setup):
        self._channel = channel
        self._kernel = kernel
        self._repair = repair
        self._sandbox = sandbox
        self._sandbox_error = sandbox_error
        self._state = None if sandbox else State(setup["state"], setup["saved"])
        self._reseed = ()

    def __call__(self, session, plugin):
        suite.tell(self._channel, session, plugin, self._repair.obstacle(), self._sandbox_error)
        _mute(session.config)
        items = list(session.items)
        saved = self._state.save() if self._state else None
        while True:
            request = self._channel.receive()
            if request is None:
                os._exit(0)
            self._reseed = request["reseed"]
            self._repair.before()
            pid = os.fork()
            if pid == 0:
                self._enter_lineage()
                self._run(session, plugin, items, Trie(request))
            _own_group(pid)
            status, usage = self._reap(pid)
            if saved:
                self._state.restore(saved)
            self._channel.send(
                {
                    "k": "done",
                    "status": status,
                    "cpu_us": int((usage.ru_utime + usage.ru_stime) * 1_000_000),
                }
            )

    def _run(self, session, plugin, items, trie):
        try:
            session.items[:] = [items[t] for t in trie.tests]
            walker = Walker(session, items, plugin.recorder, self._channel, self._fork_branch)
            walker.walk(trie)
        except Stop:
            pass
        except BaseException as error:  # ours, not the suite's: never fall back into the zygote's loop
            self._channel.send({"k": "lost", "m": clean(repr(error), 1_000)})
            os._exit(85)
        self._channel.send_raw(b'{"k":"end"}')
        os._exit(0)

    def _fork_branch(self):
        """True in a new child that is to continue a branch; False in the parent, once that child ended."""
        saved = self._state.save() if self._state else None
        self._repair.before()
        pid = os.fork()
        if pid == 0:
            self._enter_lineage()
            return True
        _own_group(pid)
        status, _ = self._reap(pid)
        if saved:
            self._state.restore(saved)
        self._channel.send({"k": "left", "status": status})
        return False

    def _enter_lineage(self):
        _own_group(0)
        self._kernel.die_with_parent()
        self._channel.send_raw(b'{"k":"begin","pid":%d}' % os.getpid())
        try:
            if self._sandbox:
                self._sandbox.split()
            self._repair.in_child(self._reseed)
        except OSError as error:
            self._channel.send({"k": "lost", "m": str(error)})
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


def _mute(config):
    """Progress dots interest nobody from here on; standard error stays, for what a crash says."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if getattr(getattr(reporter, "_tw", None), "_file", None) is not None:
        reporter._tw._file = open(os.devnull, "w")
