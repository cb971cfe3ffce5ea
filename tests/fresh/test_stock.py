"""Libraries are loaded ahead of changed code only where a fork has shown that nothing else comes with them."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

SHIM = Path(__file__).parents[2] / "shims" / "pytest"
# Loads what is noted in a folder, and says which of the modules are there then.
LOAD = """
import json, sys

sys.path[:0] = [{shim!r}, {libraries!r}, {project!r}]
from flakelab_shim.stock import Stock

Stock({folder!r}).load()
print(json.dumps([name for name in {names!r} if name in sys.modules]))
"""
LIBRARIES = {
    "plain": "import quiet",
    "quiet": "VALUE = 1",
    "broken": "raise RuntimeError('not without its settings')",
    "threaded": "import threading, time\nthreading.Thread(target=time.sleep, args=(5,), daemon=True).start()",
    "opening": "FILE = open(__file__)",
    "nosy": "import project_code",
}


def loaded(tmp_path, noted, names):
    libraries, project, folder = tmp_path / "site-packages", tmp_path / "project", tmp_path / "kept"
    for place in (libraries, project, folder):
        place.mkdir()
    for name, text in LIBRARIES.items():
        (libraries / (name + ".py")).write_text(text)
    (project / "project_code.py").write_text("VALUE = 2")
    (folder / "libraries").write_text(noted)
    program = LOAD.format(
        shim=str(SHIM), libraries=str(libraries), project=str(project), folder=str(folder), names=names
    )
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True, timeout=60)
    return json.loads(done.stdout)


def test_libraries_are_loaded_with_what_they_need(tmp_path):
    assert loaded(tmp_path, json.dumps(["plain"]), ["plain", "quiet", "nosy"]) == ["plain", "quiet"]


def test_one_that_cannot_be_loaded_yet_keeps_no_other_from_it(tmp_path):
    assert loaded(tmp_path, json.dumps(["broken", "quiet"]), ["broken", "quiet"]) == ["quiet"]


@pytest.mark.parametrize("name", ["threaded", "opening", "nosy"])
def test_nothing_is_loaded_where_a_thread_a_file_or_the_project_comes_with_it(tmp_path, name):
    assert loaded(tmp_path, json.dumps(["quiet", name]), ["quiet", name, "project_code"]) == []


@pytest.mark.parametrize("noted", ["", "[", "{}", "7", '[1, null, ["quiet"]]', '["quiet"'])
def test_what_makes_no_sense_is_passed_over(tmp_path, noted):
    assert loaded(tmp_path, noted, ["quiet"]) == []


# A pytest that notes what its suite has loaded.
NOTE = """
import sys
import pytest

sys.path.insert(0, {shim!r})
from flakelab_shim import stock

sys.path.pop(0)


class Noting:
    def pytest_runtestloop(self, session):
        stock.note(session, {folder!r})
        return True


pytest.main(["-q", "-p", "no:cacheprovider"], plugins=[Noting()])
"""


def test_what_a_suite_has_loaded_is_noted_without_the_project_and_its_plugins(tmp_path):
    project, folder = tmp_path / "project", tmp_path / "kept"
    project.mkdir()
    folder.mkdir()
    (project / "conftest.py").write_text('pytest_plugins = ["code"]\n')
    (project / "own.py").write_text("import wave")
    test = """
        import own


        def test_own():
            pass
    """
    (project / "test_own.py").write_text(textwrap.dedent(test))
    program = NOTE.format(shim=str(SHIM), folder=str(folder))
    subprocess.run([sys.executable, "-c", program], cwd=project, stdout=subprocess.PIPE, check=True, timeout=60)
    names = json.loads((folder / "libraries").read_text())
    assert "wave" in names
    # Of the project, a plugin, and what pytest rewrites.
    assert not {"own", "test_own", "conftest", "code"} & set(names)
    assert len(list(folder.iterdir())) == 1
