"""The pytest plugin: takes over after collection and hands the collected items to a driver.

Registered as an object, never by name, so that nothing has to be importable in the user's environment.
Everything before `pytest_runtestloop` is plain pytest with the user's configuration and plugins.
"""

import pytest

from .channel import clean
from .outcome import Recorder, describe
from .rivals import Rivals


class Plugin:
    def __init__(self, drive, before_parse=None, before_conftests=None):
        self.recorder = Recorder()
        self.rivals = Rivals()
        self.collection_errors = []
        self._drive = drive
        self._before_parse = before_parse
        self._before_conftests = before_conftests

    # -- before collection: no plugin may fight over the order --------------------------------------

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_cmdline_parse(self, pluginmanager, args):
        if self._before_parse is not None:
            self._before_parse(pluginmanager, args)
        yield

    def pytest_plugin_registered(self, plugin, manager):
        self.rivals.seen(plugin, manager)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config, args):
        if self._before_conftests is not None:
            self._before_conftests(early_config, args)
        self.rivals.disarm(early_config.known_args_namespace)
        yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_cmdline_main(self, config):
        self.rivals.disarm(config.option)
        yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config):
        self.rivals.disarm(config.option)
        self.rivals.declare_markers(config)

    # -- collection ----------------------------------------------------------------------------------

    def pytest_collectreport(self, report):
        if report.failed:
            entry = describe_collection(report)
            self.collection_errors.append(entry)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        self.rivals.disarm_session(session.config)
        self._drive(session, self)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session):
        # Only reached by the first of two sessions: nothing of ours is for the user's next run to see.
        cache = getattr(session.config, "cache", None)
        if cache is not None:
            cache.set = lambda key, value: None

    # -- executions ----------------------------------------------------------------------------------

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        if call.excinfo is not None:
            self.recorder.raising(call.excinfo)
        # Afterwards: pytest's own plugin for unittest puts the exception there first.
        yield
        if call.excinfo is not None:
            self.recorder.raised(call.when, call.excinfo, str(item.config.rootpath))

    def pytest_runtest_logreport(self, report):
        self.recorder.see(report)


def describe_collection(report):
    report.when = "setup"
    found = describe(report)
    message = found["m"]
    longrepr = getattr(report, "longreprtext", "") or message
    lines = [line for line in longrepr.splitlines() if line.startswith("E ")]
    return {
        "id": clean(report.nodeid, 1_000),
        "m": clean("\n".join(line[1:].strip() for line in lines) or longrepr[-2_000:], 4_000),
    }
