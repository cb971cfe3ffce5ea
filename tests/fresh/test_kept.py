"""The shim's own bytecode is kept for the next interpreter, and nobody else's."""

import shutil
import subprocess
import sys
from pathlib import Path

SHIM = Path(__file__).parents[2] / "shims" / "pytest"


def test_runs_write_no_bytecode_but_the_shims(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SHIM / "flakelab_shim", tmp_path / "shim" / "flakelab_shim", ignore=ignored)
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "other.py").write_text("")
    program = "import sys; sys.path[:0] = %r\n" % [str(tmp_path / "shim"), str(tmp_path / "project")]
    program += "import flakelab_shim.channel, flakelab_shim.leaks.change, other; assert sys.dont_write_bytecode"
    subprocess.run([sys.executable, "-B", "-c", program], check=True)
    kept = {path.name.split(".")[0] for path in (tmp_path / "shim").rglob("*.pyc")}
    assert {"channel", "sealed", "change"} <= kept
    assert not list((tmp_path / "project").rglob("*.pyc"))
