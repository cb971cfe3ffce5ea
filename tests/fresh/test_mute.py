"""What tests print is captured as ever where empty files are not read."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SHIM = Path(__file__).resolve().parents[2] / "shims" / "pytest"
PLUGIN = """
import json, os, sys
sys.path.insert(0, os.environ["SHIM"])
from flakelab_shim import mute

SEEN, CAPTURES = [], []


def pytest_collection_finish(session):
    capturing = session.config.pluginmanager.get_plugin("capturemanager")._global_capturing
    if os.environ["SPARE"] == "no":
        mute._spare_empty = lambda capturing: None
    mute.mute(session.config)
    if capturing.out is not None:
        CAPTURES.extend("snap" in vars(each) for each in (capturing.out, capturing.err))


def pytest_runtest_logreport(report):
    error = [str(report.longrepr)] if report.failed else []
    SEEN.append([report.nodeid, report.when, report.outcome, error, report.sections])


def pytest_sessionfinish():
    with open(os.environ["OUT"], "w") as file:
        json.dump([SEEN, CAPTURES], file)
"""
SUITE = """
import os, sys
import pytest


@pytest.fixture
def loud():
    print("set up")
    yield
    os.write(2, b"torn down")


def test_silent(): pass
def test_prints(loud): print("called")
def test_prints_and_fails(): print("called"); assert False
def test_below_python(): os.write(1, b"below")
def test_silent_again(): pass
def test_moves(): os.lseek(1, 7, os.SEEK_SET)
def test_after_it(): print("x")
def test_takes_back(): print("x"); os.ftruncate(1, 0)
def test_after_that(): os.write(1, b"y")
def test_of_a_fixture(capfd):
    print("seen")
    assert capfd.readouterr().out == "seen\\n"
"""
RUDE = """
import io, os, sys


def capture():
    return sys.stdout.fileno()


def test_rude(): %s
def test_after_it(): os.write(1, b"x")
def test_at_last(): pass
"""


def run(folder, spare, *arguments):
    """[what was reported, whether each stream is spared]"""
    (folder / "printing.py").write_text(PLUGIN)
    out = folder / "seen.json"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment.update(PYTHONPATH=str(folder), SHIM=str(SHIM), OUT=str(out), SPARE=spare)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "printing", *arguments]
    done = subprocess.run(command, cwd=str(folder), env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert out.exists(), done.stdout.decode()
    found = json.loads(out.read_text())
    out.unlink()
    return found


def is_spared():
    """Whether this pytest reads files without a look at them."""
    from _pytest.capture import FDCapture

    return "fstat" not in FDCapture.snap.__code__.co_names


@pytest.mark.parametrize("capture", ["fd", "sys", "no", "tee-sys"])
def test_reports_are_the_same(tmp_path, capture):
    (tmp_path / "test_a.py").write_text(SUITE)
    usual, _ = run(tmp_path, "no", "--capture", capture)
    seen, spared = run(tmp_path, "yes", "--capture", capture)
    assert seen == usual and len(usual) > 20
    if capture == "fd":
        assert any(sections for *_, sections in usual)
        assert spared == [is_spared()] * 2
    else:
        assert not any(spared)


@pytest.mark.parametrize(
    "body",
    [
        "sys.stdout.close()",
        "os.close(capture())",
        "sys.stdout.detach()",
        "os.dup2(os.open(os.devnull, os.O_RDWR), capture())",
        "sys.stdout.reconfigure(write_through=False); print('late')",
    ],
)
def test_what_a_test_does_to_its_streams_shows_as_ever(tmp_path, body):
    (tmp_path / "test_a.py").write_text(RUDE % body)
    assert run(tmp_path, "yes")[0] == run(tmp_path, "no")[0]
