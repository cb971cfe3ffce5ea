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
    manager = config.pluginmanager.get_plugin("capturemanager")
    _spare_empty(getattr(manager, "_global_capturing", None))


def _take_off(hook, plugin):
    try:
        hook._remove_plugin(plugin)
    except (AttributeError, ValueError):
        pass


def _spare_empty(capturing):
    """Nothing was printed in most phases of most tests, and to read and cut an empty file takes a dozen calls."""
    for name in ("out", "err"):
        capture = getattr(capturing, name, None)
        if type(capture).__name__ == "FDCapture" and not _looks_first(type(capture)):
            _look_first(capture)


def _looks_first(kind):
    """pytest does it itself by now, with functions that tests may replace."""
    return "fstat" in getattr(getattr(kind.snap, "__code__", None), "co_names", ())


def _look_first(capture):
    read, file = capture.snap, capture.tmpfile
    descriptor = file.fileno()

    def is_empty():
        try:
            info = os.fstat(descriptor)
            # What a test has put in its place has a name somewhere, and is for pytest to stumble over.
            if info.st_size or info.st_nlink or file.closed or not file.write_through:
                return False
            return os.lseek(descriptor, 0, os.SEEK_CUR) == 0
        except (OSError, ValueError):
            return False

    capture.snap = lambda: capture.EMPTY_BUFFER if is_empty() else read()
