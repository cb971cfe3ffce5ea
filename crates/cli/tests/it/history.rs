//! `flakelab ingest` and `flakelab history`: the real binary on real reports, broken ones, and killed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::{Project, Run, root};
use serde_json::Value;

fn suite(cases: &str) -> String {
    format!("<testsuites><testsuite name=\"pytest\">{cases}</testsuite></testsuites>")
}

fn case(name: &str, passes: bool) -> String {
    let body = if passes {
        ""
    } else {
        "<failure message=\"no\"/>"
    };
    format!("<testcase classname=\"tests.test_a\" name=\"{name}\">{body}</testcase>")
}

fn ingest(project: &Project, args: &[&str]) -> Run {
    let mut all = vec!["ingest"];
    all.extend(args);
    let output = project.flakelab(&all).output().expect("flakelab runs");
    Run::of(output, Path::new("/nowhere"))
}

fn history(project: &Project, args: &[&str]) -> Run {
    let document = project.path().join("history.json");
    let path = document.to_str().expect("utf-8").to_owned();
    let mut all = vec!["history", "--format", "json", "-o", &path];
    all.extend(args);
    let output = project.flakelab(&all).output().expect("flakelab runs");
    Run::of(output, &document)
}

/// Everything that the database says, but for times.
fn content(project: &Project) -> BTreeMap<String, Vec<String>> {
    let store = project.path().join(".flakelab/store.sqlite");
    let connection = rusqlite::Connection::open(store).expect("a database");
    let sound: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("a check");
    assert_eq!(sound, "ok");
    let tables = [
        ("versions", "SELECT id || name FROM history_versions ORDER BY id"),
        ("tests", "SELECT id || name FROM history_tests ORDER BY id"),
        ("runs", "SELECT id || '.' || version || name FROM history_runs ORDER BY id"),
        ("files", "SELECT run || '.' || executions || hex(digest) FROM history_files ORDER BY id"),
        ("rows", "SELECT file || '.' || part || hex(content) FROM history_rows ORDER BY file, part"),
        (
            "tallies",
            "SELECT version || '.' || test || '.' || passed || '.' || failed || '.' || flips || '.' || runs
             FROM history_tallies ORDER BY version, test",
        ),
    ];
    tables
        .iter()
        .map(|(name, query)| {
            let mut statement = connection.prepare(query).expect("a query");
            let rows = statement.query_map([], |row| row.get(0)).expect("rows");
            (
                (*name).to_owned(),
                rows.map(|row| row.expect("text")).collect(),
            )
        })
        .collect()
}

fn test<'a>(document: &'a Value, id: &str) -> &'a Value {
    let tests = document["tests"].as_array().expect("tests");
    tests
        .iter()
        .find(|t| t["id"] == id)
        .unwrap_or_else(|| panic!("no {id} in {document}"))
}

#[test]
fn tests_that_flake_come_with_their_scores_and_the_first_bad_version() {
    let project = Project::new(&[]);
    let runs = [
        ("1", [true, true, true]),
        ("1", [true, true, true]),
        ("2", [true, false, true]),
        ("2", [false, false, true]),
        ("3", [true, false, true]),
        ("3", [true, false, true]),
    ];
    for (at, (version, [flaky, broken, fine])) in runs.iter().enumerate() {
        let cases = [
            ("test_flaky", flaky),
            ("test_broken", broken),
            ("test_fine", fine),
        ]
        .map(|(name, passes)| case(name, *passes))
        .concat();
        let file = format!("{at}.xml");
        fs::write(project.path().join(&file), suite(&cases)).expect("a report");
        let run = ingest(
            &project,
            &[&file, "--version", version, "--run", &at.to_string()],
        );
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(
            run.stdout
                .contains("1 report with 3 results in 3 executions"),
            "{}",
            run.stdout
        );
    }
    let run = history(&project, &[]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let document = &run.document;
    assert_eq!(document["schema"]["name"], "flakelab.history");
    assert_eq!(document["totals"]["executions"], 18);
    assert_eq!(
        (&document["totals"]["flaky"], &document["totals"]["found"]),
        (&1.into(), &2.into())
    );
    // P P | P F | P P: one flip of three pairs within, one of two between versions.
    let flaky = test(document, "tests/test_a.py::test_flaky");
    assert_eq!(document["tests"][0], *flaky);
    assert_eq!(flaky["first_bad_version"], "2");
    let number = |value: &Value| value.as_f64().expect("a number");
    assert!((number(&flaky["entropy"]) - std::f64::consts::LN_2 / 3.0).abs() < 1e-9);
    assert!((number(&flaky["flip_rate"]) - 2.0 / 5.0).abs() < 1e-9);
    assert!((number(&flaky["transition_score"]) - 1.5 / 4.0).abs() < 1e-9);
    assert_eq!(
        (&flaky["runs"], &flaky["failures"], &flaky["versions"]),
        (&6.into(), &1.into(), &3.into())
    );
    assert_eq!(flaky["verdicts"][1]["failed"], 1);
    let broken = test(document, "tests/test_a.py::test_broken");
    assert_eq!(broken["first_bad_version"], Value::Null);
    assert_eq!(broken["entropy"], 0.0);
    assert!(run.stdout.contains("▁▅▁"), "{}", run.stdout);

    let named = history(&project, &["test_flaky"]);
    let runs = named.document["tests"][0]["history"]
        .as_array()
        .expect("runs");
    let letters: Vec<&str> = runs.iter().filter_map(|r| r["outcomes"].as_str()).collect();
    assert_eq!(letters, [".", ".", ".", "F", ".", "."]);
    let fine = history(&project, &["tests/test_a.py::test_fine"]);
    assert_eq!(fine.code, 0);
    let wrong = history(&project, &["test_flakey"]);
    assert_eq!(wrong.code, 2);
    assert!(
        wrong.stderr.contains("hint: did you mean"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn reports_of_all_runners_in_one_directory() {
    let project = Project::new(&[
        ("reports/pom.xml", "<project/>"),
        ("reports/package.json", "{}"),
    ]);
    for entry in fs::read_dir(root().join("crates/history/tests/samples"))
        .expect("samples")
        .flatten()
    {
        let target = project.path().join("reports").join(entry.file_name());
        fs::copy(entry.path(), target).expect("a copy");
    }
    let run = ingest(&project, &["reports", "--version", "1"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("9 reports"), "{}", run.stdout);
    assert!(run.stdout.contains("2 files passed over"), "{}", run.stdout);
    assert_eq!(run.stderr, "");
    let shown = history(&project, &["--limit", "0"]);
    let totals = test(&shown.document, "com.acme.shop.CartTest#totals");
    assert_eq!(
        (&totals["runs"], &totals["flaky_runs"], &totals["failures"]),
        (&2.into(), &2.into(), &3.into())
    );
    let retried = test(&shown.document, "tests/test_mod.py::test_flaky");
    assert_eq!(
        (&retried["executions"], &retried["failures"]),
        (&9.into(), &6.into())
    );
}

#[test]
fn the_same_report_counts_once_and_a_broken_one_among_good_ones_is_named() {
    let good = suite(&case("test_x", true));
    let other = suite(&case("test_x", false));
    let project = Project::new(&[
        ("a.xml", &good),
        ("b.xml", &other),
        ("broken.xml", &good[..80]),
    ]);
    let first = ingest(
        &project,
        &["a.xml", "broken.xml", "b.xml", "gone.xml", "--version", "1"],
    );
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert!(first.stdout.contains("2 reports"), "{}", first.stdout);
    assert!(
        first.stdout.contains("2 files left out"),
        "{}",
        first.stdout
    );
    assert!(
        first
            .stderr
            .contains("`broken.xml` is left out: it ends in the middle"),
        "{}",
        first.stderr
    );
    assert!(
        first
            .stderr
            .contains("`gone.xml` is left out: No such file"),
        "{}",
        first.stderr
    );
    let before = content(&project);
    let again = ingest(
        &project,
        &["a.xml", "broken.xml", "b.xml", "--version", "1"],
    );
    assert_eq!(again.code, 0);
    assert!(
        again.stdout.contains("2 files in already"),
        "{}",
        again.stdout
    );
    assert_eq!(content(&project), before);
    let nothing = ingest(&project, &["broken.xml", "--version", "2"]);
    assert_eq!(nothing.code, 2);
    assert!(
        nothing.stderr.contains("hint: flakelab reads JUnit XML"),
        "{}",
        nothing.stderr
    );
    assert_eq!(content(&project), before);
}

#[test]
fn the_version_is_the_commit_unless_it_is_named() {
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let report = suite(&case("test_x", true));
    let project = Project::new(&[("a.xml", &report)]);
    let without = ingest(&project, &["a.xml"]);
    assert_eq!(without.code, 2);
    assert!(
        without.stderr.contains("hint: name one: --version"),
        "{}",
        without.stderr
    );
    fs::create_dir(project.path().join(".git")).expect("a directory");
    fs::write(project.path().join(".git/HEAD"), commit).expect("a head");
    assert_eq!(ingest(&project, &["a.xml"]).code, 0);
    assert_eq!(content(&project)["versions"], [format!("1{commit}")]);
    for bad in ["", " ", &"x".repeat(500)] {
        assert_eq!(ingest(&project, &["a.xml", "--version", bad]).code, 2);
    }
}

#[test]
fn nothing_is_said_about_nothing() {
    let project = Project::new(&[("empty/readme.txt", "")]);
    let run = history(&project, &[]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("hint: take reports in"),
        "{}",
        run.stderr
    );
    let run = ingest(&project, &["empty", "--version", "1"]);
    assert_eq!(run.code, 2);
    assert!(!project.path().join(".flakelab").exists());
}
