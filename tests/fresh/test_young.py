"""Few searches for garbage while a suite is collected, and the usual ones from then on."""

import gc
import sys
import weakref
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "shims" / "pytest"))
from flakelab_shim.young import Young  # noqa: E402


@pytest.fixture(autouse=True)
def usual():
    before = gc.get_threshold()
    yield before
    gc.unfreeze()
    gc.set_threshold(*before)


def test_collecting_is_rarely_interrupted_and_tests_are_as_usual(usual):
    young = Young()
    young.begin()
    assert gc.isenabled() and gc.get_threshold()[0] > 10 * usual[0]
    young.end()
    assert gc.isenabled() and gc.get_threshold() == usual


@pytest.mark.parametrize("how", ["age", "end"])
def test_what_was_imported_is_old(usual, how):
    young = Young()
    young.begin()
    gc.collect()
    kept = [[] for _ in range(2 * usual[0])]
    assert _is_in(kept[0], 0) and gc.get_count()[0] >= len(kept)
    getattr(young, how)()
    # Few searches look that far.
    assert not _is_in(kept[0], 0) and not _is_in(kept[0], 1)
    assert gc.get_freeze_count() == 0


def _is_in(thing, generation):
    return any(each is thing for each in gc.get_objects(generation))


class Thing:
    pass


def test_what_a_suite_left_is_searched_once():
    young = Young()
    young.begin()
    young.age()
    one, gone = Thing(), []
    one.itself = one
    weakref.finalize(one, gone.append, 1)
    del one
    assert not gone
    young.end()
    assert gone


@pytest.mark.parametrize("first", [0, 10**6])
def test_who_seldom_searches_anyway_goes_on_like_that(first):
    gc.set_threshold(first, 5, 5)
    young = Young()
    young.begin()
    assert gc.get_threshold()[0] == first
    young.end()
    assert gc.get_threshold()[0] == first


def test_what_a_suite_settles_itself_stays():
    young = Young()
    young.begin()
    gc.set_threshold(100_000, 4, 5)
    young.end()
    assert gc.get_threshold()[:2] == (100_000, 4)


def test_what_a_suite_has_frozen_stays_frozen(usual):
    young = Young()
    young.begin()
    gc.freeze()
    young.end()
    assert gc.get_freeze_count() > 0
    assert gc.get_threshold() == usual


def test_without_a_beginning_there_is_no_end(usual):
    Young().end()
    assert gc.get_threshold() == usual
