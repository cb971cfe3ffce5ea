"""`lab`: a small pytest project in a directory of its own, run in a process of its own."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

_HERE = Path(__file__).resolve().parent
_SHIM = _HERE.parents[1] / "shims" / "pytest"


class Lab:
    def __init__(self, base):
        self.root = base / "project"
        self.home = base / "home"
        self.scratch = base / "scratch"
        for each in (self.root, self.home, self.scratch):
            each.mkdir()

    def write(self, **files):
        """`test_a=…` is the file test_a.py; two underscores are a slash."""
        for name, text in files.items():
            path = self.root / (name.replace("__", "/") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        return self

    def run(self, *arguments, **job):
        job.setdefault("root", str(self.root))
        job.setdefault("directories", [str(self.root), str(self.home)])
        job.update(scratch=str(self.scratch), shim=str(_SHIM), answer=str(self.scratch / "answer.json"))
        (self.scratch / "job.json").write_text(json.dumps(job))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        environment.update(
            LEAKS_JOB=str(self.scratch / "job.json"),
            PYTHONPATH=str(_HERE),
            PYTHONDONTWRITEBYTECODE="1",
            HOME=str(self.home),
        )
        command = [sys.executable, "-m", "pytest", "-q", "-p", "driver", "-p", "no:cacheprovider", *arguments]
        done = subprocess.run(
            command, cwd=self.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100
        )
        answer = self.scratch / "answer.json"
        assert answer.exists(), done.stdout.decode()
        found = json.loads(answer.read_text())
        answer.unlink()
        return Answer(found, done.stdout.decode())


class Answer:
    def __init__(self, found, output):
        self.__dict__.update(found)
        self.output = output
        self.ids = [change["id"] for change in self.changes]

    def change(self, id):
        found = [change for change in self.changes if change["id"] == id]
        assert found, "no %s among\n%s" % (id, "\n".join(self.ids + self.notes))
        return found[0]


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path)


@pytest.fixture
def flips(lab):
    """The target fails after the polluter, and passes once the one change has been put back."""

    def check(id, *arguments, **job):
        plain = lab.run(*arguments, **job)
        assert plain.target == "failed", plain.output
        change = plain.change(id)
        assert change["restorable"], change
        restored = lab.run(*arguments, restore=[id], **job)
        assert restored.restored == [[id, True]], restored.ids
        assert restored.target == "passed", restored.output
        assert id not in restored.left
        return change

    return check
