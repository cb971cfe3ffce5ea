//! `flakelab` without a verb: one screen, with next steps that fit where one is.

use crate::support::Project;

/// What is under `Here:`: the place and the three commands.
fn welcome(project: &Project) -> (String, Vec<String>) {
    let output = project.flakelab(&[]).output().expect("flakelab runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(output.stderr.is_empty(), "{text}");
    assert!(text.lines().count() <= 24, "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    for verb in ["detect", "explain", "fix", "measure", "filter", "doctor"] {
        assert!(text.contains(&format!("\n  {verb} ")), "{verb}: {text}");
    }
    let (_, here) = text.split_once("\nHere: ").expect("a place");
    let mut lines = here.lines();
    let place = lines.next().expect("a place").to_owned();
    let steps: Vec<String> = lines
        .take_while(|line| !line.is_empty())
        .map(|line| {
            let command = line.trim().split("  ").next().unwrap_or_default();
            command.to_owned()
        })
        .collect();
    assert_eq!(steps.len(), 3, "{text}");
    (place, steps)
}

#[test]
fn no_project_and_a_new_one() {
    let (place, steps) = welcome(&Project::new(&[("main.go", "package main")]));
    assert_eq!(place, "no Python project");
    assert_eq!(steps[0], "flakelab detect PATH");
    let project = Project::new(&[("test_a.py", "def test_a(): pass\n")]);
    let (place, steps) = welcome(&project);
    assert!(place.ends_with("nothing known of it yet"), "{place}");
    assert_eq!(steps[0], "flakelab doctor");
    assert!(!project.path().join(".flakelab").exists());
}

#[test]
fn from_detect_to_a_patch_each_step_leads_to_the_next() {
    let suite = "STATE = []\ndef test_a(): STATE.append(1)\ndef test_b(): assert not STATE\n";
    let project = Project::new(&[("test_a.py", suite)]);
    project.detect(&["--orders", "10"]);
    let (place, steps) = welcome(&project);
    assert!(place.ends_with("found 1 flaky test"), "{place}");
    assert_eq!(steps[0], "flakelab explain");
    project.explain(&[]);
    let (place, steps) = welcome(&project);
    assert!(place.ends_with("1 flaky test, explained"), "{place}");
    assert_eq!(steps[0], "flakelab fix");
    project.fix(&[]);
    let (_, steps) = welcome(&project);
    assert_eq!(steps[0], "flakelab fix --apply");
    project.detect(&["--orders", "10"]);
    let (_, steps) = welcome(&project);
    assert_eq!(steps[0], "flakelab explain", "the newest detect counts");
}

#[test]
fn nothing_found_and_something_interrupted() {
    let project = Project::new(&[("test_a.py", "def test_a(): pass\n")]);
    project.detect(&["--orders", "2"]);
    let (place, steps) = welcome(&project);
    assert!(place.ends_with("no flaky test"), "{place}");
    assert_eq!(steps[0], "flakelab detect --orders 1000");
    let store = project.path().join(".flakelab/store.sqlite");
    let store = rusqlite::Connection::open(store).expect("a store");
    store
        .execute("UPDATE campaigns SET finished = NULL", [])
        .expect("unfinished");
    let (place, steps) = welcome(&project);
    assert!(place.contains("interrupted"), "{place}");
    assert_eq!(steps[0], "flakelab detect --resume");
}

#[test]
fn reports_alone_lead_to_the_history() {
    let report = "<testsuite><testcase classname='a' name='b'/></testsuite>";
    let project = Project::new(&[("test_a.py", ""), ("report.xml", report)]);
    let output = project
        .flakelab(&["ingest", "report.xml", "--version", "1"])
        .output()
        .expect("flakelab runs");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(welcome(&project).1[0], "flakelab history");
}
