"""Plugins and options that would fight over the order, the repetition or the process of a test.

They are silenced after they have registered their options, so that `addopts = -n 4 --reruns 2` still
parses and a `conftest.py` that implements their hooks still validates; the rest of each plugin is
unregistered. pytest-xdist stays (suites use its `worker_id` fixture) and is told not to distribute.
"""

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

    def plain_options(self, session):
        """What keeps the same rivals quiet in a plain command; nothing where they would not speak up.

        A plugin whose own options are in use (in `addopts`, say) must stay loaded for them to parse.
        """
        option, words = session.config.option, []
        if self._disarmed & {"numprocesses", "dist", "distload", "tx"}:
            words += ["-n0"]
        if "maxfail" in self._disarmed:
            words += ["--maxfail=0"]
        if "pytest_randomly" in self._modules:
            unused = (
                getattr(option, "randomly_seed", "default") == "default"
                and getattr(option, "randomly_reset_seed", True)
                and getattr(option, "randomly_reorganize", True)
            )
            if unused:
                words += ["-p", "no:" + self._modules["pytest_randomly"]]
            else:
                words += ["--randomly-dont-reorganize", "--randomly-dont-reset-seed"]
        if "random_order" in self._modules and _shuffles(option):
            words += ["--random-order-bucket=none"]
        if "pytest_rerunfailures" in self._modules and _reruns(session):
            words += ["--force-reruns=0" if hasattr(option, "force_reruns") else "--reruns=0"]
        return words

    def declare_markers(self, config):
        for marker in MARKERS:
            config.addinivalue_line("markers", marker)


def _shuffles(option):
    given = (getattr(option, name, "default:") for name in ("random_order_bucket", "random_order_seed"))
    return getattr(option, "random_order_enabled", False) or any(not str(v).startswith("default:") for v in given)


def _reruns(session):
    option = session.config.option
    if getattr(option, "reruns", None) or getattr(option, "force_reruns", None):
        return True
    try:
        if session.config.getini("reruns"):
            return True
    except (KeyError, ValueError):
        pass
    return any(item.get_closest_marker("flaky") for item in session.items)
