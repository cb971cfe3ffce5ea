//! The example projects, each judged against its `expected.json`.

use std::collections::BTreeMap;

use crate::support::{Project, root};

fn judge(example: &str, environment: &'static str) {
    let project = Project::example(example).with(environment);
    let run = project.detect(&[]);
    let path = root().join("examples").join(example).join("expected.json");
    let expected: BTreeMap<String, String> =
        serde_json::from_slice(&std::fs::read(path).expect("expectations")).expect("a map");
    assert_eq!(run.classes(), expected, "\n{}\n{}", run.stdout, run.stderr);
    assert_eq!(run.code, i32::from(!expected.is_empty()));
}

#[test]
fn shop_with_pytest_7() {
    judge("shop", "pytest7");
}

#[test]
fn shop_with_pytest_8() {
    judge("shop", "pytest8");
}

#[test]
fn shop_with_pytest_9() {
    judge("shop", "pytest9");
}

#[test]
fn shop_with_many_plugins() {
    judge("shop", "plugins");
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
