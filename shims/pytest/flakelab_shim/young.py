"""Imports without a search for garbage, of which they leave none."""

import gc


class Young:
    """What is imported inside the `with` block, if that is wanted, is old at its end, as if it had been searched."""

    def __init__(self, wanted):
        self._wanted = wanted and gc.isenabled()

    def __enter__(self):
        if self._wanted:
            gc.disable()

    def __exit__(self, *exc):
        if self._wanted:
            gc.freeze()
            gc.unfreeze()
            gc.enable()
        return False
