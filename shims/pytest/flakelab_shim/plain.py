"""The options of a plain command in which no rival (see rivals.py) reorders, repeats or distributes.

Where an option keeps a plugin quiet, it is added. Where none does, the plugin is not loaded, and its
options are taken out of `addopts` and of what the user gave.
"""

import shlex

from .sealed import os

# Options of plugins that no option of theirs keeps quiet; those that end in `=` take a value.
UNLOADED = {
    "pytest_reverse": ("--reverse",),
    "pytest_forked": ("--forked",),
    "pytest_parallel": ("--workers=", "--tests-per-worker="),
    "pytest_retry": ("--retries=", "--retry-delay=", "--cumulative-timing=", "--retry-outcome="),
    "flaky": (
        "--force-flaky",
        "--no-flaky-report",
        "--no-success-flaky-report",
        "--max-runs=",
        "--min-passes=",
    ),
}
# Markers of a plugin that is not loaded are unknown.
STRICT = ("--strict-markers", "--strict")


def options(session, given, modules, disarmed):
    """The user's options for a plain command, with what keeps the same rivals quiet in it; nothing is
    added where they would not speak up.

    A plugin whose own options are in use (in `addopts`, say) must stay loaded for them to parse.
    """
    option, words = session.config.option, []
    if disarmed & {"numprocesses", "dist", "distload", "tx"}:
        words += ["-n0"]
    if "maxfail" in disarmed:
        words += ["--maxfail=0"]
    if "pytest_randomly" in modules:
        unused = (
            getattr(option, "randomly_seed", "default") == "default"
            and getattr(option, "randomly_reset_seed", True)
            and getattr(option, "randomly_reorganize", True)
        )
        if unused:
            words += ["-p", "no:" + modules["pytest_randomly"]]
        else:
            words += ["--randomly-dont-reorganize", "--randomly-dont-reset-seed"]
    if "random_order" in modules and _shuffles(option):
        words += ["--random-order-bucket=none"]
    if "pytest_rerunfailures" in modules and _reruns(session):
        words += ["--force-reruns=0" if hasattr(option, "force_reruns") else "--reruns=0"]
    unloaded = [module for module in UNLOADED if module in modules and _speaks_up(module, session)]
    if not unloaded:
        return given + words
    theirs = STRICT + sum((UNLOADED[module] for module in unloaded), ())
    addopts = list(session.config.getini("addopts"))
    kept = _without(addopts, theirs)
    if kept != addopts:
        words += ["-o", "addopts=" + shlex.join(kept)]
    for module in unloaded:
        words += ["-p", "no:" + modules[module]]
    return _without(given, theirs) + words


def _without(words, options):
    """The words of a command line but for these options and their values."""
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word + "=" in options:
            skip = True
        elif word not in options and word.split("=", 1)[0] + "=" not in options:
            kept.append(word)
    return kept


def _speaks_up(module, session):
    """Whether a plugin would reverse, fork or repeat a test of this suite if it were left alone."""
    option = session.config.option
    if _given(os.environ.get("PYTEST_ADDOPTS", ""), UNLOADED[module]):
        # Not ours to change: without the plugin they would not parse.
        return False
    if module == "pytest_reverse":
        return bool(getattr(option, "reverse", False))
    if module == "pytest_forked":
        return bool(getattr(option, "forked", False)) or _marked(session, "forked")
    if module == "pytest_parallel":
        names = ("workers", "tests_per_worker")
        return any(getattr(option, name, None) or _ini(session, name) for name in names)
    if _marked(session, "flaky"):
        return True
    if module == "pytest_retry":
        return bool(getattr(option, "retries", None) or _ini(session, "retries"))
    return bool(getattr(option, "force_flaky", False)) or any(map(_decorated, session.items))


def _given(text, options):
    try:
        words = shlex.split(text)
    except ValueError:
        return False
    return _without(words, options) != words


def _marked(session, name):
    return any(item.get_closest_marker(name) for item in session.items)


def _decorated(item):
    """Whether `@flaky` stands above a test or its class."""
    return any(hasattr(getattr(item, name, None), "_flaky_max_runs") for name in ("obj", "cls"))


def _ini(session, name):
    try:
        return session.config.getini(name)
    except (KeyError, ValueError):
        return None


def _shuffles(option):
    given = (getattr(option, name, "default:") for name in ("random_order_bucket", "random_order_seed"))
    return getattr(option, "random_order_enabled", False) or any(not str(v).startswith("default:") for v in given)


def _reruns(session):
    option = session.config.option
    if getattr(option, "reruns", None) or getattr(option, "force_reruns", None):
        return True
    return bool(_ini(session, "reruns")) or _marked(session, "flaky")
