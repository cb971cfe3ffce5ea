#!/usr/bin/env python3
"""Compares flakelab's forked runs with plain pytest, test by test.

usage: differential.py PYTHON PROJECT --flakelab PATH [--orders 50] [--seed 1] [-- PYTEST ARGS]
       differential.py PYTHON PROJECT --store FILE --document FILE [--orders 50]

Runs `flakelab detect` on a copy of the project, or takes a campaign that was made with this interpreter. Every
random order and its outcomes come from the store, and the same order is executed with plain pytest in a fresh
process. The only thing added to plain pytest is a plugin that sorts the collected items and writes down the outcome
of each. Tests that flakelab itself reports as non-deterministic are left out of the comparison. Exits with 1 if
anything else differs.
"""

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

ORDER_PLUGIN = """
import json, os
import pytest

REPORTS = {}


def pytest_collection_modifyitems(items):
    by = {}
    for item in items:
        by.setdefault(item.nodeid, item)
    items[:] = [by[name] for name in json.loads(open(os.environ["ORDER_FILE"]).read()) if name in by]


def pytest_runtest_logreport(report):
    REPORTS.setdefault(report.nodeid, []).append((report.when, report.outcome, hasattr(report, "wasxfail")))


def pytest_sessionfinish():
    with open(os.environ["OUTCOME_FILE"], "w") as file:
        file.write(json.dumps(REPORTS))


@pytest.hookimpl(trylast=True)
def pytest_unconfigure():
    # All is told. For a small suite, looking for garbage and tidying up would take much of the time.
    os._exit(0)
"""


def outcome(reports):
    """flakelab's word for what pytest reported."""
    failed = [when for when, result, _ in reports if result == "failed"]
    if failed:
        return "failed" if "call" in failed else "errored"
    skipped = [xfail for _, result, xfail in reports if result == "skipped"]
    if skipped:
        return "xfailed" if skipped[0] else "skipped"
    if any(xfail for when, _, xfail in reports if when == "call"):
        return "xpassed"
    return "passed"


def orders_in(store):
    """(test ids, outcome words) of every random order of the last campaign."""
    db = sqlite3.connect(store)
    campaign, suite = db.execute("SELECT id, suite FROM campaigns ORDER BY id DESC LIMIT 1").fetchone()
    ids = json.loads(suite)
    rows = db.execute(
        "SELECT id, tests FROM runs WHERE campaign = ? AND isolation = 'fork' AND attempt < 10000", (campaign,)
    ).fetchall()
    for run, blob in rows:
        numbers = [int.from_bytes(blob[at : at + 4], "little") for at in range(0, len(blob), 4)]
        # Whole permutations only: neither tests alone nor tests twice nor shortened orders.
        if sorted(numbers) == list(range(len(ids))):
            words = [w for (w,) in db.execute("SELECT outcome FROM executions WHERE run = ? ORDER BY position", (run,))]
            yield [ids[n] for n in numbers], words


def plain(python, project, order, pytest_args, scratch):
    """The outcomes of one order under plain pytest, in a copy of the project."""
    here = Path(tempfile.mkdtemp(dir=scratch))
    copy = here / "project"
    shutil.copytree(project, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", ".flakelab"))
    for name in ("home", "tmp", "plugin"):
        (here / name).mkdir()
    (here / "plugin/differential_order.py").write_text(ORDER_PLUGIN)
    (here / "order").write_text(json.dumps(order))
    path = os.pathsep.join([str(here / "plugin"), str(copy), str(copy / "src")])
    env = {
        **os.environ,
        "PYTHONPATH": path,
        "HOME": str(here / "home"),
        "TMPDIR": str(here / "tmp"),
        "ORDER_FILE": str(here / "order"),
        "OUTCOME_FILE": str(here / "outcomes"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [python, "-m", "pytest", "-q", "-p", "differential_order", "-p", "no:randomly", *pytest_args]
    subprocess.run(
        command, cwd=copy, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    reports = json.loads((here / "outcomes").read_text()) if (here / "outcomes").exists() else {}
    shutil.rmtree(here, ignore_errors=True)
    return [outcome(reports[name]) if name in reports else "not_run" for name in order]


def detect(args, project, scratch):
    """The store and the document of a `detect` on a copy of the project; the document is missing where that failed."""
    copy = Path(scratch, "project")
    shutil.copytree(project, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", ".flakelab"))
    document = Path(scratch, "detect.json")
    command = [args.flakelab, "detect", str(copy), "--python", args.python, "--orders", str(args.orders)]
    command += ["--seed", str(args.seed), "--store", f"{scratch}/store", "--format", "json", "-o", str(document)]
    # As `python -m pytest` below: the project's directory is importable.
    env = {**os.environ, "PYTHONPATH": f"{copy}:{copy}/src"}
    run = subprocess.run([*command, "--", *args.pytest_args], env=env, capture_output=True, text=True)
    if not document.exists():
        print(run.stderr, file=sys.stderr)
    return Path(scratch, "store", "store.sqlite"), document


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", type=os.path.abspath)
    parser.add_argument("project", type=Path)
    parser.add_argument("--flakelab")
    parser.add_argument("--store", type=Path)
    parser.add_argument("--document", type=Path)
    parser.add_argument("--orders", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("pytest_args", nargs="*")
    args = parser.parse_args()
    if bool(args.flakelab) == bool(args.store and args.document):
        parser.error("either --flakelab, or --store and --document")
    project = args.project.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        store, document = detect(args, project, scratch) if args.flakelab else (args.store, args.document)
        if not document.exists():
            return 2
        by_chance = {t["id"] for t in json.loads(document.read_text())["tests"] if t["class"] == "non_deterministic"}
        orders = list(orders_in(store))[: args.orders]
        # One after the other: plain runs share /tmp, and real tests meet there.
        expected = [plain(args.python, project, order, args.pytest_args, scratch) for order, _ in orders]
    compared, different = 0, []
    for number, ((order, forked), plainly) in enumerate(zip(orders, expected)):
        for test, a, b in zip(order, forked, plainly):
            if test in by_chance:
                continue
            compared += 1
            if a != b:
                different.append((number, test, a, b))
    for number, test, a, b in different[:10]:
        print(f"order {number}: {test}: {a} in forks, {b} in plain pytest")
    print(f"{project.name}: {len(orders)} orders, {compared} executions compared, {len(different)} differ")
    return 1 if different or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
