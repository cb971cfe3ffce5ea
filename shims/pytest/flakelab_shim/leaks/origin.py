"""Whose code a module is: the project's, a third party's, Python's own, or pytest's and ours."""

import sys

from ..sealed import os
from .reading import instance_dict, module_dict

PROJECT, THIRD_PARTY, STANDARD, IGNORED = "project", "third_party", "standard", "ignored"

# Whoever has these names is not the project.
_NEVER_A_PROJECT = frozenset("_pytest pytest flakelab_shim".split())
# The machinery that runs the tests changes all the time, and no test depends on it; a project may be called like a
# part of it.
_IGNORED = frozenset(
    "_pytest pytest pluggy py iniconfig flakelab_shim xdist execnet coverage pytest_cov _virtualenv"
    " _distutils_hack importlib _frozen_importlib _frozen_importlib_external _imp zipimport encodings codecs"
    " linecache re sre_compile sre_parse _sre tokenize token _warnings".split()
)
_ENVIRONMENTS = frozenset([".venv", "venv", ".tox", ".nox", "site-packages", "dist-packages", "node_modules", ".eggs"])
_LIBRARY = os.path.dirname(os.__file__)
_STANDARD = frozenset(getattr(sys, "stdlib_module_names", ())) | frozenset(sys.builtin_module_names)
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Project:
    """Which files are the project's own: below its root, and not in an environment inside of it."""

    def __init__(self, root):
        root = os.path.abspath(root)
        self.root = root
        self._roots = [each.rstrip("/") + "/" for each in dict.fromkeys((root, os.path.realpath(root)))]
        self._prefixes = [
            prefix.rstrip("/") + "/"
            for prefix in {sys.prefix, sys.base_prefix, sys.exec_prefix}
            if any(prefix.startswith(each) for each in self._roots)
        ]
        self._known = {}

    def relative(self, path):
        """The path below the root if the file is the project's, else None."""
        try:
            return self._known[path]
        except KeyError:
            found = self._known[path] = self._relative(path)
            return found

    def _relative(self, path):
        if path.startswith("<") or path.startswith(_OURS + "/"):
            return None
        full = path if path.startswith("/") else os.path.join(self.root, path)
        full = os.path.normpath(full)
        if any(full.startswith(each) for each in self._prefixes):
            return None
        for root in self._roots:
            if full.startswith(root):
                inner = full[len(root) :]
                return None if _ENVIRONMENTS.intersection(inner.split("/")) else inner
        return None


class Origins:
    """Answers by the name of a module; a module made up at run time counts as the project's."""

    def __init__(self, project):
        self._project = project
        self._known = {}

    def of(self, name):
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._find(name, dict.get(sys.modules, name))
        return found

    def _find(self, name, module):
        top = name.partition(".")[0]
        if top in _NEVER_A_PROJECT:
            return IGNORED
        path = _place(module)
        if type(path) is str and self._project.relative(path) is not None:
            return PROJECT
        if top in _IGNORED:
            return IGNORED
        if type(path) is str:
            if name == "__main__":
                return IGNORED
            if top in _STANDARD:
                return STANDARD
            inside = path.startswith(_LIBRARY + "/") and not _ENVIRONMENTS.intersection(path.split("/"))
            return STANDARD if inside else THIRD_PARTY
        if name == "__main__":
            return IGNORED
        if top in _STANDARD:
            return STANDARD
        if top != name and top in sys.modules:
            # A part of an extension, or a `__module__` that nobody imported: the package decides.
            return self.of(top)
        return PROJECT if module is None else THIRD_PARTY


def _place(module):
    """A file of the module, or the first directory of a package without one; None if there is neither."""
    try:
        attributes = module_dict(module)
    except TypeError:
        return None
    path = attributes.get("__file__")
    if type(path) is not str:
        inner = instance_dict(attributes.get("__path__")).get("_path")
        path = inner[0] if type(inner) is list and inner else None
    return path if type(path) is str else None
