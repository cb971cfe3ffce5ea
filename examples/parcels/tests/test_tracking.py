import asyncio

from parcels import tracking


def test_stops():
    assert list(tracking.stops(["Oslo", "", "Lima"])) == ["Oslo", "Lima"]


def test_scans():
    assert asyncio.run(tracking.all_scans(["a1", "b2"])) == ["A1", "B2"]


def test_days_left():
    assert tracking.days_left(49) == 3


def test_no_days_left():
    assert tracking.days_left(0) == 0
