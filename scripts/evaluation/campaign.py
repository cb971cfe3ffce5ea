"""Runs the verbs on one subject and keeps what they said, with wall and CPU time."""

import json
import signal
import subprocess
import time
from pathlib import Path

from benches.common import FLAKELAB, children_cpu

from . import facts

# In this order: explain and fix take what detect found.
VERBS = {
    "detect": [],
    "explain": [],
    "fix": [],
    # With fewer runs no arrangement of settings is rare enough for a factor to be named.
    "measure": ["--runs", "5", "--layers", "outcome,assertions,code", "--factors", "hash-seed,random-seed"],
    "mutate": ["--sample", "100"],
}
WITH_BUDGET = ("detect", "explain", "measure")
# A verb that takes so many times its budget is ended, and reported as such.
PATIENCE = 6
# What an interrupted campaign may take to put things away.
GRACE = 60


def run(subject, verbs, budget, scratch):
    """The facts of a subject, verb by verb."""
    known = {
        "name": subject.name,
        "group": subject.group,
        "version": subject.version,
        "known": len(subject.truth),
        "known_kinds": sorted(test["kind"] for test in subject.truth.values()),
        "verbs": {},
    }
    for verb in (name for name in VERBS if name in verbs):
        document, spent = call(subject, verb, budget, scratch)
        if document is not None:
            spent["facts"] = facts.READERS[verb](subject, document)
        known["verbs"][verb] = {**spent, "budget": budget}
        said = f"exit code {spent['exit']}" if document is not None else spent["error"]
        print(f"{subject.name}: {verb}: {said}, {spent['wall']} s, {spent['cpu']} s CPU", flush=True)
        if verb == "detect" and document is None:
            break
    return known


def call(subject, verb, budget, scratch):
    """(the document of one verb or None, exit code, times, and why there is no document)"""
    output = Path(scratch, f"{verb}.json")
    command = [FLAKELAB, verb, "--python", subject.python, "--seed", "1", "--quiet", "--format", "json"]
    command += ["--store", Path(scratch, "store"), "-o", output, *VERBS[verb]]
    command += ["--budget", f"{budget}s"] if verb in WITH_BUDGET else []
    started, cpu = time.monotonic(), children_cpu()
    process = subprocess.Popen(
        [*command, "--", *subject.pytest_args],
        cwd=subject.project,
        env=subject.environment(scratch),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    ended = False
    try:
        _, talk = process.communicate(timeout=PATIENCE * budget)
    except subprocess.TimeoutExpired:
        ended = True
        process.send_signal(signal.SIGINT)
        try:
            _, talk = process.communicate(timeout=GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            _, talk = process.communicate()
    spent = {
        "exit": process.returncode,
        "wall": round(time.monotonic() - started, 1),
        "cpu": round(children_cpu() - cpu, 1),
    }
    if output.exists() and not ended:
        return json.loads(output.read_text()), spent
    lines = [line for line in talk.splitlines() if line.startswith("error")]
    said = (lines or [f"exit code {spent['exit']}"])[0].replace(str(scratch), "…")
    spent["error"] = f"ended after {PATIENCE * budget} s" if ended else said
    return None, spent
