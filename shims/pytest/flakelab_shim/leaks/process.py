"""What the operating system and the C library keep for a process: umask, signals, timers, locale, time zone."""

import _locale
import _signal
import time

from ..sealed import os
from .reading import MISSING, instance_dict, module_dict
from .render import show
from .table import Table

_tzset = time.tzset
_TIMERS = ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF")
_CATEGORIES = ("LC_CTYPE", "LC_COLLATE", "LC_TIME", "LC_MONETARY", "LC_NUMERIC", "LC_MESSAGES")


class Umask(Table):
    kind = "umask"

    def read(self):
        return {"umask": _umask()}

    def show(self, key, state):
        return "%03o" % state

    def put(self, key, state):
        os.umask(state)


def _umask():
    """Asked of /proc first: the call can only tell by changing it for a moment."""
    try:
        descriptor = os.open("/proc/self/status", os.O_RDONLY | os.O_CLOEXEC)
        try:
            text = os.read(descriptor, 1_000).decode("ascii", "replace")
        finally:
            os.close(descriptor)
        return int(text.split("\nUmask:", 1)[1].split(None, 1)[0], 8)
    except (OSError, IndexError, ValueError):
        present = os.umask(0o077)
        os.umask(present)
        return present


class Signals(Table):
    kind = "signal"

    def read(self):
        found = {}
        for number in range(1, _signal.NSIG):
            try:
                found[number] = _signal.getsignal(number)
            except (ValueError, OSError):
                pass
        return found

    def peek(self, key):
        return _signal.getsignal(key)

    def name(self, key):
        for name, value in module_dict(_signal).items():
            if name.startswith("SIG") and not name.startswith("SIG_") and type(value) is int and value == key:
                return "handler of " + name
        return "handler of signal %d" % key

    def show(self, key, state):
        if type(state) is int:
            return {0: "SIG_DFL", 1: "SIG_IGN"}.get(state, str(state))
        return "not set by Python" if state is None else show(state)

    def restorable(self, key, before, after):
        return before is not None

    def put(self, key, state):
        _signal.signal(key, state)


class Timers(Table):
    """The time that is left goes by on its own: what counts is whether a timer runs, and how it repeats."""

    kind = "timer"

    def read(self):
        return {name: _signal.getitimer(getattr(_signal, name)) for name in _TIMERS}

    def same(self, key, before, after):
        return bool(before[0]) == bool(after[0]) and before[1] == after[1]

    def show(self, key, state):
        left, interval = state
        if not left:
            return "off"
        return "goes off in %.3g s" % left + (", then every %.3g s" % interval if interval else "")

    def put(self, key, state):
        _signal.setitimer(getattr(_signal, key), *state)


class Locale(Table):
    kind = "locale"

    def read(self):
        return {name: _locale.setlocale(getattr(_locale, name), None) for name in _CATEGORIES if hasattr(_locale, name)}

    def put(self, key, state):
        _locale.setlocale(getattr(_locale, key), state)


class Timezone(Table):
    """What `time` made of TZ when it was last told to look."""

    kind = "timezone"

    def read(self):
        state = module_dict(time)
        zone = tuple(state.get(name) for name in ("tzname", "timezone", "altzone", "daylight"))
        return {"time zone": (zone, instance_dict(os.environ)["_data"].get(b"TZ", MISSING))}

    def same(self, key, before, after):
        return before[0] == after[0]

    def show(self, key, state):
        return show(state[0][:2])

    def put(self, key, state):
        """The C library sees the former TZ for as long as it takes to read it."""
        present = instance_dict(os.environ)["_data"].get(b"TZ", MISSING)
        _set_zone(state[1])
        _tzset()
        _set_zone(present)


def _set_zone(value):
    if value is MISSING:
        os.unsetenv("TZ")
    else:
        os.putenv("TZ", os.fsdecode(value))
