"""`lab`: a small pytest project in a directory of its own, measured by the real shim."""

import sys
import textwrap
from pathlib import Path

import pytest

_HERE = Path(__file__).resolve().parent
for _each in (_HERE, _HERE.parents[1] / "shims" / "pytest"):
    if str(_each) not in sys.path:
        sys.path.insert(0, str(_each))

import harness  # noqa: E402


class Lab:
    def __init__(self, base):
        self.base = base
        self.root = base / "project"
        self.root.mkdir()

    def write(self, **files):
        """`test_a=…` is the file test_a.py; two underscores are a slash."""
        for name, text in files.items():
            path = self.root / (name.replace("__", "/") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        return self

    def run(self, *order, arguments=(), mode="cold", environment=(), **layers):
        """Without layers a run of today."""
        arguments = ["-p", "no:cacheprovider", *arguments]
        done = harness.run(self.root, order, arguments, layers or None, mode, environment, base=self.base)
        assert done.events[-1] == {"k": "end"}, done.output
        return done


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path)
