"""`mutate` beside mutmut 3: verdicts, CPU time for each mutant, what plain pytest says of them, memory."""

import json
import os
import random
import shutil
import subprocess
import tarfile
from collections import Counter
from pathlib import Path

from . import mutmut
from .common import FLAKELAB, cpu_of, own_usage, venv

PYTEST = "pytest==8.4.2"
MUTMUT = "mutmut==3.8.0"
PROJECTS = {
    "humanize": {
        "version": "4.11.0",
        "needs": ["freezegun==1.5.5", "coverage==7.10.7"],
        # One of its tests changes its own parameters: the default, the same process again and again, does not get
        # beyond that.
        "mutmut": "source_paths=src\nprocess_isolation=forkserver\n",
    },
    "toolz": {
        "version": "1.0.0",
        "needs": [],
        # What it adds to these modules shows in them, and tests of theirs fail.
        "mutmut": "source_paths=\n    toolz\n    tlz\ndo_not_mutate=\n    toolz/tests/*\n    toolz/sandbox/tests/*\n"
        "    toolz/curried/*\npytest_add_cli_args_test_selection=toolz\npytest_add_cli_args=\n    --deselect\n"
        "    toolz/tests/test_curried.py::test_curried_namespace\n",
    },
}
# What decides about a score.
SCORED = ("killed", "survived")
# Seconds for plain pytest with a mutant in place; a suite takes some.
ENDLESS = 120

# Counts how often lines begin, for plain pytest.
COUNTER = """
import os, sys, threading
FILE, LINE, OUT = os.path.realpath(os.environ["COUNT_FILE"]), int(os.environ["COUNT_LINE"]), os.environ["COUNT_OUT"]
count = 0
def line(frame, event, arg):
    global count
    count += event == "line" and frame.f_lineno == LINE
    return line
def call(frame, event, arg):
    return line if os.path.realpath(frame.f_code.co_filename) == FILE else None
def pytest_sessionfinish():
    sys.settrace(None)
    with open(OUT, "w") as out:
        out.write(str(count))
threading.settrace(call)
sys.settrace(call)
"""


def unpacked(name, scratch):
    """(sources in the version that is pinned, an interpreter whose tests import that checkout)"""
    project = PROJECTS[name]
    requirement = f"{name}=={project['version']}"
    python = venv(f"mutate-{name}", "pip", PYTEST, *project["needs"]) / "bin/python"
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "download", "--no-deps", "--no-binary", ":all:", "-d", scratch, requirement], check=True)
    with tarfile.open(next(Path(scratch).glob(f"{name}-*.tar.gz"))) as tar:
        tar.extractall(scratch)
    sources = Path(scratch, f"{name}-{project['version']}")
    subprocess.run([*pip, "install", "--no-deps", "--editable", sources], check=True)
    return sources, python


def mutate(project, python, scratch, *options):
    """(CPU seconds, document) of a whole campaign."""
    output = Path(scratch, f"mutate-{project.name}.json")
    command = [FLAKELAB, "mutate", project, "--python", python, "--quiet", "--fresh", "--format", "json"]
    command += ["--store", Path(scratch, f"store-{project.name}"), "-o", output, *options]
    return cpu_of(command), json.loads(output.read_text())


def bench_mutate(scratch, check=0):
    """Both tools on the same projects."""
    needs = sorted({need for project in PROJECTS.values() for need in project["needs"]})
    tool = venv("mutmut", MUTMUT, PYTEST, *needs) / "bin/mutmut"
    for name in PROJECTS:
        beside_mutmut(name, tool, scratch, check)


def beside_mutmut(name, tool, scratch, check):
    project, python = unpacked(name, scratch)
    spent, theirs = run_mutmut(name, tool, project, scratch)
    ours_spent, document = mutate(project, python, scratch, "--jobs", "1", "--seed", "1")
    mutants = document["mutants"]
    print(
        f"\nmutate: {name} {PROJECTS[name]['version']}, {len(mutants):,} mutants of flakelab, {len(theirs):,} of mutmut"
    )
    their_status = Counter(status for _, status in theirs.values())
    our_status = Counter(mutant["status"] for mutant in mutants)
    executed = sum(count for status, count in their_status.items() if status not in ("not covered", "skipped"))
    our_executed = sum(count for status, count in our_status.items() if status != "not covered")
    each, our_each = spent / executed, ours_spent / our_executed
    print(f"  mutmut    {each * 1000:8.1f} ms CPU a mutant executed  ({len(theirs):,}: {said(their_status)})")
    print(f"  flakelab  {our_each * 1000:8.1f} ms CPU a mutant executed  ({len(mutants):,}: {said(our_status)})")
    print(f"  ratio     {each / our_each:8.1f}")
    ours = mutmut.ours(project, mutants)
    both = [(theirs[key], ours[key]) for key in theirs if key in ours]
    same = [(their, our) for their, our in both if ran(their[1]) and ran(our["status"])]
    compare_cost(name, tool, project, python, scratch, "that both have and execute", same)
    in_time = [(their, our) for their, our in same if "timeout" not in (their[1], our["status"])]
    if len(in_time) < len(same):
        compare_cost(name, tool, project, python, scratch, "of these that end in time", in_time)
    outside = sum(1 for mutant in mutants if mutant["scope"] == "<module>" and mutant["status"] in SCORED)
    print(f"  mutants outside functions, which mutmut has none of: {outside:,} scored")
    compare(project, python, scratch, theirs, ours)
    if check:
        check_plain(project, python, mutants, check)


def run_mutmut(name, tool, project, scratch, names=()):
    """(CPU seconds, verdicts) on a fresh copy."""
    copy = Path(scratch, "mutmut", name)
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(project, copy)
    spent = mutmut.run(tool, copy, PROJECTS[name]["mutmut"], names)
    return spent, mutmut.verdicts(copy)


def ran(status):
    return status not in ("not covered", "skipped", "error")


def compare_cost(name, tool, project, python, scratch, which, pairs):
    """Both tools on the very same mutants, each with its start."""
    if not pairs:
        return
    spent, _ = run_mutmut(name, tool, project, scratch, [theirs[0] for theirs, _ in pairs])
    chosen = [option for _, mutant in pairs for option in ("--mutant", mutant["id"])]
    ours_spent, _ = mutate(project, python, scratch, "--jobs", "1", "--seed", "1", *chosen)
    print(f"  {len(pairs):,} mutants {which}: start included, CPU")
    print(f"  mutmut    {spent * 1000 / len(pairs):8.1f} ms a mutant")
    print(f"  flakelab  {ours_spent * 1000 / len(pairs):8.1f} ms a mutant")
    print(f"  ratio     {spent / ours_spent:8.1f}")


def said(statuses):
    return ", ".join(f"{count:,} {status}" for status, count in statuses.most_common())


def compare(project, python, scratch, theirs, ours):
    """Prints every mutant that both have and disagree about."""
    both = [key for key in theirs if key in ours]
    conflicts = [key for key in both if theirs[key][1] != ours[key]["status"]]
    print(f"  mutants that both have    {len(both):6,}")
    print(f"  with the same verdict     {len(both) - len(conflicts):6,}")
    reasons = Counter()
    for key in conflicts:
        name, status = theirs[key]
        if status == "error":
            reasons["mutmut could not start pytest, and calls that a timeout"] += 1
            continue
        mutant = ours[key]
        count, failed = counted(project, python, scratch, mutant)
        reason = why(status, mutant, count, failed)
        reasons[reason] += 1
        print(f"    {mutant['id']} at {mutant['file']}:{mutant['line']}: {mutant['says']}")
        print(f"      mutmut: {status} ({name}); flakelab: {mutant['status']}; plain pytest: {failed}")
        print(f"      the changed line began {count:,} times, {mutant['tests']} tests reach the change: {reason}")
    for reason, count in reasons.most_common():
        print(f"  {count:6,} conflicts: {reason}")


def why(status, mutant, count, plain):
    if mutant["status"] == "not covered" and status in SCORED and plain == "passes":
        return "mutmut scored a mutant that was never executed"
    if {status, mutant["status"]} == {"killed", "timeout"}:
        return "one test fails and another one never ends"
    if status == "not covered" and plain == "passes":
        return "runs at import, and no test calls the function"
    truth = {"fails": "killed", "passes": "survived"}.get(plain, "timeout")
    if status == truth:
        return "FLAKELAB IS WRONG"
    return "mutmut is wrong" if mutant["status"] == truth else "both differ from plain pytest"


def counted(project, python, scratch, mutant):
    """(how often the changed line begins, what plain pytest says) with the mutant written into the file."""
    Path(scratch, "flakelab_bench_counter.py").write_text(COUNTER)
    out = Path(scratch, "count")
    out.write_text("0")
    environment = {"COUNT_FILE": str(project / mutant["file"]), "COUNT_LINE": str(mutant["line"])}
    environment.update(COUNT_OUT=str(out), PYTHONPATH=str(scratch))
    restore = mutmut.apply(project, mutant)
    try:
        plain(python, project, "-p", "flakelab_bench_counter", environment=environment)
        return int(out.read_text()), plain(python, project, "-x")
    finally:
        restore()


def plain(python, project, *options, environment=None):
    """`passes`, `fails` or `hangs`: plain pytest with all tests."""
    command = [python, "-B", "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider", *options]
    try:
        done = subprocess.run(
            command,
            cwd=project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **(environment or {})},
            timeout=ENDLESS,
        )
    except subprocess.TimeoutExpired:
        return "hangs"
    return "fails" if done.returncode else "passes"


def check_plain(project, python, mutants, most):
    """A random sample of verdicts against plain pytest with the diff applied."""
    scored = [mutant for mutant in mutants if mutant["status"] in SCORED]
    sample = random.Random(1).sample(scored, min(most, len(scored)))
    wrong = 0
    for mutant in sample:
        restore = mutmut.apply(project, mutant)
        try:
            verdict = plain(python, project, "-x")
        finally:
            restore()
        if verdict != {"killed": "fails", "survived": "passes"}[mutant["status"]]:
            wrong += 1
            print(f"    {mutant['id']}, {mutant['says']}: {mutant['status']}, but plain pytest {verdict}")
    print(f"  verdicts that plain pytest contradicts {wrong:4} of {len(sample)}")


def bench_stable(scratch):
    """Other seeds and other numbers of processes: the same statuses."""
    for name in PROJECTS:
        project, python = unpacked(name, scratch)
        statuses = []
        for seed, jobs in (("1", "1"), ("2", "2")):
            _, document = mutate(project, python, scratch, "--seed", seed, "--jobs", jobs)
            statuses.append({mutant["id"]: mutant["status"] for mutant in document["mutants"]})
        first, second = statuses
        different = [name for name in {*first, *second} if first.get(name) != second.get(name)]
        print(f"\nstable: {name}, seed 1 and one process against seed 2 and two processes")
        print(f"  statuses that differ  {len(different):6,} of {len(first):,}")
        for name in sorted(different):
            print(f"    {name}: {first.get(name)}, then {second.get(name)}")


def bench_mutate_memory(scratch):
    """What flakelab itself takes for ten times as many mutants."""
    python = venv("pytest8", "pytest==8.*") / "bin/python"
    print("\nmemory: mutate on functions of 20 sums, each with a test of its own")
    for files in (1, 10):
        project = Path(scratch, f"sums-{files}")
        project.mkdir()
        body = "".join(f"    total += n * {number} - {number + 1}\n" for number in range(20))
        text = "".join(f"def sum_{n}(n):\n    total = 0\n{body}    return total\n\n\n" for n in range(10))
        for number in range(files):
            (project / f"sums_{number}.py").write_text(text)
            tests = "".join(f"def test_{n}():\n    assert sums_{number}.sum_{n}(3) == 360\n\n\n" for n in range(10))
            (project / f"test_sums_{number}.py").write_text(f"import sums_{number}\n\n\n{tests}")
        output = Path(scratch, f"sums-{files}.json")
        command = [FLAKELAB, "mutate", project, "--python", python, "--seed", "1", "--quiet", "--format", "json"]
        command += ["--store", Path(scratch, f"sums-store-{files}"), "-o", output]
        _, _, memory = own_usage(command)
        totals = Counter(mutant["status"] for mutant in json.loads(output.read_text())["mutants"])
        print(f"  {sum(totals.values()):6,} mutants ({said(totals)})  {memory:8.1f} MB at the most")
