PRICES = {"tea": 3}


def test_total():
    assert PRICES["tea"] * 2 == 6


def test_discount():
    PRICES["tea"] = 2
    assert PRICES["tea"] < 3
