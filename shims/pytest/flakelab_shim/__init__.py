"""The Python side of flakelab: runs the user's own pytest and reports over a private descriptor.

Owns everything that must happen inside the user's interpreter. Refuses to know why a run was asked
for: it executes orders and tells what happened. Standard library and pytest only; Python 3.8 to 3.14,
pytest 7 to 9. Nothing here prints, and nothing writes outside the scratch area it was given.
"""

import _frozen_importlib_external as _importing
import sys


class _Loader(_importing.SourceFileLoader):
    """Keeps the bytecode of the shim, and of nothing else, although runs write none: every interpreter of a
    campaign, and every fork that watches, would compile it again."""

    def get_code(self, fullname):
        usual, sys.dont_write_bytecode = sys.dont_write_bytecode, False
        try:
            return super().get_code(fullname)
        finally:
            sys.dont_write_bytecode = usual


for _folder in ("", "/layers", "/leaks"):
    _folder = __path__[0] + _folder
    sys.path_importer_cache[_folder] = _importing.FileFinder(_folder, (_Loader, [".py"]))
