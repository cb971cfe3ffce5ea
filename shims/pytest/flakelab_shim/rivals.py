"""Plugins and options that would fight over the order, the repetition or the process of a test.

They are silenced after they have registered their options, so that `addopts = -n 4 --reruns 2` still
parses and a `conftest.py` that implements their hooks still validates; the rest of each plugin is
unregistered. pytest-xdist stays (suites use its `worker_id` fixture) and is told not to distribute.
"""

import sys

from . import plain

# Modules of plugins that reorder at random, repeat failures, or run tests in processes of their own.
UNREGISTERED = {
    "pytest_randomly",
    "random_order",
    "pytest_rerunfailures",
    "flaky",
    "pytest_retry",
    "pytest_reverse",
    "pytest_forked",
    "pytest_parallel",
}
MARKERS = (
    "flaky: rerun a failing test (silenced by flakelab)",
    "random_order: control shuffling (silenced by flakelab)",
    "forked: run in a forked process (silenced by flakelab)",
)
# Options of pytest itself and of plugins that stay, with the value that makes them harmless.
OPTIONS = {
    "maxfail": 0,
    "stepwise": False,
    # Either of them turns it on again.
    "stepwise_skip": False,
    "stepwise_reset": False,
    # Counted from the start of an interpreter that lives as long as the campaign.
    "session_timeout": None,
    "usepdb": False,
    "trace": False,
    "collectonly": False,
    "setuponly": False,
    "setupplan": False,
    "dist": "no",
    "distload": False,
    "numprocesses": None,
    "tx": [],
    "looponfail": False,
    "xmlpath": None,
    "no_cov": True,
    "cov_source": None,
}


class Rivals:
    def __init__(self):
        self.silenced = []
        self._modules = {}
        self._disarmed = set()

    def seen(self, plugin, manager):
        """Called for every plugin as soon as it has been registered."""
        module = getattr(plugin, "__name__", None) or type(plugin).__module__
        top = str(module).split(".", 1)[0]
        if top in UNREGISTERED and manager.is_registered(plugin):
            name = manager.get_name(plugin)
            manager.unregister(plugin)
            if name:
                self.silenced.append(name)
                self._modules[top] = name

    def disarm(self, namespace):
        for name, value in OPTIONS.items():
            given = getattr(namespace, name, value)
            if given != value:
                setattr(namespace, name, value)
                if given:
                    self._disarmed.add(name)

    def disarm_session(self, config):
        """What has been set up from a configuration file by now."""
        expires = getattr(sys.modules.get("pytest_timeout"), "SESSION_EXPIRE_KEY", None)
        if expires is not None and config.stash.get(expires, 0):
            config.stash[expires] = 0

    def plain_options(self, session, given):
        """The user's options for a plain command in which the same rivals are quiet."""
        return plain.options(session, given, self._modules, self._disarmed)

    def declare_markers(self, config):
        for marker in MARKERS:
            config.addinivalue_line("markers", marker)
