"""Nothing to find here: global state, but every test puts it back."""

import os

import pytest

REGISTRY = {}


@pytest.fixture(autouse=True)
def restored_registry():
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


@pytest.mark.parametrize("name", list("abcdefgh"))
def test_register(name):
    assert name not in REGISTRY
    REGISTRY[name] = 1


def test_environment(monkeypatch):
    monkeypatch.setenv("CLEAN", "1")
    assert os.environ["CLEAN"] == "1"


def test_environment_is_clean():
    assert "CLEAN" not in os.environ


def test_temporary_file(tmp_path):
    (tmp_path / "x").write_text("y")
    assert len(list(tmp_path.iterdir())) == 1


def test_output(capsys):
    print("hello")
    assert capsys.readouterr().out == "hello\n"
