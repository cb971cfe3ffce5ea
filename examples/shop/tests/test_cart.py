import pytest
from shop.cart import Cart


@pytest.fixture
def cart():
    return Cart()


class TestCart:
    def test_is_empty(self, cart):
        assert cart.count() == 0

    def test_add(self, cart):
        assert cart.add("pen").count() == 1

    def test_add_twice(self, cart):
        assert cart.add("pen").add("pen").lines == {"pen": 2}

    def test_remove(self, cart):
        cart.add("pen").remove("pen")
        assert cart.count() == 0

    def test_remove_what_is_not_there(self, cart):
        with pytest.raises(KeyError):
            cart.remove("pen")

    def test_shipping(self, cart):
        assert cart.shipping("10115") == 0
        assert cart.add("pen").shipping("10115") in (0, 300, 600)

    def test_carts_are_apart(self, cart):
        other = Cart().add("pen")
        assert cart.lines != other.lines

    def test_confirmation(self, cart):
        assert 'name="pen"' in cart.add("pen").confirmation("ada@example.org").get_content()
