from decimal import Decimal

import pytest
from shop import pricing


def test_default_rate():  # victim of test_tax_override
    assert pricing.rate() == Decimal("0.10")


def test_tax_override():  # polluter: never puts the rate back
    pricing.RATES["default"] = Decimal("0.50")
    assert pricing.tax(10) == Decimal("5.00")


def test_reset():  # cleaner
    pricing.reset()
    assert pricing.RATES["books"] == Decimal("0.05")


def test_books_are_taxed_less():
    assert pricing.rate("books") < Decimal("0.10")


@pytest.mark.parametrize("amount, expected", [(0, "0.00"), (1, "0.05"), (10, "0.50"), (99, "4.95")])
def test_tax_on_books(amount, expected):
    assert pricing.tax(amount, "books") == Decimal(expected)
