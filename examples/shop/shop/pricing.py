"""Taxes and totals."""

from decimal import ROUND_HALF_UP, Decimal

RATES = {"default": Decimal("0.10"), "books": Decimal("0.05")}
_INITIAL = dict(RATES)


def rate(category="default"):
    return RATES.get(category, RATES["default"])


def tax(amount, category="default"):
    return (Decimal(amount) * rate(category)).quantize(Decimal("0.01"), ROUND_HALF_UP)


def total(amount, category="default"):
    return Decimal(amount) + tax(amount, category)


def reset():
    RATES.clear()
    RATES.update(_INITIAL)
