//! `flakelab doctor`: what is there and what is missing, on real interpreters and suites.

use crate::support::{Project, environment};
use serde_json::Value;

/// Exit code and checks by name.
fn doctor(project: &Project, args: &[&str]) -> (i32, Value) {
    let python = environment(project.environment);
    let mut all = vec!["doctor", "--format", "json"];
    let python = python.to_string_lossy();
    if !args.contains(&"--python") {
        all.extend(["--python", &python]);
    }
    all.extend(args);
    let output = project.flakelab(&all).output().expect("flakelab runs");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| {
        panic!("{e}: {}", String::from_utf8_lossy(&output.stderr));
    });
    assert_eq!(document["schema"]["name"], "flakelab.doctor");
    let checks = document["checks"].as_array().expect("checks");
    for check in checks.iter().filter(|c| c["state"] != "ok") {
        assert!(check["costs"].is_string(), "{check}");
        assert!(check["remedy"].is_string(), "{check}");
    }
    assert_eq!(
        document["ready"],
        !checks.iter().any(|c| c["state"] == "broken"),
        "{document}"
    );
    assert!(
        !project.path().join(".flakelab").is_dir(),
        "nothing is written"
    );
    let named = checks
        .iter()
        .map(|c| (c["name"].as_str().unwrap_or_default().to_owned(), c.clone()));
    let code = output.status.code().unwrap_or(-1);
    (code, Value::Object(named.collect()))
}

#[test]
fn a_project_that_can_be_run_is_ready() {
    let project = Project::example("tiny").with("clock");
    let (code, checks) = doctor(&project, &[]);
    assert_eq!(code, 0, "{checks}");
    let names = [
        "project",
        "configuration",
        "store",
        "interpreter",
        "pytest",
        "suite",
        "fork",
        "sandbox",
        "clock",
        "memory",
        "network",
        "addresses",
        "git",
        "browser",
        "coverage",
    ];
    for name in names {
        assert!(checks[name]["state"].is_string(), "{name}: {checks}");
    }
    for name in ["suite", "fork", "clock", "memory"] {
        assert_eq!(checks[name]["state"], "ok", "{name}: {checks}");
    }
}

#[test]
fn without_libfaketime_the_cost_is_named() {
    let (code, checks) = doctor(&Project::example("tiny"), &[]);
    // Debian may have it for all.
    let system = ["x86_64", "aarch64"]
        .iter()
        .any(|arch| std::path::Path::new(&format!("/usr/lib/{arch}-linux-gnu/faketime")).exists());
    let expected = if system { "ok" } else { "missing" };
    assert_eq!(checks["clock"]["state"], expected, "{checks}");
    assert_eq!(code, 0, "it can be done without: {checks}");
}

#[test]
fn an_interpreter_without_pytest_is_not_ready_and_the_rest_is_still_checked() {
    let (code, checks) = doctor(&Project::example("tiny").with("lint"), &[]);
    assert_eq!(code, 3);
    assert_eq!(checks["pytest"]["state"], "broken", "{checks}");
    assert!(checks["git"]["state"].is_string(), "{checks}");
    let (code, checks) = doctor(&Project::example("tiny"), &["--python", "nowhere/python"]);
    assert_eq!(code, 3);
    assert_eq!(checks["interpreter"]["state"], "broken", "{checks}");
}

#[test]
fn a_store_that_cannot_be_read_is_broken() {
    let project = Project::example("tiny");
    std::fs::write(project.path().join("x.sqlite"), "nonsense ".repeat(100)).expect("written");
    let (code, checks) = doctor(&project, &["--store", "x.sqlite"]);
    assert_eq!(code, 3);
    assert_eq!(checks["store"]["state"], "broken", "{checks}");

    // As every verb says that needs it, before it collects anything.
    std::fs::write(project.path().join(".flakelab"), "").expect("written");
    let (code, checks) = doctor(&project, &[]);
    assert_eq!(code, 3);
    assert_eq!(checks["store"]["state"], "broken", "{checks}");
    let python = project.python();
    let python = python.to_str().expect("utf-8");
    for args in [
        &["detect", "--python", python][..],
        &["report"],
        &["history"],
    ] {
        let output = project.flakelab(args).output().expect("flakelab runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(
            said.contains("is a file, and the store is a folder"),
            "{args:?}: {said}"
        );
    }
}

#[test]
fn a_suite_that_does_not_collect_is_broken_and_forks_are_tried_all_the_same() {
    let project = Project::new(&[("test_a.py", "import nonsense_that_is_not_there\n")]);
    let (code, checks) = doctor(&project, &[]);
    assert_eq!(code, 3);
    assert_eq!(checks["suite"]["state"], "broken", "{checks}");
    let found = checks["suite"]["found"].as_str().unwrap_or_default();
    assert!(found.contains("nonsense_that_is_not_there"), "{found}");
    assert_eq!(checks["fork"]["state"], "ok", "{checks}");
}

#[test]
fn a_folder_without_a_project_is_told_so() {
    let (code, checks) = doctor(&Project::new(&[("main.go", "package main")]), &[]);
    assert_eq!(code, 3);
    assert_eq!(checks["project"]["state"], "broken", "{checks}");
    assert_eq!(checks["fork"]["state"], "ok", "{checks}");
}

#[test]
fn threads_and_a_sandbox_that_is_off_cost_something() {
    let threads = "\
import threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
def test_a(): pass
";
    let project = Project::new(&[("test_a.py", threads)]);
    let (code, checks) = doctor(&project, &["--sandbox", "off"]);
    assert_eq!(code, 0, "{checks}");
    assert_eq!(checks["fork"]["state"], "missing", "{checks}");
    assert_eq!(checks["sandbox"]["state"], "missing", "{checks}");
}

#[test]
fn what_a_suite_says_cannot_drive_the_terminal() {
    let evil = "raise ImportError('\\x1b[2Jgone' * 1000)\n";
    let project = Project::new(&[("test_a.py", evil)]);
    let python = environment("pytest8");
    let output = project
        .flakelab(&["doctor", "--python", &python.to_string_lossy()])
        .output()
        .expect("flakelab runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(!said.contains('\u{1b}'), "{said}");
    assert!(said.contains("not ready"), "{said}");
    assert!(
        said.lines().all(|line| line.chars().count() < 500),
        "{said}"
    );
}

#[test]
fn a_wrong_configuration_is_named() {
    let project = Project::new(&[
        ("test_a.py", "def test_a(): pass\n"),
        ("flakelab.toml", "ordres = 5\n"),
    ]);
    let (code, checks) = doctor(&project, &[]);
    assert_eq!(code, 3);
    assert_eq!(checks["configuration"]["state"], "broken", "{checks}");
}
