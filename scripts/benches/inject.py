"""What `inject` costs: a mutant by a swap in a fork against a written file, and memory as mutants grow."""

import json
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

from .common import FLAKELAB, ROOT, click_project, cpu_of, own_usage, venv


def bench_inject(scratch):
    """Mutants by code swaps in forks against writing the file and starting pytest for every order."""
    python = venv("pytest8", "pytest==8.*") / "bin/python"
    example = Path(scratch, "ledger")
    shutil.copytree(ROOT / "examples/ledger", example, ignore=shutil.ignore_patterns(".flakelab", "__pycache__"))
    inject_against_files("examples/ledger", example, python, scratch)
    click, python, version = click_project(scratch)
    inject_against_files(
        f"click {version}, tests/test_options.py", click, python, scratch, "tests/test_options.py", most=60
    )


def inject_against_files(name, project, python, scratch, *selection, most=None):
    """Prints the ratio for one project; with `most`, over so many pairs of a mutant and an order."""
    data, store = Path(scratch, f"data-{project.name}"), Path(scratch, f"store-{project.name}")
    command = [FLAKELAB, "inject", project, "--python", python, "--seed", "1", "--quiet", "-o", data]
    command += ["--store", store, "--format", "json", "--reruns", "10", "--", *selection]
    document = json.loads(subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout)
    campaign = document["campaign"]
    ours = campaign["evaluation_cpu_seconds"] / campaign["evaluations"]
    orders = [json.loads(line)["tests"] for line in (data / "orders.jsonl").read_text().splitlines()]
    entries = [json.loads(line) for line in (data / "mutants.jsonl").read_text().splitlines()]
    valid = [entry for entry in entries if entry["valid"]]
    sample = valid if most is None else valid[:: max(1, len(valid) * len(orders) // most)]
    used = orders if most is None else orders[: max(1, most // len(sample))]
    spent = runs = different = 0
    for entry in sample:
        file = project / entry["file"]
        before = file.read_text()
        patch = (data / entry["patch"]).read_text()
        subprocess.run(["git", "apply", "-"], cwd=project, input=patch, text=True, check=True)
        passed = []
        for order in used:
            cpu, verdict = plain_run(python, project, scratch, order, entry["test"])
            spent, runs = spent + cpu, runs + 1
            passed.append(verdict)
        alone = plain_run(python, project, scratch, [entry["test"]], entry["test"])[1]
        file.write_text(before)
        expected = ("victim" if alone else "brittle") if len(set(passed)) == 2 else "stable"
        different += most is None and entry["class"] != expected
    print(f"\ninject: {name}, {document['totals']['valid']} valid mutants, {len(orders)} orders")
    print(f"  the file written, pytest started  {spent / runs * 1000:6.1f} ms CPU  (mean of {runs})")
    print(f"  the body swapped in a fork        {ours * 1000:6.1f} ms CPU  (mean of {campaign['evaluations']})")
    if most is None:
        print(f"  classes that differ               {different:6d}")
    print(f"  ratio                             {spent / runs / ours:6.1f}")


def plain_run(python, project, scratch, order, test):
    """(CPU seconds, whether the test passed) of plain pytest with these tests in this order."""
    report = Path(scratch, "plain.xml")
    options = ["-q", "-p", "no:cacheprovider", f"--junitxml={report}", "--tb=no"]
    cpu = cpu_of([python, "-m", "pytest", *options, *order], cwd=project, stdout=subprocess.DEVNULL)
    return cpu, plain_verdict(report, test)


def plain_verdict(report, test):
    """Whether a test passed, in the JUnit XML of plain pytest."""
    name = test.rsplit("::", 1)[1]
    cases = [case for case in ElementTree.parse(report).iter("testcase") if case.get("name") == name]
    return not any(child.tag in ("failure", "error") for case in cases for child in case)


def bench_memory(scratch):
    """What flakelab itself takes for ten times as many mutants."""
    python = venv("pytest8", "pytest==8.*") / "bin/python"
    print("\nmemory: inject on tests of 40 statements, 2 orders")
    for files in (1, 10):
        project = Path(scratch, f"statements-{files}")
        project.mkdir()
        body = "".join(f"    seen.append({number})\n" for number in range(40))
        text = "".join(f"def test_{n}():\n    seen = []\n{body}    assert seen\n\n\n" for n in range(25))
        for number in range(files):
            (project / f"test_{number}.py").write_text(text)
        command = [FLAKELAB, "inject", project, "--python", python, "--seed", "1", "--quiet", "--reruns", "1"]
        command += ["--orders", "2", "--store", Path(scratch, f"store-{files}"), "-o", Path(scratch, f"set-{files}")]
        _, _, memory = own_usage(command)
        entries = Path(scratch, f"set-{files}", "mutants.jsonl").read_text().count("\n")
        print(f"  {entries:6,} mutants                {memory:8.1f} MB at the most")
