"""Options that would end the runs of a campaign are harmless, those of pytest's own plugins too."""

import sys
import types
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "shims" / "pytest"))

from flakelab_shim.rivals import Rivals  # noqa: E402


def test_no_option_turns_stepwise_or_a_time_limit_of_the_session_on_again(monkeypatch):
    given = types.SimpleNamespace(stepwise=True, stepwise_skip=True, stepwise_reset=True, session_timeout=3.0)
    Rivals().disarm(given)
    assert not (given.stepwise or given.stepwise_skip or given.stepwise_reset)
    assert given.session_timeout is None
    # Of a configuration file: the plugin has set it up already.
    plugin = types.ModuleType("pytest_timeout")
    key = plugin.SESSION_EXPIRE_KEY = pytest.StashKey()
    monkeypatch.setitem(sys.modules, "pytest_timeout", plugin)
    config = types.SimpleNamespace(stash=pytest.Stash())
    config.stash[key] = 1234.5
    Rivals().disarm_session(config)
    assert config.stash[key] == 0


def test_where_no_plugin_limits_the_session_nothing_is_touched(monkeypatch):
    monkeypatch.delitem(sys.modules, "pytest_timeout", raising=False)
    config = types.SimpleNamespace(stash=pytest.Stash())
    Rivals().disarm_session(config)
    assert len(config.stash) == 0
