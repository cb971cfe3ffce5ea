"""What is in stock."""

STOCK = {}


class OutOfStock(Exception):
    pass


def load(items):
    STOCK.update(items)


def take(name, count=1):
    if STOCK.get(name, 0) < count:
        raise OutOfStock(name)
    STOCK[name] -= count
    return STOCK[name]


def put(name, count=1):
    STOCK[name] = STOCK.get(name, 0) + count
    return STOCK[name]
