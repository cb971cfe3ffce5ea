"""Who wants to know what."""

LISTENERS = []


def subscribe(listener):
    LISTENERS.append(listener)
    return listener


def unsubscribe(listener):
    LISTENERS.remove(listener)


def publish(event):
    return [listener(event) for listener in LISTENERS]
