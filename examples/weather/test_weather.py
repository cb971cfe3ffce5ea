"""Tests that always pass. Nine of them see something else whenever their factor changes."""

import datetime
import uuid

import station


def test_tour():
    assert station.tour()[0] in station.CITIES


def test_greeting():
    assert station.greeting() in ("good morning", "good day", "good evening")


def test_sunrise():
    assert station.sunrise() < "24:00"


def test_degrees():
    assert station.degrees(21) in ("21°C", "21 degC")


def test_readings():
    assert station.readings() >= 1


def test_is_quick():
    assert station.is_quick() in (True, False)


def test_gust():
    assert station.gust() >= 0


def test_buffer_page():
    assert station.buffer_page() > 0


def test_links():
    assert station.links() is not None


def test_average_is_always_the_same():
    assert station.average([1, 2, 3]) == 2


def test_addresses_uuids_and_times_are_masked(tmp_path):
    report = [repr(object()), str(uuid.uuid4()), datetime.datetime.now(), str(tmp_path)]
    assert report != []


def test_sets_are_compared_whatever_their_order():
    assert station.CITIES == {"Cairo", "Delhi", "Lima", "Oslo", "Quito", "Tunis"}
