//! Campaigns: stored as they go, interrupted, killed, resumed, budgeted.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use crate::support::{Project, Run};

/// A suite with a victim whose tests take long enough to be interrupted in the middle of a campaign.
fn slow() -> Project {
    let mut text = String::from("import time\nSTATE = []\n");
    text.push_str("def test_polluter(): STATE.append(1)\n");
    text.push_str("def test_victim(): assert not STATE\n");
    for number in 0..6 {
        text.push_str(&format!("def test_{number}(): time.sleep(0.02)\n"));
    }
    Project::new(&[("test_slow.py", &text)])
}

fn runs_in_store(project: &Project) -> i64 {
    count(project, "SELECT count(*) FROM runs")
}

fn count(project: &Project, query: &str) -> i64 {
    let store = project.path().join(".flakelab/store.sqlite");
    let count = || -> Option<i64> {
        let db = rusqlite::Connection::open_with_flags(
            &store,
            rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY,
        )
        .ok()?;
        db.query_row(query, [], |row| row.get(0)).ok()
    };
    count().unwrap_or(0)
}

/// Starts a campaign and waits until some of its runs are in the store.
fn start(project: &Project, args: &[&str]) -> Child {
    let python = project.python();
    let mut all = vec![
        "detect",
        "--python",
        python.to_str().expect("utf-8"),
        "--seed",
        "1",
        "-j",
        "2",
    ];
    all.extend(args);
    let mut child = project
        .flakelab(&all)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("flakelab starts");
    while runs_in_store(project) < 20 {
        assert!(
            child.try_wait().expect("a child").is_none(),
            "it ended too early"
        );
        std::thread::yield_now();
    }
    child
}

fn children_of_the_suite(project: &Project) -> Vec<String> {
    let needle = project.path().to_string_lossy().into_owned();
    std::fs::read_dir("/proc")
        .expect("proc")
        .flatten()
        .filter(|entry| {
            entry
                .file_name()
                .to_string_lossy()
                .bytes()
                .all(|b| b.is_ascii_digit())
        })
        .filter(|entry| {
            std::fs::read_link(entry.path().join("cwd"))
                .is_ok_and(|cwd| cwd.to_string_lossy().starts_with(&needle))
        })
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

fn resume(project: &Project) -> Run {
    let document = tempfile::tempdir()
        .expect("a directory")
        .keep()
        .join("d.json");
    let python = project.python();
    let output = project
        .flakelab(&[
            "detect",
            "--python",
            python.to_str().expect("utf-8"),
            "-j",
            "2",
            "--resume",
            "--format",
            "json",
        ])
        .arg("-o")
        .arg(&document)
        .output()
        .expect("flakelab runs");
    Run::of(output, &document)
}

#[test]
fn ctrl_c_keeps_what_finished_and_resume_goes_on() {
    let project = slow();
    let before = project.tree();
    let mut child = start(&project, &[]);
    signal(&child, libc::SIGINT);
    let said: Vec<String> = BufReader::new(child.stderr.take().expect("piped"))
        .lines()
        .map_while(Result::ok)
        .collect();
    assert_eq!(child.wait().expect("ends").code(), Some(130), "{said:?}");
    assert!(
        said.iter().any(|line| line.contains("--resume")),
        "{said:?}"
    );
    assert!(children_of_the_suite(&project).is_empty());
    assert_eq!(project.tree(), before);

    let kept = runs_in_store(&project);
    assert!(kept >= 20);
    let run = resume(&project);
    assert!(
        run.stderr.contains("runs were taken from the store"),
        "{}",
        run.stderr
    );
    run.expect(&[("test_slow.py::test_victim", "victim")]);
    assert_eq!(run.document["campaign"]["seed"], 1);

    // The same campaign without an interruption comes to the same result.
    let whole = slow().detect(&["-j", "2"]);
    assert_eq!(run.document["tests"], whole.document["tests"]);
    assert_eq!(
        run.document["campaign"]["executions"],
        whole.document["campaign"]["executions"]
    );
}

/// `fix` explains first, and what is interrupted then is another campaign.
#[test]
fn ctrl_c_is_heard_by_the_second_campaign_of_a_command_as_well() {
    let project = slow();
    project.detect(&["--orders", "8"]);
    let python = project.python();
    let python = python.to_str().expect("utf-8");
    let mut child = project
        .flakelab(&["fix", "--python", python, "--shuffles", "1000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("flakelab starts");
    while count(
        &project,
        "SELECT count(*) FROM campaigns WHERE verb = 'fix'",
    ) == 0
    {
        assert!(
            child.try_wait().expect("a child").is_none(),
            "it ended too early"
        );
        std::thread::yield_now();
    }
    signal(&child, libc::SIGINT);
    assert_eq!(child.wait().expect("ends").code(), Some(130));
    assert!(children_of_the_suite(&project).is_empty());
}

#[test]
fn a_killed_campaign_leaves_no_process_and_can_be_resumed() {
    let project = slow();
    let mut child = start(&project, &[]);
    signal(&child, libc::SIGKILL);
    child.wait().expect("ends");
    // The kernel ends the zygotes with flakelab, and their forks with them.
    while !children_of_the_suite(&project).is_empty() {
        std::thread::yield_now();
    }
    let run = resume(&project);
    assert!(
        run.stderr.contains("runs were taken from the store"),
        "{}",
        run.stderr
    );
    run.expect(&[("test_slow.py::test_victim", "victim")]);
}

#[test]
fn resuming_with_other_options_is_refused() {
    let project = Project::new(&[("test_a.py", "def test_a(): pass\n")]);
    project.detect(&["--orders", "5"]);
    let run = resume(&project);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("was started with other options"),
        "{}",
        run.stderr
    );
}

#[test]
fn resuming_a_changed_suite_is_refused() {
    let project = Project::new(&[("test_a.py", "def test_a(): pass\n")]);
    project.detect(&[]);
    std::fs::write(project.path().join("test_b.py"), "def test_b(): pass\n").expect("written");
    let run = resume(&project);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("the suite has changed"),
        "{}",
        run.stderr
    );
}

/// Runs of before an edit and runs of after it are not runs of one suite.
#[test]
fn resuming_after_an_edit_is_refused() {
    let project = Project::new(&[("test_a.py", "def test_a(): pass\n")]);
    project.detect(&["--orders", "1"]);
    std::fs::write(project.path().join("test_a.py"), "def test_a(): fail\n").expect("written");
    let run = project.detect(&["--orders", "1", "--resume"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("Python files changed"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_budget_ends_the_campaign_with_an_honest_statement() {
    let run = slow().detect(&["--budget", "1ms"]);
    assert_eq!(run.document["campaign"]["out_of_budget"], true);
    assert_eq!(run.document["confidence"]["random_orders"], 0);
    assert!(
        run.stderr.contains("the budget ended the search"),
        "{}",
        run.stderr
    );
    assert_eq!(run.code, 4);
}

#[test]
fn a_budget_does_not_wait_for_a_run_that_takes_longer() {
    // Without the budget this campaign would wait for ever.
    let project = Project::new(&[(
        "test_a.py",
        "import threading\ndef test_a(): pass\ndef test_b(): threading.Event().wait()\n",
    )]);
    let run = project.detect(&["--budget", "3s", "--test-timeout", "1h"]);
    assert_eq!(run.document["campaign"]["out_of_budget"], true);
    assert_eq!(run.code, 4);
}

#[test]
fn every_run_is_stored_with_seed_configuration_and_environment() {
    let project = Project::new(&[("test_a.py", "def test_a(): pass\ndef test_b(): pass\n")]);
    let run = project.detect(&["--orders", "4"]);
    let db =
        rusqlite::Connection::open(project.path().join(".flakelab/store.sqlite")).expect("a store");
    let (seed, configuration, environment, document): (i64, String, String, String) = db
        .query_row(
            "SELECT seed, configuration, environment, document FROM campaigns",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )
        .expect("one campaign");
    assert_eq!(seed, 1);
    assert!(configuration.contains("\"orders\":4"), "{configuration}");
    assert!(environment.contains("\"pytest\":\"8."), "{environment}");
    let stored: serde_json::Value = serde_json::from_str(&document).expect("a document");
    assert_eq!(stored["tests"], run.document["tests"]);
    let executions: i64 = db
        .query_row(
            "SELECT count(*) FROM executions WHERE outcome <> 'not_run'",
            [],
            |row| row.get(0),
        )
        .expect("counted");
    assert_eq!(run.document["campaign"]["executions"], executions);
    assert!(Path::new(&project.path().join(".flakelab/.gitignore")).exists());
}

#[test]
fn the_same_seed_gives_the_same_orders_and_another_seed_gives_others() {
    let text: String = (0..12).map(|n| format!("def test_{n}(): pass\n")).collect();
    let orders = |seed: &str| {
        let project = Project::new(&[("test_a.py", &text)]);
        project.detect(&["--orders", "4", "--seed", seed]);
        let db = rusqlite::Connection::open(project.path().join(".flakelab/store.sqlite"))
            .expect("a store");
        let mut statement = db
            .prepare("SELECT DISTINCT tests FROM runs WHERE length(tests) = 48 ORDER BY tests")
            .expect("prepared");
        let rows = statement
            .query_map([], |row| row.get::<_, Vec<u8>>(0))
            .expect("queried");
        rows.collect::<Result<Vec<_>, _>>().expect("rows")
    };
    assert_eq!(orders("7"), orders("7"));
    assert_ne!(orders("7"), orders("8"));
}

#[allow(unsafe_code, reason = "std cannot send signals")]
fn signal(child: &Child, number: i32) {
    // SAFETY: plain system call on a child we have not waited for.
    unsafe {
        libc::kill(i32::try_from(child.id()).expect("a pid"), number);
    }
}
