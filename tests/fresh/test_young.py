"""Few searches for garbage while a suite is collected, and the usual ones from then on."""

import gc
import sys
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


def test_what_was_collected_is_old(usual):
    young = Young()
    young.begin()
    gc.collect()
    kept = [[] for _ in range(2 * usual[0])]
    assert gc.get_count()[0] >= len(kept)
    young.end()
    # The next search has nothing of that to look at.
    assert sum(gc.get_count()[:2]) < usual[0]
    assert gc.get_freeze_count() == 0


def test_what_a_suite_settles_itself_stays():
    young = Young()
    young.begin()
    gc.set_threshold(123, 4, 5)
    young.end()
    assert gc.get_threshold() == (123, 4, 5)


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
