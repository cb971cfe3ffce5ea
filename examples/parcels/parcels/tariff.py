"""What a parcel costs. The same tests reach this in every run."""

import functools

BASE = 4
LIMITS = [2, 30]


def whole(function):
    @functools.wraps(function)
    def rounded(*args):
        return int(function(*args))

    return rounded


def times(rate):
    def of(price):
        return price * rate

    return of


express = times(2)


class Box:
    sides = 6
    kind = "box"

    def __init__(self, weight, fragile=False):
        self.weight = weight
        self.fragile = fragile

    @property
    def heavy(self):
        return self.weight > 10

    @staticmethod
    def pack(weights):
        return [Box(weight) for weight in weights if weight]


@whole
def price(weight, rate=0.5):
    total = BASE + weight * rate
    if weight < LIMITS[0] or weight > LIMITS[1]:
        total += 1
    return total


def insured(value):
    try:
        if value > 500:
            raise ValueError("too much")
    except ValueError:
        return 0
    return value


def refund(paid):
    return paid - 1
