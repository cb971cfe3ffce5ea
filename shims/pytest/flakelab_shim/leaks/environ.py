"""Environment variables and the working directory."""

import re
import time

from ..sealed import os
from . import change as ranks
from .reading import MISSING, instance_dict
from .table import Table

_tzset = time.tzset
# Set by pytest itself around every phase of a test.
_IGNORED = frozenset(["PYTEST_CURRENT_TEST"])
_NAME = re.compile(r'os\.environ\["(.*)"\]', re.DOTALL)


class Environ(Table):
    """Read from the dictionary inside `os.environ`, as the interpreter started with it."""

    kind = "environ"
    rank = ranks.PROJECT

    def read(self):
        data = instance_dict(os.environ).get("_data", {})
        return {_text(key): _text(value) for key, value in dict.items(data) if _text(key) not in _IGNORED}

    def peek(self, key):
        return dict.get(instance_dict(os.environ)["_data"], os.fsencode(key), MISSING)

    def name(self, key):
        return 'os.environ["%s"]' % key

    def candidates(self, name):
        found = _NAME.fullmatch(name)
        return [found.group(1)] if found else []

    def put(self, key, state):
        data = instance_dict(os.environ)["_data"]
        if state is MISSING:
            os.unsetenv(key)
            dict.pop(data, os.fsencode(key), None)
        else:
            os.putenv(key, state)
            dict.__setitem__(data, os.fsencode(key), os.fsencode(state))
        if key == "TZ":
            _tzset()


def _text(value):
    return os.fsdecode(value) if type(value) is bytes else str(value)


class Directory(Table):
    """The working directory, by its path."""

    kind = "cwd"
    rank = ranks.PROJECT

    def read(self):
        try:
            return {"working directory": os.getcwd()}
        except OSError:
            return {"working directory": "(removed)"}

    def put(self, key, state):
        os.chdir(state)

    def restorable(self, key, before, after):
        return before != "(removed)"
