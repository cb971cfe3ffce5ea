"""What `measure` costs: each layer against plain pytest on jinja2's own suite, store and memory on a large suite."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from .common import FLAKELAB, ROOT, cpu_of, newest_python, own_usage, sdist, venv

RUNS = int(os.environ.get("RUNS", "3"))


def bench_measure(scratch):
    """CPU time of a run with a layer against a run of plain pytest, in the newest Python."""
    layers = {
        "assertion values": "assertions",
        "functions": "code",
        "lines": "lines",
        "behaviour": "behaviour",
        "outcome alone": "outcome",
    }
    project, python, version = jinja2_project(scratch)
    compare(scratch, project, python, version, [(name, layer, python) for name, layer in layers.items()])
    for each in Path(scratch).iterdir():
        shutil.rmtree(each) if each.is_dir() else each.unlink()
    bench_lines(scratch)


def bench_lines(scratch):
    """The same for lines before Python 3.12, in the oldest there is: with coverage in the environment, and without."""
    oldest = subprocess.check_output([ROOT / "scripts/oldest-python"], text=True).strip()
    project, python, version = jinja2_project(scratch, "jinja2-oldest", oldest)
    with_coverage = jinja2_python("jinja2-oldest-coverage", oldest, "coverage")
    rows = [("lines, with coverage", "lines", with_coverage), ("lines, without", "lines", python)]
    compare(scratch, project, python, version, rows)


def compare(scratch, project, python, version, rows):
    """Prints a ratio for each row of (name, layer, interpreter)."""
    python_version = subprocess.check_output(
        [python, "-c", "import platform; print(platform.python_version())"], text=True
    )
    plain, ours, tests = [], {name: [] for name, _, _ in rows}, 0
    # Bytecode is there from now on, for both.
    subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=project, stdout=subprocess.DEVNULL)
    for number in range(RUNS):
        # In turn, so that a machine that is busy for a while is so for all.
        plain.append(
            cpu_of([python, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=project, stdout=subprocess.DEVNULL)
        )
        for row, (name, layer, interpreter) in enumerate(rows):
            output = Path(scratch, "measure.json")
            command = [FLAKELAB, "measure", project, "--python", interpreter, "--seed", str(number), "--quiet"]
            command += ["--factors", "none", "--runs", "2", "--layers", layer, "--source", project / "src"]
            command += ["--store", Path(scratch, f"store-{row}-{number}"), "--format", "json", "-o", output]
            subprocess.run(command, stdin=subprocess.DEVNULL)
            campaign = json.loads(output.read_text())["campaign"]
            tests = campaign["tests"]
            ours[name].append(campaign["cpu_seconds"] / campaign["total_runs"])
    print(f"\nmeasure: jinja2 {version}, {tests} tests, Python {python_version.strip()}")
    mean = sum(plain) / len(plain)
    print(f"  plain pytest                  {mean:8.2f} s CPU  (mean of {len(plain)})")
    for name, seconds in ours.items():
        each = sum(seconds) / len(seconds)
        print(f"  {name + ':':<30}{each:8.2f} s CPU  (mean of {4 * len(seconds)})   ratio {each / mean:.2f}")


def jinja2_project(scratch, name="jinja2", interpreter=None):
    """(sources with tests, an interpreter that has what they need, version); the sources are what is imported."""
    python = jinja2_python(name, interpreter or newest_python())
    project, version = sdist(python, "jinja2", scratch)
    os.environ["PYTHONPATH"] = str(project / "src")
    return project, python, version


def jinja2_python(name, interpreter, *packages):
    os.environ["PYTHON"] = interpreter
    python = venv(name, "pip", "pytest", "jinja2", "trio", *packages) / "bin/python"
    del os.environ["PYTHON"]
    return python


def bench_snapshots(scratch):
    """Store and memory for ten runs of 2,500 tests at all layers."""
    project = Path(scratch, "large")
    project.mkdir()
    helper = "".join(
        f"def step_{n}(x):\n    if x % 2:\n        return x + {n}\n    return x - {n}\n\n\n" for n in range(50)
    )
    (project / "steps.py").write_text(helper + "ALL = [" + ", ".join(f"step_{n}" for n in range(50)) + "]\n")
    for number in range(50):
        tests = "".join(
            f"def test_{n}():\n    for step in steps.ALL[:{1 + n}]:\n        assert step({n}) <= {n} + 50\n"
            f"    assert random.random() < 2\n\n\n"
            for n in range(50)
        )
        (project / f"test_{number}.py").write_text("import random\n\nimport steps\n\n\n" + tests)
    python = venv("pytest8", "pytest==8.*") / "bin/python"
    store = Path(scratch, "store")
    command = [FLAKELAB, "measure", project, "--python", python, "--seed", "1", "--quiet", "--factors", "none"]
    command += ["--runs", "5", "--layers", "outcome,assertions,code,lines,behaviour"]
    total, own, memory = own_usage([*command, "--store", store, "-o", Path(scratch, "large.txt")])
    size = sum(file.stat().st_size for file in store.iterdir()) / 1e6
    print("\nsnapshots: 2,500 tests, 10 runs, all layers")
    print(f"  all CPU time                  {total:8.1f} s, of which flakelab itself {own:.1f} s")
    print(f"  store                         {size:8.1f} MB")
    print(f"  peak memory of flakelab       {memory:8.1f} MB")
