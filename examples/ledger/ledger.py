"""A small ledger that keeps its book in the module, as small ledgers do."""

ENTRIES = []
SETTINGS = {"currency": "EUR"}
_book = None


def reset():
    ENTRIES.clear()


def record(amount):
    ENTRIES.append(amount)


def total():
    return sum(ENTRIES)


def use(currency):
    SETTINGS["currency"] = currency


def currency():
    return SETTINGS["currency"]


def open_book(name):
    global _book
    _book = name


def close_book():
    global _book
    _book = None


def book():
    if _book is None:
        raise RuntimeError("no book is open")
    return _book
