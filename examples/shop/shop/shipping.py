"""Shipping zones. The table of postal codes is made once, at import, as such tables tend to be."""

import bisect
import re

ZONES = ("city", "region", "country")
POSTCODE = re.compile(r"(?P<area>\d{2})(?P<street>\d{3})")


def _table():
    table = []
    for code in range(100_000):
        area, street = POSTCODE.match("%05d" % code).groups()
        table.append((code, ZONES[(int(area) * 7 + int(street)) % 3]))
    return table


TABLE = _table()
CODES = [code for code, _ in TABLE]


def zone(postcode):
    return TABLE[bisect.bisect_left(CODES, int(postcode))][1]


def cost(postcode):
    return {"city": 0, "region": 300, "country": 600}[zone(postcode)]
