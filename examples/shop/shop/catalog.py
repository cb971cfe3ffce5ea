"""Products and the campaigns that change their prices."""

import functools
import json

CAMPAIGNS = set()
PRODUCTS = json.loads('{"pen": 200, "book": 1500, "lamp": 4000}')


def start(campaign):
    CAMPAIGNS.add(campaign)


def price(name):
    cents = PRODUCTS[name]
    # Members pay less during a sale; neither alone changes anything.
    if {"sale", "members"} <= CAMPAIGNS:
        cents = cents * 9 // 10
    return cents


@functools.lru_cache(maxsize=None)
def slug(name):
    return name.lower().replace(" ", "-")


def search(text):
    return [name for name in PRODUCTS if text in name]
