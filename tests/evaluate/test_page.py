"""The page says what the facts say, and nothing of a suite breaks out of its cell."""

import math
from fractions import Fraction

from evaluation.intervals import interval
from evaluation.markdown import block, cell, code, estimate, share, table
from evaluation.page import page

HOSTILE = "t.py::test[`| <b>\x1b[31m\n## title|`]" + "x" * 2000


def project(name, group, verbs, **others):
    verbs = {verb: {"budget": 60, **spent} for verb, spent in verbs.items()}
    return {"name": name, "group": group, "version": "1.0", "known": 0, "of": 29, "verbs": verbs, **others}


def detected(**others):
    said = {"tests": 5, "classes": {}, "always_failing": 0, "orders": 100, "out_of_budget": False, "python": "3.13.0"}
    said.update(pytest="8.3.4", flakelab="0.1.0", found=0, classified=0, missed=[], findings=[], unlisted=0)
    return {"exit": 1, "wall": 10.0, "cpu": 9.0, "facts": {**said, **others}}


def mutated(killed, survived, unknown, first):
    totals = {"killed": killed, "survived": survived, "unknown": unknown, "timeout": 0, "error": 0}
    share = {"varying": 1, "of": 4}
    said = {"totals": totals, "score": {"low": 0.5, "high": 0.75}, "unknown_at_first": first}
    said["coverage"] = {"statements": share, "tests": share, "pairs": share}
    return {"exit": 1, "wall": 1.0, "cpu": 1.0, "facts": said}


def test_text_of_a_suite_stays_in_its_cell():
    for escaped in (code(HOSTILE), cell(HOSTILE)):
        assert "\n" not in escaped and "\x1b" not in escaped and len(escaped) < 700
        assert "|" not in escaped.replace("\\|", "")
    assert code(HOSTILE).count("`") == 2
    assert "<" not in cell(HOSTILE).replace("\\<", "")
    assert block(HOSTILE).count("\n") == 1
    row = table(["a", "b"], [[code(HOSTILE), cell(HOSTILE)]]).splitlines()[2]
    assert row.replace("\\|", "").count("|") == 3


def test_shares_of_nothing_are_no_numbers():
    assert share(1, 4) == "1 of 4 (25 %)"
    assert share(0, 0) == "–"
    assert estimate(0, 0) == "–"


def test_intervals_are_those_of_clopper_and_pearson():
    # Where none or all are, the other end has a closed form.
    assert abs(interval(0, 10)[1] - (1 - 0.025 ** (1 / 10))) < 1e-9
    assert abs(interval(99, 99)[0] - 0.025 ** (1 / 99)) < 1e-9
    assert (interval(0, 10)[0], interval(99, 99)[1]) == (0.0, 1.0)
    for part, whole in ((3, 4), (15, 20), (9, 200)):
        low, high = map(Fraction, interval(part, whole))

        def exactly(count, p, whole=whole):
            return math.comb(whole, count) * p**count * (1 - p) ** (whole - count)

        as_few = sum(exactly(count, high) for count in range(part + 1))
        fewer = sum(exactly(count, low) for count in range(part))
        assert abs(float(as_few) - 0.025) < 1e-9 and abs(1 - float(fewer) - 0.025) < 1e-9


def test_a_finding_is_shown_with_what_plain_pytest_said():
    finding = {"id": HOSTILE, "class": "victim", "why": "passed alone", "command": "pytest a b"}
    verbs = {"detect": detected(classes={"victim": 2}, findings=[{**finding, "plain": ["fails", "passes"]}])}
    text = page([project("click", "suite", verbs)])
    assert "0 of 1 printed commands show the failure both times." in text
    assert "Plain pytest: fails, passes." in text
    assert "\n    pytest a b\n" in text
    assert "| click 1.0 | 5 | 100 | 2 victim | 0 | 10 / 9 |" in text
    assert "\n## title" not in text


def test_figures_of_all_projects_stand_beside_those_of_the_papers():
    verbs = {"detect": detected(found=3, classified=2, missed=["t.py::test_lost"]), "mutate": mutated(50, 25, 5, 20)}
    known = project("o/n", "known", verbs, known=4, all=["a/b", "o/n"])
    suite = project("click", "suite", {"detect": detected(), "mutate": mutated(10, 10, 0, 0)})
    text = page([suite, known])
    assert "| 3 of 4 (75 %; 19 – 99 %) | 57 % of 1,978 tests" in text
    assert "| 2 of 3 (67 %; 9 – 99 %) |" in text
    assert "| 20 of 100 (20 %; 13 – 29 %) | 2,866 of 66,518 mutants (4 %) |" in text
    assert "| 15 of 20 (75 %; 51 – 91 %) | 2,275 of 2,866 unknown mutants (79.4 %) |" in text
    assert "mutation score, after all reruns | 60.0 % – 65.0 % (49.7 – 74.3 %) | 77.7 % – 82.0 %, before" in text
    plain = " ".join(text.split())
    assert "1 of 29 were run; not run: `a/b`. *Known*" in plain and "small ones" not in plain
    assert "developed with these projects at hand" in plain
    assert "Not found: `t.py::test_lost` (`o/n`)." in text


def test_a_run_without_a_result_is_reported():
    verbs = {"detect": detected(), "mutate": {"exit": 3, "wall": 2.0, "cpu": 1.0, "error": "error: no *tests*"}}
    text = page([project("toolz", "suite", verbs)])
    assert "- toolz, `mutate`: error: no \\*tests\\* (2 / 1 s)" in text
    assert "- toolz: `explain`, `fix`, `measure` not run" in text
