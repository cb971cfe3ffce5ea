import pytest
from parcels import tariff


@pytest.mark.parametrize("weight, cost", [(1, 5), (2, 5), (30, 19), (31, 20)])
def test_price(weight, cost):
    assert tariff.price(weight) == cost


def test_express():
    assert tariff.express(3) == 6


def test_box():
    box = tariff.Box(11)
    assert box.heavy
    assert not box.fragile
    assert box.sides == 6


def test_boxes():
    assert [box.weight for box in tariff.Box.pack([3, 0, 1])] == [3, 1]


def test_insured():
    assert tariff.insured(500) == 500
    assert tariff.insured(900) == 0
