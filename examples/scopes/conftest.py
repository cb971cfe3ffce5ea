import pytest

LOG = []


@pytest.fixture(scope="session")
def session_log():
    LOG.append("session")
    yield LOG
    LOG.clear()
