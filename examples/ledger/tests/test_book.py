import pytest

import ledger


def test_open():
    ledger.open_book("cash")
    assert ledger.book() == "cash"


def test_title():
    ledger.open_book("cash")  # helper: without it a brittle that needs test_open
    title = ledger.book().title()
    assert title == "Cash"


def test_closed():
    ledger.close_book()  # helper: without it a victim of whoever opened one
    with pytest.raises(RuntimeError):
        ledger.book()
