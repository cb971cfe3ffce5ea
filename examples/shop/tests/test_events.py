import pytest
from shop import events


class TestEvents:
    def test_nobody_listens(self):  # victim of test_subscribe
        assert events.publish("opened") == []

    def test_subscribe(self):  # polluter: stays subscribed
        events.subscribe(str.upper)
        assert "OPENED" in events.publish("opened")

    def test_unsubscribe(self):
        listener = events.subscribe(len)
        events.unsubscribe(listener)
        assert len not in events.LISTENERS

    def test_unsubscribe_a_stranger(self):
        with pytest.raises(ValueError):
            events.unsubscribe(object())


@pytest.mark.parametrize("event", ["opened", "sold", "sent", "closed"])
def test_every_event_reaches_a_listener(event):
    seen = []
    listener = events.subscribe(seen.append)
    events.publish(event)
    events.unsubscribe(listener)
    assert seen == [event]
