//! `flakelab inject` on every shape of a test, in every scope, and on what `fix` added.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::support::Project;
use crate::support::datasets::{Folder, inject, jsonl, mutants, run, single, text, texts};
use crate::support::patches::{QUICK, added, commit, diff_of, fix_of, git};
use serde_json::Value;

/// Every shape of a test function, a helper in each, and somebody it protects against.
const SHAPES: [(&str, &str); 7] = [
    ("pytest.ini", "[pytest]\npythonpath = .\n"),
    ("state.py", "BOX = []\nNAMES = {}\nDOORS = []\nTRIED = []\n"),
    (
        "base.py",
        r#"import state


class Root:
    def prepare(self):
        state.NAMES["x"] = 1


class Base(Root):
    def test_inherited(self):
        super().prepare()
        assert state.NAMES["x"] == 1
"#,
    ),
    (
        "test_shapes.py",
        r#"import base
import state


def check(condition):
    assert condition


class TestHeir(base.Base):
    def test_other(self):
        state.NAMES["x"] = 1
        check(state.NAMES is not None)


def test_nested():
    count = 0

    def bump():
        nonlocal count
        if count < 3:
            for _ in range(2):
                state.DOORS.append(1)
        count += 1

    bump()
    state.BOX.append(1)
"#,
    ),
    (
        "test_unstable.py",
        r#"import os
import pytest
import state


def test_chance():
    assert os.urandom(1)[0] < 128


def test_fails():
    x = 1
    assert x == 2


def test_skipped():
    pytest.skip("not here")


def test_victim():
    assert state.TRIED == []


def test_tries():
    state.TRIED.append(1)
"#,
    ),
    (
        "fixtures/conftest.py",
        r#"import pytest
import state


@pytest.fixture(autouse=True)
def no_doors():
    state.DOORS.clear()
    yield
    state.DOORS.clear()
"#,
    ),
    (
        "fixtures/test_fixtures.py",
        r#"import unittest

import state


def test_no_door():
    assert not state.DOORS


class TestSetUp(unittest.TestCase):
    def setUp(self):
        state.NAMES.pop("y", None)

    def test_no_name(self):
        self.assertNotIn("y", state.NAMES)

    def test_name(self):
        state.NAMES["y"] = 1
"#,
    ),
];

#[test]
fn every_shape_of_a_test_has_its_mutants_and_unstable_tests_have_none() {
    let project = Project::new(&SHAPES);
    // One byte for `é`, two for each end of a line.
    let code = "# coding: latin-1\nimport pytest\nimport state\n\n\n@pytest.mark.parametrize('n', [1, 2])\n\
                def test_café(n):\n    state.BOX.clear()  # café\n    assert not state.BOX and 'café'[-1] == '\\xe9'\n";
    let bytes: Vec<u8> = code
        .replace('\n', "\r\n")
        .chars()
        .map(|c| c as u8)
        .collect();
    fs::write(project.path().join("test_bytes.py"), bytes).expect("written");
    commit(&project);
    let folder = Folder::new();
    let set = folder.set("set");
    let args = [
        "--reruns",
        "20",
        "--orders",
        "10",
        "--include-fixtures",
        "--assertion",
        "check",
    ];
    inject(&project, &set, &args);
    let found: Vec<(String, String, String)> = jsonl(&set.join("mutants.jsonl"))
        .iter()
        .map(|e| (text(&e["id"]), text(&e["statement"]), text(&e["class"])))
        .collect();
    let expected = [
        (
            "fixtures/test_fixtures.py::TestSetUp::test_name#1",
            "state.NAMES[\"y\"] = 1",
            "stable",
        ),
        ("test_bytes.py::test_café#1", "state.BOX.clear()", "victim"),
        (
            "base.py::Base::test_inherited#1",
            "super().prepare()",
            "brittle",
        ),
        // `check` is an assertion, as it was told.
        (
            "test_shapes.py::TestHeir::test_other#1",
            "state.NAMES[\"x\"] = 1",
            "stable",
        ),
        ("test_shapes.py::test_nested#1", "count = 0", "invalid"),
        ("test_shapes.py::test_nested#2", "def bump():…", "invalid"),
        ("test_shapes.py::test_nested#3", "if count < 3:…", "stable"),
        (
            "test_shapes.py::test_nested#4",
            "for _ in range(2):…",
            "stable",
        ),
        (
            "test_shapes.py::test_nested#5",
            "state.DOORS.append(1)",
            "stable",
        ),
        ("test_shapes.py::test_nested#6", "count += 1", "stable"),
        ("test_shapes.py::test_nested#7", "bump()", "stable"),
        (
            "test_shapes.py::test_nested#8",
            "state.BOX.append(1)",
            "stable",
        ),
        (
            "test_unstable.py::test_tries#1",
            "state.TRIED.append(1)",
            "stable",
        ),
        (
            "fixtures/test_fixtures.py::TestSetUp::setUp#1",
            "state.NAMES.pop(\"y\", None)",
            "victim",
        ),
        (
            "fixtures/conftest.py::no_doors#1",
            "state.DOORS.clear()",
            "victim",
        ),
        ("fixtures/conftest.py::no_doors#2", "yield", "stable"),
        (
            "fixtures/conftest.py::no_doors#3",
            "state.DOORS.clear()",
            "stable",
        ),
    ];
    let expected = expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned()));
    assert_eq!(found, expected);

    let found = mutants(&set);
    let of = |id: &str| &found[id];
    let bytes = of("test_bytes.py::test_café#1");
    assert_eq!(bytes["test"], "test_bytes.py::test_café[1]");
    assert_eq!(
        texts(&bytes["also"]),
        BTreeSet::from(["test_bytes.py::test_café[2]".to_owned()])
    );
    assert_eq!(
        single(&bytes["polluters"]),
        BTreeSet::from(["test_shapes.py::test_nested".to_owned()])
    );
    let heir = of("base.py::Base::test_inherited#1");
    assert_eq!(heir["test"], "test_shapes.py::TestHeir::test_inherited");
    assert_eq!(heir["alone"], serde_json::json!([0, 20]));
    let setter = BTreeSet::from(["test_shapes.py::TestHeir::test_other".to_owned()]);
    assert_eq!(single(&heir["state_setters"]), setter);
    let set_up = of("fixtures/test_fixtures.py::TestSetUp::setUp#1");
    assert_eq!(
        set_up["test"],
        "fixtures/test_fixtures.py::TestSetUp::test_no_name"
    );
    let fixture = of("fixtures/conftest.py::no_doors#1");
    assert_eq!(fixture["test"], "fixtures/test_fixtures.py::test_no_door");
    for entry in found.values().filter(|entry| entry["valid"] == true) {
        let patch = set.join(text(&entry["patch"]));
        let (applies, said) = git(
            &project,
            &["apply", "--check", patch.to_str().expect("utf-8")],
            None,
        );
        assert!(applies, "{said}{entry:#}");
    }

    let excluded: BTreeMap<String, String> = jsonl(&set.join("excluded.jsonl"))
        .iter()
        .map(|e| (text(&e["test"]), text(&e["why"])))
        .collect();
    for (test, why) in [
        ("chance", "of 21 runs only"),
        ("fails", "fails alone"),
        ("skipped", "is skipped"),
        ("victim", "of 10 random orders"),
    ] {
        let said = &excluded[&format!("test_unstable.py::test_{test}")];
        assert!(said.contains(why), "{test}: {said}");
    }
    assert_eq!(excluded.len(), 4, "{excluded:#?}");
    let verified = run(&project, &["verify", set.to_str().expect("utf-8")], &[]);
    assert!(
        verified.stdout.contains("4 of 4 entries"),
        "{}",
        verified.stdout
    );
}

#[test]
fn tests_are_shuffled_within_their_scope_and_no_stable_test_is_no_error() {
    let project = Project::new(&[
        (
            "test_a.py",
            "class TestA:\n    def test_1(self): pass\n    def test_2(self): pass\ndef test_3(): pass\ndef test_4(): pass\n",
        ),
        ("test_b.py", "def test_5(): pass\ndef test_6(): pass\n"),
    ]);
    let folder = Folder::new();
    let group = |scope: &str, id: &str| match scope {
        "class" => id.rsplit_once("::").expect("an id").0.to_owned(),
        "module" => id.split("::").next().expect("a file").to_owned(),
        _ => String::new(),
    };
    for (scope, groups) in [("class", 3), ("module", 2), ("suite", 1)] {
        let set = folder.set(scope);
        let run = inject(
            &project,
            &set,
            &["--reruns", "1", "--orders", "2", "--scope", scope],
        );
        assert_eq!(run.code, 0, "{}", run.stderr);
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for order in jsonl(&set.join("orders.jsonl")) {
            let tests = texts(&order["tests"]);
            let names: BTreeSet<String> = tests.iter().map(|id| group(scope, id)).collect();
            assert_eq!(names.len(), 1, "{order}");
            *seen
                .entry(names.into_iter().next().expect("one"))
                .or_default() += 1;
        }
        assert_eq!(seen.len(), groups, "{seen:?}");
        assert!(seen.values().all(|orders| *orders == 2), "{seen:?}");
        assert_eq!(run.document["totals"]["stable_tests"], 6);
    }

    let project = Project::new(&[(
        "test_a.py",
        "import pytest\ndef test_fails(): assert 0\ndef test_skipped():\n    pytest.skip()\n",
    )]);
    let set = folder.set("none");
    let none = inject(&project, &set, &["--reruns", "1", "--orders", "2"]);
    assert_eq!(none.code, 0, "{}", none.stderr);
    assert_eq!(none.document["totals"]["stable_tests"], 0);
    assert!(mutants(&set).is_empty());
    assert_eq!(jsonl(&set.join("excluded.jsonl")).len(), 2);
    let readme = fs::read_to_string(set.join("README.md")).expect("a README");
    assert!(
        readme.contains("| stable tests | 0 |") && !readme.contains("NaN"),
        "{readme}"
    );

    let project = Project::new(&[("test_a.py", "import nowhere\ndef test_a(): pass\n")]);
    let set = folder.set("broken");
    let broken = run(
        &project,
        &[],
        &["--seed", "1", "-o", set.to_str().expect("utf-8")],
    );
    assert_eq!(broken.code, 3, "{}", broken.stderr);
    assert!(broken.stderr.contains("nowhere"), "{}", broken.stderr);
    assert!(!set.exists());
    let never = run(&project, &[], &["--reruns", "0"]);
    assert_eq!(never.code, 2, "{}", never.stderr);
}

/// What `fix` added is taken out again by `inject`, and found to be what it was.
fn closes_the_circle(project: &Project, test: &str, other: &str, helper: &str, class: &str) {
    commit(project);
    project.explain(&[test, "--confirmations", "1"]);
    let run = project.fix(&[&["--strategy", "helper"][..], &QUICK].concat());
    let diff = diff_of(fix_of(&run, test)).to_owned();
    let lines = added(&diff);
    assert_eq!(lines, [format!("    {helper}")], "{diff}");
    let (applied, said) = git(project, &["apply", "-"], Some(&diff));
    assert!(applied, "{said}");

    let folder = Folder::new();
    let set = folder.set("set");
    inject(
        project,
        &set,
        &["--reruns", "3", "--orders", "8", "--", test, other],
    );
    let own: Vec<Value> = mutants(&set)
        .into_values()
        .filter(|entry| entry["test"] == test && entry["class"] != "stable")
        .collect();
    assert_eq!(own.len(), 1, "{own:#?}");
    assert_eq!(own[0]["statement"], helper);
    assert_eq!(own[0]["class"], class);
    let (file, _) = test.split_once("::").expect("an id");
    let code = fs::read_to_string(project.path().join(file)).expect("code");
    let line = own[0]["line"].as_u64().expect("a line") as usize;
    assert_eq!(code.lines().nth(line - 1), Some(lines[0]));
    // Taking the statement out is taking the patch back.
    let patch = fs::read_to_string(set.join(text(&own[0]["patch"]))).expect("a patch");
    let (applied, said) = git(project, &["apply", "-"], Some(&patch));
    assert!(applied, "{said}");
    assert!(git(project, &["diff", "--exit-code"], None).0);
    let who = if class == "victim" {
        "polluters"
    } else {
        "state_setters"
    };
    assert_eq!(single(&own[0][who]), BTreeSet::from([other.to_owned()]));
}

#[test]
fn deleting_the_helper_that_fix_added_is_found_again() {
    closes_the_circle(
        &Project::example("shop"),
        "tests/test_inventory.py::test_take",
        "tests/test_inventory.py::test_load",
        "inventory.load({\"pen\": 5})",
        "brittle",
    );
    let ledger = Project::example("ledger");
    let file = ledger.path().join("tests/test_entries.py");
    let code = fs::read_to_string(&file).expect("code");
    let helper = "    ledger.reset()  # helper: likewise\n    ledger.record(5)";
    assert!(code.contains(helper));
    fs::write(&file, code.replace(helper, "    ledger.record(5)")).expect("written");
    closes_the_circle(
        &ledger,
        "tests/test_entries.py::test_one_entry",
        "tests/test_entries.py::test_many_entries",
        "ledger.reset()",
        "victim",
    );
}
