"""Imports with few searches for garbage.

Python searches after every few hundred new objects, and through all of them now and then. While pytest, its plugins and
a suite are imported that is much of the time, and in a fork every object that is looked at is copied. What a suite left
is searched once when it is collected. While tests run, nothing of this is in place; only who has read the threshold
when it was imported has seen another one.
"""

import gc

# As many new objects at a time as most suites make while they are collected. It is no more, so that the garbage of one
# that makes much of it stays bounded; and no round number, which a suite could have chosen itself.
_MANY = 100_003


class Young:
    def __init__(self):
        self._usual = self._ours = None

    def begin(self):
        usual = gc.get_threshold()
        if 0 < usual[0] < _MANY:
            self._usual, self._ours = usual, (_MANY, *usual[1:])
            gc.set_threshold(*self._ours)

    def age(self):
        """What there is now is old, and nobody searches it soon. Not for what may be garbage."""
        if self._is_ours() and gc.get_freeze_count() == 0:
            gc.freeze()
            gc.unfreeze()

    def end(self):
        if self._is_ours():
            gc.collect(0)
            self.age()
            gc.set_threshold(*self._usual)

    def _is_ours(self):
        """Whether nobody else has settled that since."""
        return self._ours is not None and gc.get_threshold() == self._ours
