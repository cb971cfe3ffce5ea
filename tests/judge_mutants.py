"""Judges the mutants of a document: each is written into a copy of the project, and plain pytest runs.

    judge_mutants.py DOCUMENT TREE [PYTEST ARGS...]

Prints a map from ids to exit codes; -1 for a run that used up its CPU time. pytest is imported once and nothing of
the project: each run is a fork of that.
"""

import json
import os
import pathlib
import resource
import signal
import sys

import pytest

CPU_SECONDS = 1


def main():
    document, tree, *arguments = sys.argv[1:]
    mutants = json.loads(pathlib.Path(document).read_text())["mutants"]
    os.chdir(tree)
    verdicts = {}
    for mutant in mutants:
        path = pathlib.Path(mutant["file"])
        before = path.read_bytes()
        path.write_bytes(applied(mutant["diff"], before.decode()).encode())
        verdicts[mutant["id"]] = run(arguments)
        path.write_bytes(before)
    print(json.dumps(verdicts))


def applied(diff, text):
    """A unified diff of one hunk."""
    lines = text.splitlines(keepends=True)
    head, *hunk = diff[diff.index("@@ ") :].splitlines(keepends=True)
    start = int(head.split()[1].lstrip("-").split(",")[0]) - 1
    old = [line[1:] for line in hunk if line[0] in " -"]
    new = [line[1:] for line in hunk if line[0] in " +"]
    assert lines[start : start + len(old)] == old, diff
    return "".join(lines[:start] + new + lines[start + len(old) :])


class End:
    """Ends pytest where its exit code is known, before it looks for garbage and tidies up."""

    session = None

    def pytest_sessionstart(self, session):
        self.session = session

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self):
        if self.session is not None:
            os._exit(self.session.exitstatus)


def run(arguments):
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(null, descriptor)
        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        limit = int(used) + 1 + CPU_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        os._exit(pytest.main(["-x", "-p", "no:cacheprovider", *arguments], plugins=[End()]))
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return -1 if os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL) else os.WTERMSIG(status) + 128
    return os.WEXITSTATUS(status)


main()
