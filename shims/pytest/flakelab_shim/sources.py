"""Other text for some files, read where they are imported: nothing is written, and no bytecode of theirs is
read."""

import _frozen_importlib_external as _importing
import warnings

from .sealed import os

_Loader = _importing.SourceFileLoader
_get_code = _Loader.get_code


def quietly(compiling, *args, **options):
    """What a compiler warns of in code that is not the user's, `-W error` must not turn into a failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return compiling(*args, **options)


def install(texts):
    """`texts` by the real path of the file."""

    def get_code(self, fullname):
        text = texts.get(os.path.realpath(self.path))
        if text is None:
            return _get_code(self, fullname)
        return quietly(compile, text, self.path, "exec", dont_inherit=True)

    _Loader.get_code = get_code
