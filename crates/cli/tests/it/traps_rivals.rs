//! Plugins that reverse, fork, distribute or retry and have no option to keep them quiet: they hide no
//! finding, and the printed command does without them.

use crate::support::Project;
use crate::support::order::{FEW, ORDER, SAVED_BY_A_RETRY, VICTIM};

fn suite(ini: &str, tests: &str) -> Project {
    Project::new(&[
        ("pytest.ini", &format!("[pytest]\n{ini}\n")),
        ("test_order.py", tests),
    ])
    .with("rivals")
}

/// The printed command, which was executed and failed as it should.
fn finds_the_victim(project: &Project, args: &[&str]) -> String {
    let run = project.detect(&[&FEW[..], args].concat());
    run.expect(&[(VICTIM, "victim")]);
    project.reproduces_victim(&run, VICTIM);
    let command = run.test(VICTIM)["reproduce"]["command"].as_str();
    command.expect("a command").to_owned()
}

#[test]
fn what_is_merely_installed_is_left_alone() {
    assert_eq!(
        finds_the_victim(&suite("", ORDER), &[]),
        "pytest test_order.py::test_z test_order.py::test_b"
    );
}

#[test]
fn a_reversed_suite_is_not_reversed() {
    assert_eq!(
        finds_the_victim(&suite("addopts = -q --reverse --tb=short", ORDER), &[]),
        "pytest -o 'addopts=-q --tb=short' -p no:reverse test_order.py::test_z test_order.py::test_b"
    );
}

#[test]
fn a_suite_reversed_by_hand_is_not_reversed() {
    assert_eq!(
        finds_the_victim(&suite("", ORDER), &["--", "--reverse", "-k", "test"]),
        "pytest -k test -p no:reverse test_order.py::test_z test_order.py::test_b"
    );
}

#[test]
fn tests_are_not_forked_by_another() {
    finds_the_victim(&suite("addopts = --forked", ORDER), &[]);
}

#[test]
fn tests_marked_to_be_forked_are_not() {
    let marked = format!("import pytest\n\npytestmark = pytest.mark.forked\n{ORDER}");
    finds_the_victim(&suite("addopts = --strict-markers", &marked), &[]);
}

#[test]
fn tests_are_not_distributed_by_parallel() {
    finds_the_victim(&suite("addopts = --workers 2", ORDER), &[]);
}

#[test]
fn retries_in_addopts_hide_no_victim() {
    let project = suite(
        "addopts = --retries 2 --retry-delay=0.1 -q",
        SAVED_BY_A_RETRY,
    );
    finds_the_victim(&project, &[]);
}

#[test]
fn retries_in_the_configuration_hide_no_victim() {
    finds_the_victim(&suite("retries = 2", SAVED_BY_A_RETRY), &[]);
}

#[test]
fn a_victim_marked_to_be_retried_is_reproduced() {
    let marked = SAVED_BY_A_RETRY.replace(
        "def test_b",
        "import pytest\n\n@pytest.mark.flaky(retries=2)\ndef test_b",
    );
    finds_the_victim(&suite("addopts = --strict-markers", &marked), &[]);
}

#[test]
fn forced_flaky_runs_hide_no_victim() {
    let project = suite("addopts = --force-flaky --max-runs=3", SAVED_BY_A_RETRY);
    finds_the_victim(&project, &[]);
}

#[test]
fn a_victim_decorated_as_flaky_is_reproduced() {
    let decorated = SAVED_BY_A_RETRY.replace(
        "def test_b",
        "from flaky import flaky\n\n@flaky(max_runs=3)\ndef test_b",
    );
    finds_the_victim(&suite("", &decorated), &[]);
}
