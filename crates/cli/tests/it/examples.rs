//! The example projects, each judged against its `expected.json`; and what forks gave in fifty of its random orders
//! against plain pytest, test by test (`tests/differential.py`, which runs on any project).

use std::collections::BTreeMap;
use std::process::Command;

use crate::support::{Project, Run, root};

/// Enough orders for every test of the shop to show itself.
const FEWER: [&str; 2] = ["--orders", "25"];

fn judge(example: &str, environment: &'static str, args: &[&str]) -> (Project, Run) {
    let project = Project::example(example).with(environment);
    let run = project.detect(args);
    let path = root().join("examples").join(example).join("expected.json");
    let expected: BTreeMap<String, String> =
        serde_json::from_slice(&std::fs::read(path).expect("expectations")).expect("a map");
    assert_eq!(run.classes(), expected, "\n{}\n{}", run.stdout, run.stderr);
    assert_eq!(run.code, i32::from(!expected.is_empty()));
    (project, run)
}

/// The same, and plain pytest is asked whether forks told the truth.
fn judge_outcomes(example: &str, environment: &'static str) {
    let (project, run) = judge(example, environment, &["--orders", "50"]);
    let dir = tempfile::tempdir().expect("a directory");
    let document = dir.path().join("detect.json");
    std::fs::write(&document, run.document.to_string()).expect("written");
    let output = Command::new(project.python())
        .arg(root().join("tests/differential.py"))
        .arg(project.python())
        .arg(project.path())
        .arg("--store")
        .arg(project.path().join(".flakelab/store.sqlite"))
        .arg("--document")
        .arg(&document)
        .output()
        .expect("python runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{wrong}");
    assert!(said.contains("50 orders"), "{said}");
}

#[test]
fn shop_with_pytest_7() {
    judge("shop", "pytest7", &FEWER);
}

#[test]
fn shop_with_pytest_8() {
    judge_outcomes("shop", "pytest8");
}

#[test]
fn shop_with_pytest_9() {
    judge("shop", "pytest9", &FEWER);
}

#[test]
fn shop_with_many_plugins() {
    judge("shop", "plugins", &FEWER);
}

#[test]
fn chance() {
    judge_outcomes("chance", "pytest7");
}

#[test]
fn teardown() {
    judge_outcomes("teardown", "pytest9");
}

#[test]
fn files() {
    judge_outcomes("files", "pytest8");
}

#[test]
fn scopes() {
    judge_outcomes("scopes", "pytest7");
}

#[test]
fn clean() {
    judge_outcomes("clean", "pytest9");
}

#[test]
fn tiny_is_what_the_readme_shows() {
    judge("tiny", "pytest8", &[]);
    let project = Project::example("tiny");
    let python = project.python();
    let said = |verb: &str| {
        let python = python.to_str().expect("utf-8");
        let mut command = project.flakelab(&[verb, "--seed", "1", "--python", python]);
        String::from_utf8_lossy(&command.output().expect("flakelab runs").stdout).into_owned()
    };
    let output = said("detect") + &said("explain") + &said("fix");
    let readme = std::fs::read_to_string(root().join("README.md")).expect("a README");
    let code = std::fs::read_to_string(root().join("examples/tiny/test_prices.py")).expect("code");
    assert!(readme.contains(&code), "the README shows another example");
    for line in output.lines() {
        // Times differ from machine to machine.
        if !line.contains("executions in") && !line.starts_with("in ") {
            assert!(readme.contains(line), "the README does not show `{line}`");
        }
    }
}
