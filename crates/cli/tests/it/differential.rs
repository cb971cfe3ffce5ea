//! Forked runs give the outcomes of plain pytest, test by test, in fifty random orders of every
//! example. `tests/differential.py` is the judge; it runs on any project.

use std::process::Command;

use crate::support::{environment, flakelab, root};

fn compare(example: &str, venv: &str) {
    let python = environment(venv).join("bin/python");
    let output = Command::new(&python)
        .arg(root().join("tests/differential.py"))
        .arg(flakelab())
        .arg(&python)
        .arg(root().join("examples").join(example))
        .output()
        .expect("python runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(said.contains("50 orders"), "{said}");
}

#[test]
fn shop() {
    compare("shop", "pytest8");
}

#[test]
fn chance() {
    compare("chance", "pytest7");
}

#[test]
fn teardown() {
    compare("teardown", "pytest9");
}

#[test]
fn files() {
    compare("files", "pytest8");
}

#[test]
fn scopes() {
    compare("scopes", "pytest7");
}

#[test]
fn clean() {
    compare("clean", "pytest9");
}
