"""Imports that leave no trace: the suite must not find modules in `sys.modules` that only flakelab loaded.

A test that uses `concurrent.futures` without importing it fails alone and passes after a test that does
import it; a module that the shim happened to load would hide exactly that.
"""

import sys


class Hidden:
    """Modules imported inside the `with` block are forgotten by `sys.modules` at its end."""

    def __enter__(self):
        self._before = set(sys.modules)
        return self

    def __exit__(self, *exc):
        for name in set(sys.modules) - self._before:
            del sys.modules[name]
            parent, _, child = name.rpartition(".")
            if parent in sys.modules:
                vars(sys.modules[parent]).pop(child, None)
        return False
