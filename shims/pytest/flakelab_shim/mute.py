"""Nobody reads what pytest prints in a run of ours."""

from .sealed import os


def mute(config):
    """Nobody reads what pytest prints from here on, so it need not be made: progress, and tracebacks
    beyond the line that failed. Standard error stays, for what a crash says."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
    config.option.tbstyle = "line"
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    writer = getattr(reporter, "_tw", None)
    if getattr(writer, "_file", None) is not None:
        writer._file = open(os.devnull, "w")
        # Colouring the differences between two values takes longer than most tests.
        writer.hasmarkup = False
        for name in ("pytest_runtest_logstart", "pytest_runtest_logreport", "pytest_runtest_logfinish"):
            _take_off(getattr(config.hook, name), reporter)


def _take_off(hook, plugin):
    try:
        hook._remove_plugin(plugin)
    except (AttributeError, ValueError):
        pass
