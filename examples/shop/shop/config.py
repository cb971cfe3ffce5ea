"""Settings, from the environment."""

import os


def currency():
    return os.environ.get("SHOP_CURRENCY", "EUR")


def debug():
    return os.environ.get("SHOP_DEBUG") == "1"


def page_size():
    return int(os.environ.get("SHOP_PAGE_SIZE", "20"))
