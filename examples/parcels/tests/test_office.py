import os

from parcels import office


def test_first_weight():
    assert office.weigh(5) == 5


def test_second_weight():
    assert office.weigh(6) == 6


def test_third_weight():
    assert office.weigh(7) == 7


def test_first_stamp():
    office.stamp()


def test_second_stamp():
    office.stamp()


def test_third_stamp():
    """Fails where it is not the third."""
    assert office.stamp() == "paid"


def test_zone_is_known():
    assert office.zone("Oslo")


def test_zone_is_five():
    assert office.zone("Oslo") == 5


def test_zone_is_odd():
    assert office.zone("Oslo") % 2


def test_opens():
    office.open_up()


def test_bell():
    assert office.ring("bell") == "bell"


def test_report():
    assert office.report() == 7


def test_counter():
    assert office.counter() == 3


def test_greeting():
    assert office.greet() == 5


def test_scale():
    """Passes now and then: four times in a row, before any mutant, in one of ten thousand campaigns."""
    office.scale(-2)
    assert os.urandom(1)[0] < 26


def test_queue():
    """Only where somebody opened before."""
    is_long = office.queue() > 1
    assert is_long
