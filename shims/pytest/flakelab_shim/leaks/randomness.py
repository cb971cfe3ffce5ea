"""The global generators of random numbers: of `random`, and of numpy where it has been imported."""

import _random
import sys
import zlib

from . import change as ranks
from .reading import MISSING, instance_dict
from .table import Table

_NAMES = {"random": "state of the random module", "numpy": "state of numpy.random"}


class Randomness(Table):
    kind = "random"
    rank = ranks.RANDOM

    def read(self):
        found = {}
        generator = getattr(sys.modules.get("random"), "_inst", None)
        if generator is not None:
            found["random"] = (_random.Random.getstate(generator), instance_dict(generator).get("gauss_next"))
        numpy = _numpy()
        if numpy is not None:
            name, keys, *rest = numpy.get_state()
            found["numpy"] = (name, keys.tobytes(), *rest)
        return found

    def same(self, key, before, after):
        # Imported since: whoever asks a generator that nobody seeded expects nothing of it.
        return before is MISSING or after is MISSING or before == after

    def name(self, key):
        return _NAMES[key]

    def show(self, key, state):
        return "state %08x" % zlib.crc32(repr(state).encode())

    def put(self, key, state):
        if key == "random":
            generator = sys.modules["random"]._inst
            _random.Random.setstate(generator, state[0])
            instance_dict(generator)["gauss_next"] = state[1]
        else:
            numpy = sys.modules["numpy"]
            _numpy().set_state((state[0], numpy.frombuffer(state[1], dtype=numpy.uint32), *state[2:]))


def _numpy():
    return getattr(sys.modules.get("numpy.random.mtrand"), "_rand", None)
