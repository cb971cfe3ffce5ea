//! `flakelab explain` on real suites where chance, or what is around a test, has a part.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::support::{Project, Run};
use serde_json::{Value, json};

/// Pollutes in 2 of 5 runs, by a source of chance that no seed reaches.
const SOMETIMES: &str = r"
import os

SEEN = []


def test_a():
    pass


def test_polluter():
    if os.urandom(1)[0] < 102:
        SEEN.append(1)


def test_b():
    pass


def test_victim():
    assert not SEEN
";

/// Of the questions that are asked, the one that is answered wrongly most often, by chance, is whether it
/// happens every time: eleven runs in a row would have to, which is 1 in 20,000.
#[track_caller]
fn assert_pollutes_sometimes(run: &Run) {
    let e = run.explanation("test_sometimes.py::test_victim");
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_eq!(e["class"], "non_deterministic", "{e:#}");
    assert_eq!(e["polluters"], json!([]), "{e:#}");
    let found = e["intermittent"].as_array().expect("a list");
    assert_eq!(found.len(), 1, "{e:#}");
    assert_eq!(
        found[0]["tests"],
        json!(["test_sometimes.py::test_polluter"])
    );
    let rate = &found[0]["failure_rate"];
    assert_eq!(rate["of"], 40);
    let failed = rate["failed"].as_u64().expect("a number");
    assert!((5..36).contains(&failed), "{e:#}");
    assert_eq!(
        e["reproduce"],
        "pytest test_sometimes.py::test_polluter test_sometimes.py::test_victim"
    );
    assert!(
        run.stdout.contains(&format!(
            "after test_sometimes.py::test_polluter it fails in {failed} of 40 runs"
        )),
        "{}",
        run.stdout
    );
}

#[test]
fn pollution_by_chance_is_reported_with_its_rate() {
    let project = Project::new(&[("test_sometimes.py", SOMETIMES)]);
    assert_pollutes_sometimes(&project.explain(&["test_victim"]));
}

#[test]
fn pollution_by_chance_that_detect_saw_is_explained() {
    let project = Project::new(&[("test_sometimes.py", SOMETIMES)]);
    let found = project.detect(&["--orders", "40"]);
    found.expect(&[("test_sometimes.py::test_victim", "non_deterministic")]);
    assert_pollutes_sometimes(&project.explain(&[]));
}

#[test]
fn cleaners_that_only_work_together_are_named_together() {
    let project = Project::new(&[(
        "test_halves.py",
        r#"
DIRTY = {"left": False, "right": False}


def test_a():
    pass


def test_polluter():
    DIRTY.update(left=True, right=True)


def test_clean_left():
    DIRTY["left"] = False


def test_b():
    pass


def test_clean_right():
    DIRTY["right"] = False


def test_victim():
    assert not any(DIRTY.values())
"#,
    )]);
    let id = |name: &str| format!("test_halves.py::test_{name}");
    let run = project.explain(&["test_victim"]);
    let e = run.explanation(&id("victim"));
    assert_eq!(e["polluters"], json!([[id("polluter")]]));
    let cleaners = e["cleaners"].as_array().expect("a list");
    assert_eq!(cleaners.len(), 1, "{e:#}");
    assert_eq!(cleaners[0]["polluters"], json!([id("polluter")]));
    let mut named: Vec<&str> = cleaners[0]["cleaners"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    named.sort_unstable();
    assert_eq!(named, [id("clean_left"), id("clean_right")]);

    let plain = |between: &[&str]| {
        let ids: Vec<String> = [&["polluter"], between, &["victim"]]
            .concat()
            .into_iter()
            .map(id)
            .collect();
        project.shell("", &format!("pytest {}", ids.join(" "))).code
    };
    assert_eq!(plain(&["clean_left", "clean_right"]), Some(0));
    assert_eq!(plain(&["clean_left"]), Some(1));
    assert_eq!(plain(&["clean_right"]), Some(1));
}

/// One test for everything around a test that is varied; most of them say the same every time where they
/// are run.
const SURROUNDINGS: &str = r#"
import os
import random
import time


def test_hash_seed():
    """With seed 1 two of the four hash seeds that are tried say so, in every CPython there is."""
    assert hash("east") < hash("green")


def test_random_seed():
    assert random.random() < 0.5


def test_timezone():
    assert time.localtime(43200).tm_mday == 1


def test_file_order(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text("")
    assert os.listdir(tmp_path)[0] == "a"


def test_cpu_pressure():
    """Whether somebody competes for the processors; how fast it is then would depend on the machine."""
    running = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % process) as file:
                state, _, group = file.read().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if state == "R" and int(group) == os.getpgrp() and int(process) != os.getpid():
            running.append(process)
    assert not running


def test_nothing():
    pass
"#;

fn deciding(explanation: &Value) -> Vec<&str> {
    explanation["factors"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|found| found["decides"] == true)
        .filter_map(|found| found["factor"].as_str())
        .collect()
}

#[test]
fn what_decides_around_a_test_is_named() {
    let project = Project::new(&[("test_surroundings.py", SURROUNDINGS)]);
    // Nothing here depends on the order.
    let run = project.explain(&["test_surroundings.py", "--orders", "2"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    for factor in [
        "hash_seed",
        "random_seed",
        "timezone",
        "file_order",
        "cpu_pressure",
    ] {
        let e = run.explanation(&format!("test_surroundings.py::test_{factor}"));
        assert_eq!(deciding(e), [factor], "{e:#}");
        assert_eq!(e["class"], "non_deterministic");
        assert!(e["failure"]["message"].is_string(), "{e:#}");
    }
    let nothing = run.explanation("test_surroundings.py::test_nothing");
    assert_eq!(deciding(nothing), [""; 0]);
    assert_eq!(nothing["class"], "stable");
    for decided_by_a_variable in ["hash_seed", "timezone"] {
        let e = run.explanation(&format!(
            "test_surroundings.py::test_{decided_by_a_variable}"
        ));
        let plain = project.shell("", e["reproduce"].as_str().expect("a command"));
        assert_eq!(plain.code, Some(1), "{plain:?}");
    }
}

/// The library that shifts the clock comes with the interpreter's environment.
#[test]
fn a_date_that_decides_is_named() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let test = format!(
        "import time\n\n\ndef test_date():\n    assert time.time() < {} + 100 * 86400\n",
        now.expect("after 1970").as_secs()
    );
    let project = Project::new(&[("test_licence.py", &test)]).with("clock");
    let run = project.explain(&["test_date", "--orders", "2"]);
    let e = run.explanation("test_licence.py::test_date");
    assert_eq!(deciding(e), ["date"], "{e:#}");
    assert!(
        run.stdout
            .contains("date: +0 days fails 0/5, +45 days fails 0/5, +183 days fails 5/5"),
        "{}",
        run.stdout
    );
}
