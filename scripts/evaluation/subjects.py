"""What flakelab is evaluated on: well-known suites from their sdists, and projects whose truth is known."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from benches.common import newest_python, venv

PYTEST = "pytest==8.3.4"
# What each suite needs beside itself and pytest, as its own requirements say.
SUITES = {
    "click": ("8.1.8", []),
    "jinja2": ("3.1.6", ["trio==0.27.0"]),
    "werkzeug": (
        "3.1.3",
        ["cryptography==43.0.3", "ephemeral-port-reserve==1.1.4", "pytest-timeout==2.3.1", "watchdog==5.0.3"],
    ),
    "humanize": ("4.12.3", ["freezegun==1.5.1"]),
    "toolz": ("1.0.0", []),
}
AUTHOR = ["-c", "user.name=evaluation", "-c", "user.email=evaluation@example.org"]


@dataclass
class Subject:
    """A project in a directory of its own, with the interpreter that runs it."""

    name: str
    group: str
    version: str
    project: Path
    python: Path
    pytest_args: list
    # The order-dependent tests that are known, by id; none for a suite.
    truth: dict = field(default_factory=dict)

    def environment(self, scratch):
        """Sources importable, a HOME and TMPDIR of its own, and what else a verdict may depend on."""
        places = {name: Path(scratch, name.lower()) for name in ("HOME", "TMPDIR")}
        for place in places.values():
            place.mkdir(exist_ok=True)
        path = [str(self.python.parent), os.environ.get("PATH", os.defpath)]
        sources = [str(self.project), str(self.project / "src")]
        return {
            **os.environ,
            **{name: str(place) for name, place in places.items()},
            "PATH": os.pathsep.join(path),
            "PYTHONPATH": os.pathsep.join(sources),
            "TZ": "UTC",
            "LANG": "C.UTF-8",
        }


def names(truth):
    """All subjects there are: the suites first, then the projects of a truth file."""
    return [*SUITES, *truth]


def read_truth(path):
    """The projects of a truth file, by name."""
    return {project["repo"]: project for project in json.loads(Path(path).read_text())} if path else {}


def prepare(name, truth, projects, scratch):
    """A subject, with a copy of its sources below `scratch` that is a git repository."""
    if name in SUITES:
        return suite(name, scratch)
    return known(truth[name], Path(projects), scratch)


def suite(name, scratch):
    version, needs = SUITES[name]
    os.environ["PYTHON"] = newest_python()
    python = venv(f"evaluation-{name}", "pip", PYTEST, f"{name}=={version}", *needs) / "bin/python"
    del os.environ["PYTHON"]
    subprocess.run(
        [python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:"]
        + ["-d", scratch, f"{name}=={version}"],
        check=True,
    )
    archive = next(Path(scratch).glob(f"{name}-*.tar.gz"))
    # Files of other users could be neither committed nor copied in a sandbox.
    subprocess.run(["tar", "--no-same-owner", "-xzf", archive, "-C", scratch], check=True)
    project = next(place for place in Path(scratch).glob(f"{name}-*") if place.is_dir())
    for command in (["init", "-q"], ["add", "-A"], [*AUTHOR, "commit", "-q", "-m", version]):
        subprocess.run(["git", *command], cwd=project, check=True)
    return Subject(name, "suite", version, project, python, ["-p", "no:cacheprovider"])


def known(entry, projects, scratch):
    """A project of the truth: its sources in DIR/OWNER+NAME/src, its environment in DIR/OWNER+NAME/venv."""
    home = projects / entry["repo"].replace("/", "+")
    project = Path(scratch, "project")
    shutil.copytree(home / "src", project, symlinks=True, ignore=shutil.ignore_patterns(".flakelab"))
    # Not resolved: the interpreter of a virtual environment is a link whose place matters. Options of the project
    # may ask for plugins that are not installed.
    python, args = (home / "venv/bin/python").absolute(), ["-p", "no:cacheprovider", "-o", "addopts="]
    truth = {test["id"]: test for test in entry["od_tests"]}
    return Subject(entry["repo"], "known", entry["commit"][:10], project, python, args, truth)
