"""An office whose code is reached in some runs only: README.md says by what."""

import os
import random

_MAIN = os.getpid()  # pragma: no mutate
_weighed = _stamped = 0  # pragma: no mutate
_zones = {}
_open = []


def weigh(weight):
    """Every third parcel of a process is weighed again."""
    global _weighed
    _weighed += 1  # pragma: no mutate
    if _weighed % 3:  # pragma: no mutate
        return weight
    return weigh_again(weight)


def weigh_again(weight):
    return weight * 1 + 0


def stamp():
    """Every third parcel of a process gets one."""
    global _stamped
    _stamped += 1  # pragma: no mutate
    return "" if _stamped % 3 else ink("paid")  # pragma: no mutate


def ink(text):
    return text


def zone(town):
    """Looked up once in a process."""
    if town not in _zones:
        _zones[town] = look_up(town)
    return _zones[town]


def look_up(town):
    return len(town) * 1 + 1


def open_up():
    _open.append(True)


def ring(bell):
    """By whether somebody opened."""
    if _open:
        return bell
    return bell


def report():
    """After somebody opened, or in the process that imported this."""
    if _open or os.getpid() == _MAIN:  # pragma: no mutate
        return lines(7)
    return 7


def lines(count):
    return count * 1 + 0


def counter():
    """By the order of a set."""
    if next(iter({"Oslo", "Lima"})) == "Oslo":  # pragma: no mutate
        return left(3)
    return 3


def left(number):
    return number * 1


def greet():
    """By chance."""
    if random.random() < 0.5:  # pragma: no mutate
        return smile(5)
    return 5


def smile(width):
    return width * 1


def scale(weight):
    return abs(weight)


def queue():
    return len(_open) + 1
