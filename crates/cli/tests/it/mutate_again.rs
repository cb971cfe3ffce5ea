//! `flakelab mutate` once more: what is known is not run again, and nothing else is taken for known.

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;

use crate::support::mutants::signal;
use crate::support::store::results;
use crate::support::{Project, Run};

/// Both are one file with three functions; tests of the second one take their time.
const CODE: &str = "\
def one(x):
    return x + 1


def two(x):
    return x * 2


def three(x):
    return one(x) - 3
";

fn tests(module: &str, wait: &str) -> String {
    format!(
        "import time\nimport {module}\n\n\ndef test_one():\n    {wait}\n    assert {module}.one(1) == 2\n\n\n\
         def test_two():\n    {wait}\n    assert {module}.two(2) == 4\n\n\n\
         def test_three():\n    {wait}\n    assert {module}.three(5) == 3\n"
    )
}

fn project() -> Project {
    Project::new(&[
        ("first.py", CODE),
        ("second.py", CODE),
        ("test_first.py", &tests("first", "time.sleep(0)")),
        ("test_second.py", &tests("second", "time.sleep(0.05)")),
    ])
}

fn edit(project: &Project, file: &str, from: &str, to: &str) {
    let path = project.path().join(file);
    let text = fs::read_to_string(&path).expect("readable");
    assert!(text.contains(from));
    fs::write(path, text.replacen(from, to, 1)).expect("written");
}

/// `file:scope` of everything that was decided anew.
fn anew(run: &Run) -> BTreeSet<String> {
    let mutants = run.mutants().iter().filter(|m| m["reused"] == false);
    mutants
        .map(|m| format!("{}:{}", m["file"], m["scope"]).replace('"', ""))
        .collect()
}

fn names(scopes: &[&str]) -> BTreeSet<String> {
    scopes.iter().map(|s| (*s).to_owned()).collect()
}

#[test]
fn only_what_an_edit_can_have_changed_is_run_again() {
    let project = project();
    let first = project.mutate(&[]);
    assert!(first.number("/campaign/runs") > 0);
    assert_eq!(anew(&first).len(), 6);
    let known = first.statuses(&[]);

    let second = project.mutate(&["--seed", "2", "--jobs", "1"]);
    assert_eq!(second.number("/campaign/runs"), 0);
    assert_eq!(
        (anew(&second), second.statuses(&[])),
        (names(&[]), known.clone())
    );
    assert_eq!(second.document["score"], first.document["score"]);

    // Nobody else reaches it, though lines below move.
    edit(
        &project,
        "first.py",
        "    return x * 2",
        "    y = x\n    return y * 2",
    );
    assert_eq!(anew(&project.mutate(&[])), names(&["first.py:two"]));

    // Another function calls it, so the tests of that one have changed too.
    edit(&project, "first.py", "x + 1", "1 + x");
    assert_eq!(
        anew(&project.mutate(&[])),
        names(&["first.py:one", "first.py:three"])
    );

    // A test: everything the tests of its file reach.
    edit(&project, "test_second.py", "== 4", "== 2 + 2");
    assert_eq!(
        anew(&project.mutate(&[])),
        names(&["second.py:one", "second.py:three", "second.py:two"])
    );

    // A test that no longer checks: a verdict of before would be wrong.
    edit(
        &project,
        "test_second.py",
        "assert second.two(2) == 2 + 2",
        "second.two(2)",
    );
    let weaker = project.mutate(&[]);
    assert_eq!(weaker.statuses_in("two"), names(&["killed", "survived"]));

    // Everything may depend on what is set up for all tests.
    fs::write(project.path().join("conftest.py"), "READY = True\n").expect("written");
    assert_eq!(anew(&project.mutate(&[])).len(), 6);
    assert_eq!(anew(&project.mutate(&["--fresh"])).len(), 6);
}

fn interrupted(project: &Project, number: i32) -> Option<i32> {
    let mut child = project
        .flakelab(&["mutate", "--seed", "1", "--jobs", "1", "--python"])
        .arg(project.python())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("flakelab starts");
    while results(project, "verdict/") == 0 {
        let ended = child.try_wait().expect("a child");
        assert!(ended.is_none(), "it ended too early: {ended:?}");
        std::thread::yield_now();
    }
    signal(&child, number);
    child.wait().expect("ends").code()
}

#[test]
fn what_an_interrupted_campaign_has_finished_is_not_run_again() {
    let whole = project().mutate(&["--jobs", "1"]);
    let rest = project().mutate(&["--jobs", "1", "--only", "second.py"]);
    for (number, code) in [(libc::SIGKILL, None), (libc::SIGINT, Some(130))] {
        let project = project();
        let before = project.tree();
        assert_eq!(interrupted(&project, number), code);
        assert_eq!(project.tree(), before);
        let kept = results(&project, "verdict/");
        let run = project.mutate(&["--jobs", "1", "--resume"]);
        assert_eq!(run.statuses(&[]), whole.statuses(&[]));
        assert_eq!(run.document["totals"], whole.document["totals"]);
        let runs = run.number("/campaign/runs");
        assert!(
            runs > 0 && runs <= rest.number("/campaign/runs"),
            "{runs} of {}, {kept} kept",
            rest.number("/campaign/runs")
        );
        assert!(results(&project, "verdict/") > kept);
        let place = project.path().to_string_lossy().into_owned();
        assert!(crate::support::reproduce::processes_in(&place).is_empty());
    }
}

#[test]
fn functions_with_equal_names_and_texts_have_verdicts_of_their_own() {
    let code =
        "def one(x):\n    return x + 1\n\n\nfirst = one\n\n\ndef one(x):\n    return x + 1\n";
    let tests = "import twins\n\n\ndef test_first():\n    assert twins.first(1) == 2\n\n\n\
                 def test_second():\n    twins.one(1)\n";
    let project = Project::new(&[("twins.py", code), ("test_twins.py", tests)]);
    let lines = |run: &Run| -> BTreeSet<String> {
        let sums = run
            .mutants()
            .iter()
            .filter(|m| m["operator"] == "arithmetic");
        sums.map(|m| format!("{} {}", m["line"], m["status"]).replace('"', ""))
            .collect()
    };
    let expected = names(&["2 killed", "9 survived"]);
    assert_eq!(lines(&project.mutate(&[])), expected);
    let again = project.mutate(&[]);
    assert_eq!(again.number("/campaign/runs"), 0);
    assert_eq!(lines(&again), expected);
}

/// Reached by chance, so that reruns have something to do; a test fails now and then, and is named for it.
#[test]
fn a_campaign_that_goes_on_counts_the_reruns_of_what_it_had_finished() {
    let rare = |n: u32| format!("def rare{n}(x):\n    return x + {n}2 > 0\n\n\n");
    let code: String = (1..=6).map(rare).collect();
    let test = |n: u32| {
        format!(
            "def test_{n}():\n    if os.urandom(1)[0] < 128:\n        assert code1.rare{n}(1)\n\n\n"
        )
    };
    let tests: String = (1..=6).map(test).collect();
    let project = Project::new(&[
        ("code1.py", &code),
        (
            "test_it.py",
            &format!("import os\nimport code1\n\n\n{tests}"),
        ),
    ]);
    let first = project.mutate(&["--reruns", "2"]);
    assert!(first.number("/unknown_at_first") > 0, "{}", first.stdout);
    for again in [&["--reruns", "2", "--resume"][..], &["--reruns", "2"]] {
        let run = project.mutate(again);
        if again.contains(&"--resume") {
            assert_eq!(run.number("/campaign/runs"), 0);
            assert_eq!(run.document["ladder"], first.document["ladder"]);
            assert_eq!(
                run.document["unknown_at_first"],
                first.document["unknown_at_first"]
            );
        }
        let unknown = run.number("/totals/unknown");
        assert!(run.number("/unknown_at_first") >= unknown, "{}", run.stdout);
    }
}
