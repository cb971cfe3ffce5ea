"""Arrays and scalars of numpy, where it is installed."""

import pytest
from flakelab_shim.layers.digest import Digest

numpy = pytest.importorskip("numpy")


def test_scalars_and_arrays():
    text = Digest().text
    assert text(numpy.float64(1.5)) == "numpy.float64(1.5)"
    assert text(numpy.int32(3)) == "numpy.int32(3)"
    assert text(numpy.array([1, 2], dtype="int8")) == "numpy.ndarray(|i1, (2,), [1, 2])"
    large = numpy.arange(1000.0)
    assert text(large) == text(large.copy()) != text(large + 1)
    assert text(numpy.array([object(), 1], dtype=object)) == "numpy.ndarray(|O, (2,), [<object>, 1])"
