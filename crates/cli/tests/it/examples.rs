//! The example projects, each judged against its `expected.json`.

use std::collections::BTreeMap;

use crate::support::{Project, root};

/// Enough orders for every test of the shop to show itself.
const FEWER: [&str; 2] = ["--orders", "40"];

fn judge(example: &str, environment: &'static str) {
    judge_with(example, environment, &[]);
}

fn judge_with(example: &str, environment: &'static str, args: &[&str]) {
    let project = Project::example(example).with(environment);
    let run = project.detect(args);
    let path = root().join("examples").join(example).join("expected.json");
    let expected: BTreeMap<String, String> =
        serde_json::from_slice(&std::fs::read(path).expect("expectations")).expect("a map");
    assert_eq!(run.classes(), expected, "\n{}\n{}", run.stdout, run.stderr);
    assert_eq!(run.code, i32::from(!expected.is_empty()));
}

#[test]
fn shop_with_pytest_7() {
    judge_with("shop", "pytest7", &FEWER);
}

#[test]
fn shop_with_pytest_8() {
    judge("shop", "pytest8");
}

#[test]
fn shop_with_pytest_9() {
    judge_with("shop", "pytest9", &FEWER);
}

#[test]
fn shop_with_many_plugins() {
    judge_with("shop", "plugins", &FEWER);
}

#[test]
fn chance() {
    judge("chance", "pytest8");
}

#[test]
fn teardown() {
    judge("teardown", "pytest8");
}

#[test]
fn files() {
    judge("files", "pytest8");
}

#[test]
fn scopes() {
    judge("scopes", "pytest9");
}

#[test]
fn clean() {
    judge("clean", "pytest7");
}

#[test]
fn tiny_is_what_the_readme_shows() {
    judge("tiny", "pytest8");
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
