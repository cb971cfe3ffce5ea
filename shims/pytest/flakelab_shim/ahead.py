"""Plugins ahead: fresh interpreters as forks of one that has loaded the plugins of the environment as well.

A handful of plugins takes longer to load than pytest and most tests together. They may be shared if nothing of the
project came with them, nothing runs beside them, and pytest finds the same configuration whatever tests it is given.
"""

import copy
import sys

from .outcome import FOREIGN
from .sealed import os

# Where pytest looks for its configuration and for the root of a project, in any version.
CONFIGURATION = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg")
ROOT = ("setup.py",)


class Ahead:
    """In a zygote: noted where pytest is about to load conftest files, asked for when the suite is collected."""

    def __init__(self, repair):
        self._repair = repair
        self._alone = False

    def before_conftests(self, config, args):
        self._alone = self._repair.obstacle() is None and not _modules_below(_roots(config))

    def works(self, session):
        return self._alone and _is_settled(session)


def _roots(config):
    return {os.path.realpath(str(config.rootpath)), os.path.realpath(str(config.invocation_params.dir))}


def _modules_below(roots):
    """Whether a module of these directories has been imported."""
    library = os.path.dirname(os.path.realpath(os.__file__)) + os.sep
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if not isinstance(path, str):
            continue
        path = os.path.realpath(path)
        if path.startswith(library) or any(part in path for part in FOREIGN):
            continue
        if any(path.startswith(root.rstrip(os.sep) + os.sep) for root in roots):
            return True
    return False


def _is_settled(session):
    """Whether no file on the way from the configuration to a test could be another configuration."""
    config = session.config
    if config.inipath is None and config.rootpath != config.invocation_params.dir:
        return False
    if getattr(config.option, "pyargs", False):
        return False
    base = str(config.rootpath if config.inipath is None else config.inipath.parent)
    seen = set()
    for item in session.items:
        folder = os.path.dirname(str(item.path))
        while folder != base and folder not in seen:
            seen.add(folder)
            if any(os.path.exists(os.path.join(folder, name)) for name in CONFIGURATION + ROOT):
                return False
            folder, below = os.path.dirname(folder), folder
            if folder == below:
                return False
    return True


def name_tests(config, args, before, given):
    """Has pytest go on with other arguments where it has parsed these, and is about to load conftest files."""
    args[len(args) - len(before) :] = given
    namespace = config._parser.parse_known_args(args, namespace=copy.copy(config.option))
    if namespace.confcutdir is None:
        namespace.confcutdir = config.known_args_namespace.confcutdir
    config.known_args_namespace = namespace
