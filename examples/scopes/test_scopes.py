"""Fixtures of every scope, shared and torn down in whatever order the tests come."""

import asyncio

import pytest


@pytest.fixture(scope="module")
def basket():
    return []


@pytest.fixture(scope="module", params=["cash", "card"])
def payment(request):
    return request.param


@pytest.fixture(scope="class")
def counter():
    return {"count": 0}


class TestCounter:
    def test_starts_at_zero(self, counter):  # victim of test_counts
        assert counter["count"] == 0

    def test_counts(self, counter):  # polluter, within its class only
        counter["count"] += 1
        assert counter["count"] == 1

    class TestNested:
        def test_nested(self, session_log):
            assert "session" in session_log


def test_basket_is_empty(basket):  # victim of test_fills_the_basket
    assert basket == []


def test_fills_the_basket(basket):  # polluter
    basket.append("pen")


@pytest.mark.parametrize("name", ["a b", "c[d]", "é", "x::y"])
def test_names(name):
    assert name


def test_payment(payment):
    assert payment in ("cash", "card")


def test_async_code():
    async def answer():
        await asyncio.sleep(0)
        return 42

    assert asyncio.new_event_loop().run_until_complete(answer()) == 42


@pytest.mark.skip(reason="always skipped")
def test_skipped():
    assert False


@pytest.mark.xfail(reason="always fails")
def test_expected_failure():
    assert False


def test_always_fails():
    assert False, "broken for good"
