import pytest
from shop import report

ORDERS = [
    {"customer": "ada", "amount": 10},
    {"customer": "bob", "amount": 20},
    {"customer": "cid", "amount": 60},
]


@pytest.fixture(scope="module")
def orders():
    return [dict(order) for order in ORDERS]


def test_first_customer(orders):  # non-deterministic: a set has no first
    assert list(report.customers(orders))[0] != "cid"


def test_customers(orders):
    assert report.customers(orders) == {"ada", "bob", "cid"}


def test_mean(orders):
    assert report.mean(orders) == 30


def test_csv_has_a_header(orders):
    assert report.to_csv(orders).startswith("customer,amount")


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_csv_has_a_line_for_each_order(orders, count):
    assert len(report.to_csv(orders[:count]).splitlines()) == count + 1
