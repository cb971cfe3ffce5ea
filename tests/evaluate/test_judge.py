"""Plain pytest as the judge: printed commands, orders of its own, patches."""

import subprocess
import sys
from pathlib import Path

import pytest
from evaluation import facts, plain
from evaluation.subjects import Subject

SUITE = """
SEEN = []


def test_victim():
    assert SEEN == []


def test_polluter():
    SEEN.append(1)
"""
VICTIM, POLLUTER = "test_suite.py::test_victim", "test_suite.py::test_polluter"
FIX = """\
--- a/test_suite.py
+++ b/test_suite.py
@@ -7,4 +7,4 @@


 def test_polluter():
-    SEEN.append(1)
+    assert SEEN == []
"""


@pytest.fixture
def subject(tmp_path):
    (tmp_path / "test_suite.py").write_text(SUITE)
    truth = {VICTIM: {"id": VICTIM, "kind": "victim", "polluters": [POLLUTER], "polluters_complete": True}}
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return Subject("shop", "known", "1", tmp_path, Path(sys.executable), ["-p", "no:cacheprovider"], truth)


def test_a_command_shows_a_failure_or_does_not(subject):
    assert plain.show(subject, VICTIM, f"pytest {POLLUTER} {VICTIM}") == "fails"
    assert plain.show(subject, VICTIM, f"pytest {VICTIM} {POLLUTER}") == "passes"
    # Another test with a longer name is another test.
    assert plain.show(subject, VICTIM[:-1], f"pytest {POLLUTER} {VICTIM}") == "passes"
    assert plain.show(subject, VICTIM, "pytest nowhere.py") == "exit code 4"


def test_an_order_is_the_order_of_execution(subject):
    assert plain.outcome(subject, [POLLUTER, VICTIM], VICTIM) == "fails"
    assert plain.outcome(subject, [VICTIM, POLLUTER], VICTIM) == "passes"
    assert plain.outcome(subject, [POLLUTER], VICTIM) == "does not run"


def test_a_patch_holds_only_if_plain_pytest_says_so(subject):
    orders = [[POLLUTER, VICTIM]]
    assert plain.patch_holds(subject, VICTIM, FIX, orders) == "holds"
    other = FIX.replace("assert SEEN == []", "SEEN.append(2)")
    assert plain.patch_holds(subject, VICTIM, other, orders) == "fails after its culprits"
    assert (
        plain.patch_holds(subject, VICTIM, FIX.replace("SEEN.append(1)", "SEEN.append(3)"), orders) == "does not apply"
    )
    # No run touched the project.
    assert (subject.project / "test_suite.py").read_text() == SUITE


def test_only_culprits_of_the_truth_count_where_it_is_complete(subject):
    def said(*polluters, causal=False):
        leaks = [{"causal": causal}]
        each = {"test": VICTIM, "polluters": [[p] for p in polluters], "state_setters": [], "leaks": leaks}
        seen = facts.explained(subject, {"explanations": [each]})
        return seen["named"], seen["all_named"], seen["causal"]

    assert said(POLLUTER, causal=True) == (1, 1, 1)
    assert said("test_suite.py::test_other") == (0, 0, 0)
    subject.truth[VICTIM]["polluters_complete"] = False
    assert said("test_suite.py::test_other") == (1, 0, 0)
    assert said() == (0, 0, 0)
