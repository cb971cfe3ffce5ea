"""Nobody reads what pytest prints of an execution, so it need not be made."""

from .sealed import os

# Who closes its output notices: nobody is to be told that it was not closed.
_KEPT = []


def mute(config):
    """From here on: no progress, and no tracebacks beyond the line that failed. Standard error stays, for what a crash
    says."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
    config.option.tbstyle = "line"
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if getattr(getattr(reporter, "_tw", None), "_file", None) is not None:
        reporter._tw._file = open(os.devnull, "w")
        _KEPT.append(reporter._tw._file)
        for name in ("pytest_runtest_logstart", "pytest_runtest_logreport", "pytest_runtest_logfinish"):
            _take_off(getattr(config.hook, name), reporter)


def _take_off(hook, plugin):
    try:
        hook._remove_plugin(plugin)
    except (AttributeError, ValueError):
        pass
