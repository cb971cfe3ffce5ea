"""How far a share may be from the truth: the exact interval of Clopper and Pearson, without a library for it."""

import math

LEVEL = 0.95
# Halvings of [0, 1]: as far as doubles go.
STEPS = 60


def interval(part, whole):
    """The shares with which as few, and as many, are no surprise; for `part` of `whole` that are independent."""
    rare = (1 - LEVEL) / 2
    low = 0.0 if part == 0 else root(lambda p: 1 - at_most(part - 1, whole, p) >= rare)
    high = 1.0 if part == whole else root(lambda p: at_most(part, whole, p) <= rare)
    return low, high


def root(reached):
    """Where something begins to hold that holds at 1."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return (low + high) / 2


def at_most(most, whole, p):
    """The probability of `most` or fewer."""
    if p in (0.0, 1.0):
        return float(p == 0.0 or most >= whole)
    logs = (
        math.lgamma(whole + 1)
        - math.lgamma(k + 1)
        - math.lgamma(whole - k + 1)
        + k * math.log(p)
        + (whole - k) * math.log1p(-p)
        for k in range(most + 1)
    )
    return min(1.0, math.fsum(map(math.exp, logs)))
