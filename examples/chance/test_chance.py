"""Tests that vary although nothing around them does, and two that only seem to."""

import os
import random
import uuid

# Seeded at import: a fork must not reseed it (CPython does), or test_seeded fails in forks only.
random.seed(20)
FIRST = random.random()


def test_coin():  # non-deterministic
    assert uuid.uuid4().int % 3


def test_hash():  # non-deterministic: depends on PYTHONHASHSEED
    assert hash("flakelab") % 2 == 0


def test_seeded():
    random.seed(20)
    assert random.random() == FIRST


def test_continues_the_seeded_stream():
    # What a run draws first after import is decided by the seed, in a fork as in a fresh interpreter.
    state = random.getstate()
    random.seed(20)
    random.random()
    assert random.getstate() == state
    random.setstate(state)


def test_process_id():
    assert os.getpid() > 0
