"""What a forked child must put right to be indistinguishable from an interpreter that just collected.

`fork` shares file offsets, epoll sets and wake-up sockets with the parent, and CPython reseeds `random`
in the child. Each of these changed the outcome of a real test.
"""

import stat
import sys
import zlib
from _signal import ITIMER_PROF, ITIMER_REAL, ITIMER_VIRTUAL
from _signal import getitimer as _getitimer
from threading import enumerate as _all_threads
from threading import main_thread as _main_thread

from .sealed import os
from .strays import children

_TIMERS = (ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF)


def rng_digests():
    """The state of each global generator. Equal in two interpreters only if the suite seeded it."""
    digests = {}
    if "random" in sys.modules:
        digests["random"] = zlib.crc32(repr(sys.modules["random"].getstate()).encode())
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        try:
            digests["numpy"] = zlib.crc32(repr(numpy_random.get_state()[1].tobytes()).encode())
        except Exception:
            pass
    return digests


class ForkRepair:
    """Prepared once in the zygote, applied in every child it or its lineages fork."""

    def __init__(self, channel, scratch, sandbox):
        from fcntl import F_GETFL, fcntl

        self._flags_of = lambda fd: fcntl(fd, F_GETFL)
        self._own = set(channel.descriptors())
        self._scratch = scratch
        self._sandbox = sandbox
        self._random = None

    def obstacle(self):
        """Why this interpreter must not be forked, or None."""
        threading = sys.modules["threading"]
        others = [t.name for t in threading.enumerate() if t is not threading.main_thread()]
        if others:
            return "threads are running after collection: " + ", ".join(sorted(others)[:5])
        known = {selector.fileno() for selector, _ in _event_loops()}
        foreign = [fd for fd, link in _descriptors() if "eventpoll" in link and fd not in known]
        if foreign:
            return "an event loop that cannot be copied was created during collection"
        return None

    def obstacle_of_branches(self):
        """What tests have left that a fork of this process would not have, or None."""
        others = [t.name for t in _all_threads() if t is not _main_thread()]
        if others:
            return "threads are running: " + ", ".join(sorted(map(str, others))[:5])
        # None where the system does not tell.
        if children(os.getpid()):
            return "it has child processes"
        if any(_getitimer(timer)[0] for timer in _TIMERS):
            return "a timer is running"
        return None

    def holds_files(self):
        """Whether files of the sandbox are open: they would stay those of the mounts of now."""
        for fd, link in _descriptors():
            if fd not in self._own and self._sandbox.covers(link) and os.fstat(fd).st_nlink:
                return True
        return False

    def before(self):
        module = sys.modules.get("random")
        # A test may have taken the module away since.
        self._random = None if module is None else (module.setstate, module.getstate())

    def in_child(self, reseed):
        """`reseed` names the generators that are to be as in an interpreter of its own; the others go on where they
        were, also that of `random`, which CPython has reseeded by now."""
        if self._random is not None and "random" not in reseed:
            restore, state = self._random
            restore(state)
        if "numpy" in reseed and "numpy.random" in sys.modules:
            sys.modules["numpy.random"].seed()
        self._separate_files()
        if "asyncio" in sys.modules:
            for selector, loop in _event_loops():
                _renew(selector, loop)

    def _separate_files(self):
        """Every regular file gets an open file description of its own: own offset, own content."""
        for fd, link in _descriptors():
            if fd <= 2 or fd in self._own:
                continue
            try:
                info = os.fstat(fd)
                if stat.S_ISREG(info.st_mode):
                    self._separate(fd, link, info)
            except OSError:
                continue

    def _separate(self, fd, link, info):
        inheritable = os.get_inheritable(fd)
        flags = self._flags_of(fd) & ~(os.O_CREAT | os.O_EXCL | os.O_TRUNC)
        offset = os.lseek(fd, 0, os.SEEK_CUR)
        if info.st_nlink == 0:
            if flags & (os.O_WRONLY | os.O_RDWR) == 0:
                new = os.open("/proc/self/fd/%d" % fd, flags)
            else:
                new = self._copy_unlinked(fd, info.st_size, flags)
        elif self._sandbox is not None and self._sandbox.covers(link):
            # By name, so that the write lands in this lineage's own layer.
            new = os.open(link, flags)
        else:
            new = os.open("/proc/self/fd/%d" % fd, flags)
        os.lseek(new, offset, os.SEEK_SET)
        os.dup2(new, fd, inheritable)
        os.close(new)

    def _copy_unlinked(self, fd, size, flags):
        path = os.path.join(self._scratch, "file-%d-%d" % (os.getpid(), fd))
        new = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | (flags & os.O_APPEND), 0o600)
        os.unlink(path)
        position = 0
        while position < size:
            block = os.pread(fd, min(1 << 20, size - position), position)
            if not block:
                break
            os.write(new, block)
            position += len(block)
        return new


def _descriptors():
    for name in os.listdir("/proc/self/fd"):
        try:
            yield int(name), os.readlink("/proc/self/fd/" + name)
        except OSError:
            continue


def _event_loops():
    """(selector, loop) of every selector event loop alive; none is looked for without an epoll set."""
    if "asyncio" not in sys.modules or not any("eventpoll" in link for _, link in _descriptors()):
        return []
    import gc

    base = sys.modules["asyncio"].selector_events.BaseSelectorEventLoop
    found = []
    for thing in gc.get_objects():
        if isinstance(type(thing), type) and issubclass(type(thing), base) and not thing.is_closed():
            selector = getattr(thing, "_selector", None)
            if hasattr(selector, "fileno"):
                found.append((selector, thing))
    return found


def _renew(selector, loop):
    """A new epoll set and a new wake-up pair under the old descriptor numbers."""
    import select
    import socket

    left, right = socket.socketpair()
    for new, old in ((left, loop._ssock), (right, loop._csock)):
        new.setblocking(False)
        os.dup2(new.fileno(), old.fileno(), False)
        new.close()
    epoll = select.epoll()
    os.dup2(epoll.fileno(), selector.fileno(), False)
    epoll.close()
    fresh = select.epoll.fromfd(selector.fileno())
    for key in list(selector.get_map().values()):
        events = (1 if key.events & 1 else 0) | (4 if key.events & 2 else 0)
        fresh.register(key.fd, events)
    # `fromfd` would close the number it borrowed.
    _BORROWED.append(fresh)


_BORROWED = []
