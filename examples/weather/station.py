"""A weather station whose answers depend on what they should not."""

import datetime
import locale
import pathlib
import random
import socket
import time

CITIES = {"Cairo", "Delhi", "Lima", "Oslo", "Quito", "Tunis"}


def tour():
    """In the order of a set of strings."""
    return list(CITIES)


def greeting():
    """By the time of day."""
    hour = datetime.datetime.now(datetime.timezone.utc).hour
    return "good morning" if 5 <= hour < 12 else "good day" if hour < 18 else "good evening"


def sunrise():
    """A fixed instant, on the clock of whoever looks."""
    return time.strftime("%H:%M", time.localtime(1_750_136_400))


def degrees(value):
    """In whatever encoding the locale names."""
    sign = "°" if "utf" in locale.getpreferredencoding(False).lower() else " deg"
    return "%d%sC" % (value, sign)


def readings():
    """Counts in a file that nobody removes."""
    counter = pathlib.Path.home() / ".weather-readings"
    count = int(counter.read_text()) + 1 if counter.exists() else 1
    counter.write_text(str(count))
    return min(count, 3)


def is_quick():
    """Whether a little work takes about as long as it needs the processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    while time.process_time() - cpu < 0.05:
        sum(range(1_000))
    return time.perf_counter() - wall < 1.8 * (time.process_time() - cpu)


def gust():
    """Nobody has seeded this."""
    return random.randint(0, 999_999)


def buffer_page():
    """Where a large buffer lies in memory, by the upper half of its address."""
    import array

    where, _ = array.array("b", bytes(8_000_000)).buffer_info()
    return where >> 32


def links():
    """Network interfaces besides loopback."""
    return sorted(name for _, name in socket.if_nameindex() if name != "lo")


def average(values):
    return sum(values) / len(values)
