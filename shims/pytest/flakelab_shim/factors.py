"""Surroundings that a run is given on purpose: random seed, time zone, order of directory listings, load,
a delay before every test.

What takes an interpreter of its own (clock, locale, network …) is not here: it is given before the start.
"""

import sys
from time import sleep as _sleep

from .sealed import os


class Factors:
    def __init__(self, wanted):
        self._seed = wanted.get("random_seed")
        self._zone = wanted.get("timezone")
        self._listing = wanted.get("file_order")
        self._pressure = wanted.get("pressure", False)
        self._delay = wanted.get("delay")
        self._applied = False
        self._seed_functions = None
        self._is_seeded_by_suite = False

    def apply(self):
        """Before anything of the project is imported where that is possible, else before the first test."""
        if self._applied:
            return
        self._applied = True
        self._seed_generators()
        self._notice_seeding()
        if self._zone is not None:
            import time

            os.environ["TZ"] = self._zone
            time.tzset()
        if self._listing is not None:
            _list_files(self._listing == "reversed")
        if self._pressure:
            _press()

    def before_test(self):
        if self._delay:
            _sleep(self._delay / 1000)
        self._stop_noticing()
        if not self._is_seeded_by_suite:
            self._seed_generators()

    def _notice_seeding(self):
        """A suite that seeds the generator at import counts on that seed."""
        if self._seed is None:
            return
        import random

        original = random.seed

        def seed(*args, **kwargs):
            self._is_seeded_by_suite = True
            return original(*args, **kwargs)

        self._seed_functions = (seed, original)
        random.seed = seed

    def _stop_noticing(self):
        if self._seed_functions is not None:
            import random

            ours, original = self._seed_functions
            self._seed_functions = None
            if random.seed is ours:
                random.seed = original

    def _seed_generators(self):
        if self._seed is None:
            return
        import random

        random.seed(self._seed)
        if "numpy.random" in sys.modules:
            sys.modules["numpy.random"].seed(self._seed)


def _list_files(backwards):
    """Directories come in the order of their names, or the other way round."""
    # The suite's own `os`, not our sealed copy.
    import os as theirs

    listdir, scandir = theirs.listdir, theirs.scandir

    def sorted_listdir(*args, **kwargs):
        return sorted(listdir(*args, **kwargs), reverse=backwards)

    class SortedScandir:
        def __init__(self, *args, **kwargs):
            with scandir(*args, **kwargs) as entries:
                self._entries = iter(sorted(entries, key=lambda entry: entry.name, reverse=backwards))

        def __iter__(self):
            return self

        def __next__(self):
            return next(self._entries)

        def __enter__(self):
            return self

        def __exit__(self, *exception):
            pass

        def close(self):
            pass

    theirs.listdir, theirs.scandir = sorted_listdir, SortedScandir


def _press():
    """Busy processes, two for every processor; they end with the run, or with its process group. They are nobody's
    children here: a test that waits for any child must not find them."""
    run = os.getpid()
    between = os.fork()
    if between:
        os.waitpid(between, 0)
        return
    for _ in range(2 * (os.cpu_count() or 1)):
        if os.fork() == 0:
            while _is_there(run):
                sum(range(100_000))
            os._exit(0)
    os._exit(0)


def _is_there(pid):
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
