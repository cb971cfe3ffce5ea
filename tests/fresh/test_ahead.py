"""Plugins are loaded ahead of fresh interpreters only where nobody can tell."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SHIM = Path(__file__).parents[2] / "shims" / "pytest"
# A pytest that says whether its plugins may be loaded ahead, and with which arguments it goes on.
ASK = """
import json, os, sys
import pytest

sys.path.insert(0, {shim!r})
from flakelab_shim.ahead import Ahead, name_tests
from flakelab_shim.forked import ForkRepair

sys.path.pop(0)


class Channel:
    def descriptors(self):
        return ()


class Asking:
    def __init__(self):
        self.ahead = Ahead(ForkRepair(Channel(), "", None))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config, args):
        self.ahead.before_conftests(early_config, args)
        if {given!r}:
            name_tests(early_config, args, {before!r}, {given!r})
        yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        config = session.config
        answer = {{"works": self.ahead.works(session), "ids": [item.nodeid for item in session.items]}}
        answer.update(root=str(config.rootpath), conftests=config.option.confcutdir, k=config.option.keyword)
        with open({out!r}, "w") as out:
            json.dump(answer, out)
        return True


pytest.main({before!r}, plugins=[Asking()])
"""
TEST = "def test_a():\n    pass\n\n\ndef test_b():\n    pass\n"


def asked(folder, files, before=(), given=()):
    project, out = folder / "project", folder / "answer.json"
    for name, text in {"tests/test_it.py": TEST, **files}.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    program = ASK.format(shim=str(SHIM), out=str(out), before=list(before), given=list(given))
    done = subprocess.run([sys.executable, "-c", program], cwd=project, capture_output=True, text=True)
    assert out.exists(), done.stdout + done.stderr
    return json.loads(out.read_text())


ROOT = {"pytest.ini": "[pytest]\n"}
PLUGIN = "def pytest_report_header():\n    return 'here'\n"
THREAD = "import threading, time\nthreading.Thread(target=time.sleep, args=(5,), daemon=True).start()\n"


@pytest.mark.parametrize(
    "files, before",
    [({}, []), (ROOT, []), (ROOT, ["tests"]), ({**ROOT, "conftest.py": THREAD}, ["-p", "no:cacheprovider"])],
    ids=["without configuration", "with it", "a folder named", "what conftest files do comes later"],
)
def test_plugins_of_the_environment_are_loaded_ahead(tmp_path, files, before):
    assert asked(tmp_path, files, before)["works"]


@pytest.mark.parametrize(
    "files, before",
    [
        ({**ROOT, "own.py": PLUGIN}, ["-p", "own"]),
        ({**ROOT, "own.py": PLUGIN, "pytest.ini": "[pytest]\naddopts = -p own\npythonpath = .\n"}, []),
        ({**ROOT, "tests/setup.cfg": "[tool:pytest]\n"}, []),
        ({**ROOT, "tests/pyproject.toml": ""}, []),
        ({"setup.py": "", "tests/setup.py": ""}, ["tests"]),
        (ROOT, ["--pyargs", "tests/test_it.py"]),
    ],
    ids=["own plugin", "own plugin in addopts", "nested setup.cfg", "nested pyproject", "nested root", "pyargs"],
)
def test_what_belongs_to_the_project_is_not(tmp_path, monkeypatch, files, before):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "project"))
    assert not asked(tmp_path, files, before)["works"]


def test_a_plugin_with_a_thread_is_not(tmp_path, monkeypatch):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "busy.py").write_text(THREAD)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "outside"))
    assert not asked(tmp_path, ROOT, ["-p", "busy"])["works"]
    (tmp_path / "outside" / "busy.py").write_text(PLUGIN)
    assert asked(tmp_path, ROOT, ["-p", "busy"])["works"]


def test_other_arguments_take_the_place_of_the_given_ones(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k 'test_a or test_b'")
    configured = {"pytest.ini": "[pytest]\naddopts = -q\n", "other/test_other.py": TEST}
    options = ["-p", "no:cacheprovider"]
    ids = ["other/test_other.py::test_b", "tests/test_it.py::test_a"]
    answer = asked(tmp_path, configured, [*options, "tests"], [*options, *ids])
    plain = asked(tmp_path, {}, [*options, *ids])
    assert answer["ids"] == ids
    assert answer == plain and answer["k"] == "test_a or test_b"
