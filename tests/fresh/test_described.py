"""What describing a failure takes is there in every fork of a template, and no module that pytest has not imported."""

import subprocess
import sys
from pathlib import Path

SHIM = Path(__file__).parents[2] / "shims" / "pytest"

PROGRAM = """
import sys
sys.path.insert(0, {shim!r})
import pytest
before = set(sys.modules)
from flakelab_shim import described
described.prepare()
assert {{name for name in set(sys.modules) - before if not name.startswith("flakelab_shim")}} == set()

import inspect, os, re, tokenize
def nobody(*_):
    raise AssertionError("looked up again")
compiler = re._compiler if hasattr(re, "_compiler") else re.sre_compile
os.path.realpath = compiler.compile = nobody
assert inspect.getmodule(compile("", "another file", "exec")) is None
assert len(list(tokenize.generate_tokens(iter(["x\\n"]).__next__))) > 1
"""


def test_nothing_is_looked_up_again():
    subprocess.run([sys.executable, "-B", "-c", PROGRAM.format(shim=str(SHIM))], check=True)
