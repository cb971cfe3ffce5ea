//! An ingest that is killed.

use std::fs;
use std::time::{Duration, Instant};

use crate::support::Project;
use crate::support::store::{connection, ingest, texts};

/// Tests of each large report.
const ROWS: usize = 15_000;

/// Reports of many tests, so that reading them takes a while.
fn large(project: &Project) -> Vec<String> {
    let files: Vec<String> = (0..12).map(|n| format!("{n}.xml")).collect();
    for (n, name) in files.iter().enumerate() {
        let case = |t: usize| {
            let body = if (t + n).is_multiple_of(7) {
                "<failure/>"
            } else {
                ""
            };
            format!(
                "<testcase classname=\"tests.test_{}\" name=\"test_{t}\">{body}</testcase>",
                t / 50
            )
        };
        let cases: String = (0..ROWS).map(case).collect();
        let report = format!("<testsuite name=\"pytest\">{cases}</testsuite>");
        fs::write(project.path().join(name), report).expect("a report");
    }
    files
}

fn totals(project: &Project) -> Vec<String> {
    assert_eq!(texts(project, "PRAGMA integrity_check"), ["ok"]);
    texts(
        project,
        "SELECT 'files ' || count(*) || ' ' || sum(executions) FROM history_files
         UNION ALL SELECT 'rows ' || count(*) || ' ' || sum(length(content)) FROM history_rows
         UNION ALL SELECT 'tallies ' || count(*) || ' ' || sum(passed) || ' ' || sum(failed) || ' ' || sum(flips)
             || ' ' || sum(runs) FROM history_tallies
         UNION ALL SELECT 'tests ' || count(*) FROM history_tests
         UNION ALL SELECT 'runs ' || count(*) FROM history_runs",
    )
}

#[test]
fn a_kill_at_any_moment_loses_nothing_that_was_committed() {
    let clean = Project::new(&[]);
    let files = large(&clean);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let started = Instant::now();
    assert_eq!(ingest(&clean, &files).code, 0);
    let takes = started.elapsed();
    let expected = totals(&clean);

    for tenths in [3, 6, 9] {
        let project = Project::new(&[]);
        large(&project);
        // Some of it first, so that there is something to lose.
        assert_eq!(ingest(&project, &files[..2]).code, 0);
        let mut all = vec!["ingest", "--version", "1", "--quiet"];
        all.extend(&files);
        let mut child = project.flakelab(&all).spawn().expect("flakelab starts");
        let until = Instant::now() + takes * tenths / 10;
        while Instant::now() < until && child.try_wait().expect("a state").is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = child.kill();
        child.wait().expect("it ends");
        let number = |query: &str| -> i64 {
            let found = connection(&project).query_row(query, [], |row| row.get(0));
            found.expect("a number")
        };
        let kept = number("SELECT count(*) FROM history_files");
        assert!(kept >= 2, "{kept}");
        // Every file that is in is in with all its rows.
        let rows = number("SELECT sum(passed + failed) FROM history_tallies");
        assert_eq!(rows, kept * ROWS as i64);
        assert_eq!(ingest(&project, &files).code, 0);
        assert_eq!(totals(&project), expected);
    }
}
