"""What a gated run costs against plain pytest, on jinja2's own suite."""

import subprocess
from pathlib import Path

from .common import FLAKELAB, cpu_of
from .measure import jinja2_project

RUNS = 5


def bench_gate(scratch):
    """CPU time of `filter run`, all of it, against plain pytest."""
    project, python, version = jinja2_project(scratch)
    store = Path(scratch, "store")
    options = ["--python", python, "--store", store, "--quiet"]
    learn = [FLAKELAB, "filter", "learn", project, "--runs", "3", "--version", version, "--seed", "1", *options]
    subprocess.run(learn, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    plain = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    gate = [FLAKELAB, "filter", "run", project, *options]
    # Bytecode is there from now on, for both.
    subprocess.run(plain, cwd=project, stdout=subprocess.DEVNULL)
    subprocess.run(gate, stdout=subprocess.DEVNULL)
    theirs, ours = [], []
    for _ in range(RUNS):
        theirs.append(cpu_of(plain, cwd=project, stdout=subprocess.DEVNULL))
        ours.append(cpu_of(gate, stdout=subprocess.DEVNULL))
    mean, own = sum(theirs) / RUNS, sum(ours) / RUNS
    print(f"\ngate: jinja2 {version}, the whole of `filter run`")
    print(f"  plain pytest                  {mean:8.2f} s CPU  (mean of {RUNS})")
    print(f"  filter run                    {own:8.2f} s CPU  (mean of {RUNS})   ratio {own / mean:.2f}")
