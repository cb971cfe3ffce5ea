"""Libraries, loaded ahead of changed code: whoever imports a project for one mutant after the other need not import
what it builds on each time, which may take much longer.

A zygote writes down which modules of libraries a collected suite has loaded; a template that is to run changed code
loads them, once a fork of it has shown that nothing of the project comes with them and nothing is left running. A test
that can tell that a library is there too early can tell it without a change as well: before it kills, it is run without
one, in such a template too.
"""

import json
import sys
import types

from .ahead import is_foreign
from .outcome import FOREIGN
from .sealed import os

NAME = "libraries"
# More than any suite has; a file that somebody else has written is not read to its end.
MOST_BYTES = 1 << 20


def note(session, folder):
    """In a zygote that has collected."""
    root = os.path.realpath(str(session.config.rootpath))
    if any(part in root for part in FOREIGN):
        return
    plugins = {id(plugin) for plugin in session.config.pluginmanager.get_plugins()}
    folders = {}
    names = [name for name, module in list(sys.modules.items()) if _is_library(name, module, plugins, folders)]
    being_written = os.path.join(folder, "%s.%d" % (NAME, os.getpid()))
    try:
        with open(being_written, "w", encoding="utf-8") as file:
            json.dump(names, file)
        os.rename(being_written, os.path.join(folder, NAME))
    except (OSError, ValueError):
        pass


def _is_library(name, module, plugins, folders):
    """Not what pytest treats in a way of its own: plugins, and modules whose assertions it rewrites. `folders` are
    those that were looked up before."""
    if type(module) is not types.ModuleType or id(module) in plugins:
        return False
    spec = getattr(module, "__spec__", None)
    path = getattr(module, "__file__", None)
    if spec is None or spec.name != name or not isinstance(path, str):
        return False
    if type(spec.loader).__module__.startswith("_pytest") or os.path.islink(path):
        return False
    folder = os.path.dirname(path)
    if folder not in folders:
        folders[folder] = is_foreign(os.path.realpath(folder) + os.sep)
    return folders[folder]


class Stock:
    """In a template."""

    def __init__(self, folder):
        self._folder = folder
        self._is_loaded = False

    def load(self):
        if self._is_loaded:
            return
        self._is_loaded = True
        names = self._names()
        if names and _is_harmless(names):
            _load(names)

    def _names(self):
        try:
            with open(os.path.join(self._folder, NAME), encoding="utf-8") as file:
                names = json.loads(file.read(MOST_BYTES))
        except (OSError, ValueError):
            return []
        return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _load(names):
    for name in names:
        if name not in sys.modules:
            try:
                __import__(name)
            except BaseException:  # it belongs to somebody else, and may need what is not there yet
                pass


def _is_harmless(names):
    """Whether loading them brings nothing of the project, starts nothing and opens nothing: tried in a fork."""
    pid = os.fork()
    if pid == 0:
        try:
            before = set(sys.modules), _descriptors()
            _load(names)
            new = [sys.modules.get(name) for name in set(sys.modules) - before[0]]
            paths = [path for path in (getattr(module, "__file__", None) for module in new) if isinstance(path, str)]
            is_ours = all(is_foreign(os.path.realpath(path)) for path in paths)
            is_quiet = len(os.listdir("/proc/self/task")) == 1 and _descriptors() == before[1]
            os._exit(0 if is_ours and is_quiet else 1)
        finally:
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    return status == 0


def _descriptors():
    return len(os.listdir("/proc/self/fd"))
