import os

import pytest
from shop import config


def test_currency_default():  # victim of test_currency_from_environment
    assert config.currency() == "EUR"


def test_currency_from_environment():  # polluter: sets a variable and leaves it
    os.environ["SHOP_CURRENCY"] = "CHF"
    assert config.currency() == "CHF"


def test_currency_with_monkeypatch(monkeypatch):
    monkeypatch.setenv("SHOP_CURRENCY", "USD")
    assert config.currency() == "USD"


def test_debug_is_off():
    assert not config.debug()


@pytest.mark.parametrize("size", ["1", "20", "50", "100"])
def test_page_size(size, monkeypatch):
    monkeypatch.setenv("SHOP_PAGE_SIZE", size)
    assert config.page_size() == int(size)
