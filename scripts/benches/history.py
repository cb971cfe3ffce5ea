"""What the history costs: 20 reports of 10,000 tests a version taken in and scored, at 1, 3 and 10 million rows."""

import json
import os
import random
import sqlite3
import subprocess
import threading
import time
from pathlib import Path

from .common import FLAKELAB, children_cpu

TESTS = 10_000
RUNS = 20
MILLIONS = (1, 3, 10)
# One test in fifty flakes, with a rate of its own.
FLAKY = 50


def report(run, rates):
    """JUnit XML as pytest writes it: one run of all tests."""
    chance = random.Random(run)
    failure = '<failure message="assert 1 == 2">&gt;   assert 1 == 2\nE   assert 1 == 2</failure></testcase>'
    cases = []
    for test, rate in enumerate(rates):
        name = f"tests.unit.test_module_{test // 50}.TestFeature{test // 10 % 5}"
        start = f'<testcase classname="{name}" name="test_behaviour_{test}" time="0.00{test % 10}"'
        cases.append(f"{start}>{failure}" if rate and chance.random() < rate else f"{start} />")
    return (
        '<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="0" '
        f'failures="0" skipped="0" tests="{TESTS}" time="{run}.0" timestamp="2025-01-01T00:00:00" hostname="ci">'
        + "".join(cases)
        + "</testsuite></testsuites>"
    )


def measured(command):
    """(seconds, CPU seconds, peak memory in MB) of a command; not stretched by looking at it."""
    peak = [0.0]

    def watch(process):
        while process.returncode is None:
            try:
                status = Path(f"/proc/{process.pid}/status").read_text()
                peak[0] = int(status.split("VmHWM:")[1].split()[0]) / 1024
            except (OSError, IndexError):
                pass
            time.sleep(0.01)

    before, start = children_cpu(), time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    watcher = threading.Thread(target=watch, args=(process,))
    watcher.start()
    process.wait()
    wall, cpu = time.monotonic() - start, children_cpu() - before
    watcher.join()
    return wall, cpu, peak[0]


def fill(scratch, store, versions, rates):
    """Takes in all versions; returns (rows, seconds, CPU seconds, peak memory, MB of XML)."""
    wall = cpu = memory = size = 0.0
    for version in range(versions):
        reports = Path(scratch, "reports")
        reports.mkdir()
        for run in range(RUNS):
            (reports / f"{run}.xml").write_text(report(version * RUNS + run, rates))
        size += sum(file.stat().st_size for file in reports.iterdir()) / 1e6
        command = [FLAKELAB, "ingest", reports, "--version", f"v{version}", "--quiet"]
        seconds, spent, peak = measured([*command, "--store", store, "-C", scratch])
        wall, cpu, memory = wall + seconds, cpu + spent, max(memory, peak)
        for file in reports.iterdir():
            file.unlink()
        reports.rmdir()
    return versions * RUNS * TESTS, wall, cpu, memory, size


def bench_history(scratch):
    """Rows a second, the score query, memory and store; and whether costs grow with the number of rows alone."""
    rates = [0 if test % FLAKY else (1 + test % 7) / 20 for test in range(TESTS)]
    print(f"\nhistory: {RUNS} runs of {TESTS:,} tests for each version, a JUnit XML report each")
    each = {}
    for millions in MILLIONS:
        versions = millions * 1_000_000 // TESTS // RUNS
        store = Path(scratch, f"store-{millions}")
        rows, wall, cpu, memory, size = fill(scratch, store, versions, rates)
        each[millions] = (wall / rows, cpu / rows)
        stored = sum(os.stat(file).st_size for file in store.iterdir()) / 1e6
        with sqlite3.connect(store / "store.sqlite") as connection:
            assert connection.execute("select sum(executions) from history_files").fetchone()[0] == rows
        output = Path(scratch, "history.json")
        command = [FLAKELAB, "history", "--store", store, "-C", scratch, "--format", "json", "-o", output]
        shown, shown_cpu, shown_memory = measured([*command, "--quiet"])
        totals = json.loads(output.read_text())["totals"]
        # Some of those that fail seldom never do so twice in one version.
        assert totals["executions"] == rows and 0.9 <= totals["flaky"] * FLAKY / TESTS <= 1, totals
        talk = subprocess.run([*command, "--verbose"], capture_output=True, text=True).stderr
        scored = next(line for line in talk.splitlines() if "scored in" in line)
        print(f"  {millions} million rows: {rows / wall:,.0f} a second of wall time, {rows / cpu:,.0f} of CPU time")
        print(f"     {versions * RUNS} reports ({size:,.0f} MB of XML), {versions} commands, {wall:.1f} s")
        print(f"     store {stored:.1f} MB ({stored * 1e6 / rows:.1f} bytes a row)")
        print(f"     {scored}; `flakelab history` as a whole {shown:.2f} s ({shown_cpu:.2f} s CPU)")
        print(f"     peak memory: ingest {memory:.0f} MB, history {shown_memory:.0f} MB")
    for millions in MILLIONS[1:]:
        wall, cpu = (own / base for own, base in zip(each[millions], each[MILLIONS[0]]))
        print(f"  a row at {millions} million costs {wall:.2f} (wall), {cpu:.2f} (CPU) of one at 1 million")
