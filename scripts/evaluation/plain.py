"""The judge: plain pytest in a new process, with nothing of flakelab."""

import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

LIMIT = 300
# More culprits than these say nothing new of a patch.
MOST_ORDERS = 12
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
ORDER_PLUGIN = """
import json, os


def pytest_collection_modifyitems(items):
    by = {}
    for item in items:
        by.setdefault(item.nodeid, item)
    items[:] = [by[name] for name in json.loads(open(os.environ["ORDER_FILE"]).read()) if name in by]


def pytest_runtest_logreport(report):
    with open(os.environ["OUTCOME_FILE"], "a") as file:
        file.write(json.dumps([report.nodeid, report.outcome]) + "\\n")
"""


def copied(subject, here):
    """The same subject in a copy of its sources, so that no run finds what another one left."""
    copy = Path(here, "project")
    shutil.copytree(subject.project, copy, symlinks=True, ignore=shutil.ignore_patterns(".flakelab"))
    return type(subject)(**{**vars(subject), "project": copy})


def show(subject, test, command):
    """What a printed command says of a test: `fails`, `passes`, or why it says nothing."""
    with tempfile.TemporaryDirectory() as here:
        copy = copied(subject, here)
        try:
            run = subprocess.run(
                ["sh", "-c", command],
                cwd=copy.project,
                env=copy.environment(here),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LIMIT,
            )
        except subprocess.TimeoutExpired:
            return f"does not end in {LIMIT} s"
    text = ESCAPES.sub("", run.stdout)
    # A line of the summary: the id, and maybe why.
    failing = re.search(rf"^(FAILED|ERROR) {re.escape(test)}( - |$)", text, re.MULTILINE)
    if failing:
        return "fails"
    return "passes" if run.returncode in (0, 1) else f"exit code {run.returncode}"


def outcome(subject, order, test):
    """What a test does in an order of its own."""
    with tempfile.TemporaryDirectory() as here:
        copy = copied(subject, here)
        for name, text in (("order.json", json.dumps(order)), ("evaluation_order.py", ORDER_PLUGIN)):
            Path(here, name).write_text(text)
        outcomes = Path(here, "outcomes")
        environment = copy.environment(here)
        environment["PYTHONPATH"] += f":{here}"
        environment.update(ORDER_FILE=str(Path(here, "order.json")), OUTCOME_FILE=str(outcomes))
        files = list(dict.fromkeys(name.split("::")[0] for name in order))
        command = [copy.python, "-m", "pytest", *copy.pytest_args, "-q", "-p", "evaluation_order", *files]
        try:
            subprocess.run(
                command,
                cwd=copy.project,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LIMIT,
            )
        except subprocess.TimeoutExpired:
            return "does not end"
        lines = outcomes.read_text().splitlines() if outcomes.exists() else []
    seen = [result for name, result in map(json.loads, lines) if name == test]
    if not seen:
        return "does not run"
    return "fails" if "failed" in seen else "is skipped" if "skipped" in seen else "passes"


def patch_holds(subject, test, diff, orders):
    """Whether a test passes with a patch, alone and in every order given; else what happened."""
    with tempfile.TemporaryDirectory() as here:
        copy = copied(subject, here)
        text = diff if diff.endswith("\n") else diff + "\n"
        applied = subprocess.run(
            ["git", "apply", "--whitespace=nowarn", "-"], cwd=copy.project, input=text, capture_output=True, text=True
        )
        if applied.returncode:
            return "does not apply"
        for order in [[test], *orders[:MOST_ORDERS]]:
            said = outcome(copy, order, test)
            if said != "passes":
                return f"{said} {'alone' if order == [test] else 'after its culprits'}"
    return "holds"
