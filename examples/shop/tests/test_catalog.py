import pytest
from shop import catalog


def test_price_of_a_lamp():  # victim of test_start_sale and test_start_members together
    assert catalog.price("lamp") == 4000


def test_start_sale():  # half a polluter
    catalog.start("sale")
    assert "sale" in catalog.CAMPAIGNS


def test_start_members():  # the other half
    catalog.start("members")
    assert "members" in catalog.CAMPAIGNS


def test_search():
    assert catalog.search("oo") == ["book"]


@pytest.mark.parametrize("name, slug", [("Pen", "pen"), ("Big Book", "big-book"), ("", ""), ("A B C", "a-b-c")])
def test_slug(name, slug):
    assert catalog.slug(name) == slug
