import pytest
from shop import inventory


def test_load():  # state-setter
    inventory.load({"pen": 5})
    assert inventory.STOCK["pen"] >= 5


def test_take():  # brittle: nobody but test_load puts pens there
    assert inventory.take("pen") >= 0
    inventory.put("pen")


def test_put():
    assert inventory.put("lamp") >= 1


def test_take_too_many():
    with pytest.raises(inventory.OutOfStock):
        inventory.take("unicorn")


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_put_and_take(count):
    before = inventory.STOCK.get("book", 0)
    inventory.put("book", count)
    assert inventory.take("book", count) == before
