"""What `detect` costs: a fork, a whole detection against iPFlakies, flakelab itself on a large suite."""

import json
import os
import pty
import shutil
import sqlite3
import subprocess
from pathlib import Path

from .common import FLAKELAB, ROOT, children_cpu, click_project, cpu_of, detect, own_usage, venv


def bench_fork(scratch):
    """One test by fork against a cold `pytest one_test`, on click's own suite."""
    project, python, version = click_project(scratch)
    _, document, store = detect(project, python, scratch, "--orders", "1", "--isolated-runs", "1")
    with sqlite3.connect(store) as db:
        forked, count = db.execute(
            "SELECT avg(cpu_us) / 1e6, count(*) FROM runs WHERE isolation = 'fork' AND length(tests) = 4"
        ).fetchone()
    stable = [t["id"] for t in document["tests"] if t["class"] == "stable"]
    sample = stable[:: max(1, len(stable) // 10)][:10]
    cold = sum(
        cpu_of([python, "-m", "pytest", "-q", test], cwd=project, stdout=subprocess.DEVNULL) for test in sample
    ) / len(sample)
    print(f"fork: click {version}, {len(document['tests'])} tests")
    print(f"  cold `pytest one_test`        {cold * 1000:8.1f} ms CPU  (mean of {len(sample)})")
    print(f"  the same by fork              {forked * 1000:8.1f} ms CPU  (mean of {count})")
    print(f"  ratio                         {cold / forked:8.1f}")


def bench_ipflakies(scratch):
    """detect against iPFlakies with as many orders, on the example of 64 tests."""
    theirs, ours = Path(scratch, "theirs"), Path(scratch, "ours")
    for copy in (theirs, ours):
        shutil.copytree(ROOT / "examples/shop", copy, ignore=shutil.ignore_patterns(".flakelab", "__pycache__"))
    python = venv("pytest8", "pytest==8.*") / "bin/python"
    their_cpu = ipflakies(theirs, "-i", "100")
    found = json.loads((theirs / "ipflakies_result/flakies.json").read_text())
    their_tests = {name for name in found if "::" in name}
    our_cpu, document, _ = detect(ours, python, scratch, "--orders", "100")
    our_tests = {t["id"] for t in document["tests"] if t["class"] not in ("stable", "always_failing", "not_run")}
    print("\nipflakies: examples/shop, 64 tests, 100 orders")
    print(f"  iPFlakies                     {their_cpu:8.1f} s CPU   {len(their_tests)} flaky tests")
    print(f"  flakelab detect               {our_cpu:8.1f} s CPU   {len(our_tests)} flaky tests")
    print(f"  found by iPFlakies only       {len(their_tests - our_tests):8d}")
    print(f"  ratio                         {their_cpu / our_cpu:8.1f}")


def ipflakies(project, *arguments):
    """CPU seconds of iPFlakies, which calls `python3` and asks its terminal for its width."""
    env = venv("ipflakies", "ipflakies")
    os.environ["PATH"] = f"{env / 'bin'}:{os.environ['PATH']}"
    here = os.getcwd()
    os.chdir(project)
    before = children_cpu()
    pty.spawn([str(env / "bin/python3"), "-m", "ipflakies", *arguments], lambda fd: os.read(fd, 65536) and b".")
    spent = children_cpu() - before
    os.chdir(here)
    return spent


def bench_scale(scratch):
    """The share of flakelab itself on a suite of 5,000 trivial tests."""
    project = Path(scratch, "large")
    project.mkdir()
    for number in range(50):
        tests = "".join(f"def test_{n}():\n    pass\n\n\n" for n in range(100))
        (project / f"test_{number}.py").write_text(tests)
    python = venv("pytest8", "pytest==8.*") / "bin/python"
    command = [FLAKELAB, "detect", project, "--python", python, "--seed", "1", "--quiet", "--orders", "20"]
    total, own, memory = own_usage([*command, "--store", Path(scratch, "store"), "-o", Path(scratch, "large.txt")])
    print("\nscale: 5,000 trivial tests, 20 orders")
    print(f"  all CPU time                  {total:8.1f} s")
    print(f"  of which flakelab itself      {own:8.1f} s")
    print(f"  share                         {100 * own / total:8.1f} %")
    print(f"  peak memory of flakelab       {memory:8.1f} MB")
