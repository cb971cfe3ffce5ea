"""Imports with few searches for garbage, of which they leave none.

Python searches after every few hundred new objects, and through all of them now and then. While pytest, its plugins and
a suite are imported that is much of the time, and in a fork every object that is looked at is copied. While tests run,
nothing of this is in place.
"""

import gc

# As many new objects at a time as most suites make while they are collected. It is no more, so that the garbage of one
# that makes much of it stays bounded.
_MANY = 100_000


class Young:
    def __init__(self):
        self._usual = self._ours = None

    def begin(self):
        self._usual = gc.get_threshold()
        self._ours = (_MANY, *self._usual[1:])
        gc.set_threshold(*self._ours)

    def end(self):
        """What there is now is old, as if it had been searched."""
        if self._usual is None or gc.get_threshold() != self._ours:
            # Somebody has settled that.
            return
        if gc.get_freeze_count() == 0:
            gc.freeze()
            gc.unfreeze()
        gc.set_threshold(*self._usual)
