"""The guard against runs of too many processes, with limits that a machine bears easily."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

SHIMS = Path(__file__).parents[2] / "shims" / "pytest"

# A zygote (the process itself) that forks a run; what is said on the channel is printed. `@` is what the run does,
# `BEFORE` what happened earlier.
ZYGOTE = """
import os, signal, sys, time
sys.path.insert(0, {shims!r})
from flakelab_shim import bombs
bombs.MOST_PROCESSES, bombs._EVERY = 20, 1

class Channel:
    def send_raw(self, packet):
        os.write(1, packet + b"\\n")

def sleepers(count):
    pids = []
    for _ in range(count):
        pid = os.fork()
        if pid == 0:
            time.sleep(8)
            os._exit(0)
        pids.append(pid)
    return pids

def alive(pids):
    return sum(os.waitpid(pid, os.WNOHANG)[0] == 0 for pid in pids)

os.setsid()
guard = bombs.Guard(Channel())
read, write = os.pipe()
BEFORE
run = os.fork()
if run == 0:
    os.setpgid(0, 0)
    guard.begin()
    @
    os._exit(0)
status = os.waitpid(run, 0)[1]
try:
    os.killpg(run, signal.SIGKILL)
except ProcessLookupError:
    pass
guard.resume()
os.write(1, b"status %d\\n" % status)
os.close(write)
os.write(1, os.read(read, 100))
# As in the next run: nobody who came too late ends it.
time.sleep(0.3)
os.write(1, b"the zygote is alive\\n")
"""


def said(body, before=""):
    lines = "\n    ".join(body.strip().splitlines())
    script = ZYGOTE.replace("{shims!r}", repr(str(SHIMS))).replace("@", lines).replace("BEFORE", before)
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, timeout=60)
    return done.stdout.decode()


def test_few_processes_are_left_alone():
    heard = said("pids = sleepers(15)\nassert alive(pids) == 15\nfor pid in pids: os.kill(pid, 9)")
    assert heard == "status 0\nthe zygote is alive\n"


def test_many_processes_one_after_the_other_are_left_alone():
    heard = said("for _ in range(100):\n    os.waitpid(os.fork() or os._exit(0), 0)")
    assert heard == "status 0\nthe zygote is alive\n"


def test_nobody_waits_for_one_that_died_counting():
    heard = said(
        "dead = os.fork() or os._exit(0)\n"
        "os.waitpid(dead, 0)\n"
        "guard._shared[bombs._COUNTS] = dead\n"
        "began = time.monotonic()\n"
        "os.waitpid(os.fork() or os._exit(0), 0)\n"
        "assert time.monotonic() - began < bombs._PAUSE * bombs._PAUSES\n"
        "assert not guard._shared[bombs._COUNTS]"
    )
    assert heard == "status 0\nthe zygote is alive\n"


def test_nobody_waits_for_ever_for_one_that_counts():
    heard = said(
        "guard._shared[bombs._COUNTS] = os.getpid()\n"
        "began = time.monotonic()\n"
        "os.waitpid(os.fork() or os._exit(0), 0)\n"
        "assert time.monotonic() - began >= bombs._PAUSE * bombs._PAUSES"
    )
    assert heard == "status 0\nthe zygote is alive\n"


def test_a_bomb_is_ended_with_its_run():
    heard = said("sleepers(100)").splitlines()
    assert re.fullmatch(r'\{"k":"bomb","n":\d+,"group":\d+\}', heard[0])
    assert heard[-2:] == ["status 9", "the zygote is alive"]


@pytest.mark.parametrize("attempt", range(5))
def test_a_bomb_that_left_its_group_ends_its_run_and_nothing_else(attempt):
    body = """
if os.fork() == 0:
    os.setsid()
    for _ in range(3):
        os.fork()
    sleepers(100)
    os._exit(0)
time.sleep(30)
"""
    heard = said(body).splitlines()
    # Two may have found out at the same moment.
    others = [line for line in heard if "bomb" not in line]
    assert len(others) < len(heard)
    assert others == ["status 9", "the zygote is alive"]


def test_what_outlives_its_run_forks_no_more():
    body = """
daemon = os.fork()
if daemon == 0:
    os.setsid()
    time.sleep(0.5)
    pids = sleepers(40)
    time.sleep(0.5)
    os.write(write, b"%d of 40\\n" % alive(pids))
    os._exit(0)
while os.getpgid(daemon) != daemon:
    time.sleep(0.01)
"""
    heard = said(body).splitlines()
    assert heard == ["status 0", "0 of 40", "the zygote is alive"]


def test_what_was_there_before_a_run_may_fork_during_it():
    before = """
if os.fork() == 0:
    time.sleep(0.5)
    pids = sleepers(30)
    os.write(write, b"%d of 30\\n" % alive(pids))
    for pid in pids:
        os.kill(pid, 9)
    os._exit(0)
"""
    heard = said("time.sleep(1.5)", before).splitlines()
    assert heard == ["status 0", "30 of 30", "the zygote is alive"]
