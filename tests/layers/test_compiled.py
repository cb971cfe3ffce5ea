"""What fresh interpreters compile is kept, and is always that of the text as it is."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SHIM = Path(__file__).resolve().parents[2] / "shims" / "pytest"
# Collects and runs as a fresh interpreter does; says which files pytest and Python had to compile.
PROGRAM = """
import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from flakelab_shim.compiled import Compiled
import pytest
from _pytest.assertion import rewrite
made, rewrite_test = [], rewrite._rewrite_test
def watched(fn, config):
    made.append(fn.name)
    return rewrite_test(fn, config)
rewrite._rewrite_test = watched
compiled = Compiled(sys.argv[2])
class Plugin:
    def __init__(self):
        self.messages = []
    def pytest_collection_finish(self):
        compiled.remove()
        self.put_back = rewrite._rewrite_test is watched
    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.messages.append(report.longrepr.reprcrash.message)
plugin = Plugin()
compiled.install()
code = int(pytest.main(["-q", "-p", "no:cacheprovider"], plugins=[plugin]))
print("\\nSAYS" + json.dumps([code, made, plugin.messages, plugin.put_back]))
"""


@pytest.fixture
def run(tmp_path):
    project, kept = tmp_path / "project", tmp_path / "kept"
    project.mkdir()
    kept.mkdir()

    def run(text):
        (project / "shop.py").write_text("PRICE = 3\n")
        (project / "test_shop.py").write_text(text)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(SHIM), str(kept)],
            cwd=str(project),
            env={**environment, "PYTHONPATH": str(project)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert "SAYS" in done.stdout, done.stdout
        return json.loads(done.stdout.split("SAYS")[1].splitlines()[0])

    run.kept = kept
    return run


RED = "import shop\n\n\ndef test_price():\n    assert shop.PRICE == 4\n"
GREEN = RED.replace("4", "3")


def test_a_file_is_compiled_once(run):
    assert run(RED) == [1, ["test_shop.py"], ["assert 3 == 4\n +  where 3 = shop.PRICE"], True]
    assert run(RED) == [1, [], ["assert 3 == 4\n +  where 3 = shop.PRICE"], True]


def test_another_text_is_compiled_anew_though_its_length_and_place_are_the_same(run):
    run(RED)
    assert run(GREEN) == [0, ["test_shop.py"], [], True]
    assert run(RED)[:2] == [1, []]


def test_what_is_broken_on_disk_is_made_again(run):
    run(GREEN)
    kept = list(run.kept.iterdir())
    assert len(kept) == 2, "the test and what it imports"
    for file in kept:
        file.write_bytes(file.read_bytes()[:10])
    assert run(GREEN) == [0, ["test_shop.py"], [], True]
