"""What `explain` costs: one victim against iPFlakies, a probe as the order grows, a snapshot of a large process."""

import json
import os
import shutil
import sqlite3
import subprocess
from pathlib import Path

from .common import FLAKELAB, ROOT, cpu_of, venv
from .detect import ipflakies


def bench_explain(scratch):
    """Every polluter and cleaner of one victim, against iPFlakies' search for the same test."""
    target = "tests/test_pricing.py::test_default_rate"
    theirs, ours = Path(scratch, "theirs"), Path(scratch, "ours")
    for copy in (theirs, ours):
        shutil.copytree(ROOT / "examples/shop", copy, ignore=shutil.ignore_patterns(".flakelab", "__pycache__"))
    their_cpu = ipflakies(theirs, "-t", target)
    python = venv("pytest8", "pytest==8.*") / "bin/python"
    output = Path(scratch, "explain.json")
    command = [FLAKELAB, "explain", target, "--project", ours, "--python", python, "--seed", "1", "--quiet"]
    command += ["--all", "--store", Path(scratch, "store"), "--format", "json", "-o", output]
    our_cpu = cpu_of(command)
    found = json.loads(output.read_text())["explanations"][0]
    print("\nexplain: one victim of examples/shop, 64 tests, every polluter and cleaner")
    print(f"  iPFlakies -t                  {their_cpu:8.1f} s CPU")
    print(f"  flakelab explain --all        {our_cpu:8.1f} s CPU   {len(found['polluters'])} polluters,", end=" ")
    print(f"{len(found['cleaners'])} cleaners, {sum(leak['causal'] for leak in found['leaks'])} causal leak")
    print(f"  ratio                         {their_cpu / our_cpu:8.1f}")


def bench_probe(scratch):
    """What a prefix probe costs as the order grows: CPU time for each test of it."""
    python = venv("pytest8", "pytest==8.*") / "bin/python"
    print("\nprobe: the target after every test of an order")
    for count in (100, 1_000, 5_000):
        project = Path(scratch, f"probe-{count}")
        project.mkdir()
        (project / "state.py").write_text("dirty = []\n")
        for number in range(count // 50):
            tests = "".join(f"def test_{n}():\n    pass\n\n\n" for n in range(50))
            if number == 0:
                tests = "import state\n\n\ndef test_polluter():\n    state.dirty.append(1)\n\n\n" + tests
            (project / f"test_{number:03}.py").write_text(tests)
        last = "import state\n\n\ndef test_victim():\n    assert not state.dirty\n"
        (project / "test_zzz.py").write_text(last)
        store = Path(scratch, f"store-{count}")
        ids = [f"test_{n:03}.py::test_{m}" for n in range(count // 50) for m in range(50)]
        order = Path(scratch, f"order-{count}.txt")
        order.write_text("\n".join(["test_000.py::test_polluter", *ids, "test_zzz.py::test_victim"]))
        command = [FLAKELAB, "explain", "--order", order, "--project", project, "--python", python, "--seed", "1"]
        command += ["--quiet", "--no-state", "--store", store, "-o", Path(scratch, "probe.txt")]
        subprocess.run(command, stdin=subprocess.DEVNULL)
        with sqlite3.connect(store / "store.sqlite") as db:
            cpu, runs = db.execute("SELECT sum(cpu_us) / 1e6, count(*) FROM runs WHERE isolation = 'shared'").fetchone()
        each = 1000 * cpu / runs
        print(f"  {count:5} tests                   {cpu:8.1f} s CPU   {each:8.2f} ms for each of {runs} probes")


# A plugin: takes one snapshot where flakelab would, says what it took, and runs no test.
SNAPSHOT = """
import gc, json, os, sys, time
import pytest

sys.path.insert(0, os.environ["SHIM"])
from flakelab_shim.leaks import Watch


def resident():
    with open("/proc/self/status") as status:
        return int(status.read().split("VmRSS:")[1].split()[0]) / 1024


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    gc.collect()
    root = str(session.config.rootpath)
    watch = Watch(session, root, [root], None, os.environ["SCRATCH"])
    memory, wall, cpu = resident(), time.perf_counter(), time.process_time()
    watch.before()
    taken = {"mb": resident() - memory, "wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    cpu = time.process_time()
    watch.changes()
    taken.update(compared=time.process_time() - cpu, objects=watch.size["objects"], notes=watch.notes)
    taken.update(modules=len(sys.modules))
    with open(os.environ["ANSWER"], "w") as file:
        json.dump(taken, file)
    return True
"""
LARGE = """
import django, numpy, pandas
from django.conf import settings

apps = ["admin", "auth", "contenttypes", "messages", "sessions", "staticfiles"]
settings.configure(
    INSTALLED_APPS=["django.contrib." + name for name in apps],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
)
django.setup()
import django.contrib.admin.sites, django.test

FRAME = pandas.DataFrame(numpy.arange(1000).reshape(100, 10))


def test_nothing():
    pass
"""


def bench_snapshot(scratch):
    """What one snapshot of a large process takes, and where the limits cut it."""
    python = venv("large", "pytest", "numpy", "pandas", "Django") / "bin/python"
    ask = "import django, numpy, pandas; print(*(m.__name__ + ' ' + m.__version__ for m in (numpy, pandas, django)))"
    versions = subprocess.check_output([python, "-c", ask], text=True).strip()
    Path(scratch, "snapshot_plugin.py").write_text(SNAPSHOT)
    print(f"\nsnapshot: {versions} imported")
    more = {
        "as they are": "",
        "and 1,000,000 lists": "\nLISTS = [[[number] for number in range(1_000)] for _ in range(1_000)]\n",
        "and 40 lists of 1,000,000": "\nLISTS = [[None] * 1_000_000 for _ in range(40)]\n",
    }
    for number, (name, text) in enumerate(more.items()):
        project = Path(scratch, f"large-{number}")
        project.mkdir()
        (project / "test_large.py").write_text(LARGE + text)
        answer = Path(scratch, "snapshot.json")
        environment = {**os.environ, "PYTHONPATH": str(scratch), "SHIM": str(ROOT / "shims/pytest")}
        environment.update(SCRATCH=str(scratch), ANSWER=str(answer))
        command = [python, "-m", "pytest", "-q", "-p", "snapshot_plugin", "-p", "no:cacheprovider"]
        subprocess.run(command, cwd=project, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        taken = json.loads(answer.read_text())
        print(f"  {name + ':':<30}{taken['objects']:8,} objects, {taken['modules']:,} modules")
        print(
            f"    snapshot                    {taken['cpu']:8.2f} s CPU   {taken['mb']:.1f} MB, {taken['wall']:.2f} s"
        )
        print(f"    comparison                  {taken['compared']:8.2f} s CPU")
        print(f"    note                        {'; '.join(taken['notes']) or 'none: nothing was cut'}")
