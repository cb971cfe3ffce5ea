//! `flakelab filter` on small projects: what teaches it, what it recognises again, what it refuses.

use std::collections::BTreeSet;

use crate::support::Project;
use serde_json::Value;

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// (exit code, standard output, standard error) of a command with the project's interpreter.
fn filter(project: &Project, args: &[&str]) -> (i32, String, String) {
    let python = project.python();
    let mut all = vec![
        "filter",
        args[0],
        "--python",
        python.to_str().expect("utf-8"),
    ];
    all.extend(&args[1..]);
    let run = project.flakelab(&all).output().expect("flakelab runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        run.status.code().expect("a code"),
        text(&run.stdout),
        text(&run.stderr),
    )
}

fn gate(project: &Project, args: &[&str]) -> (i32, Value) {
    let mut all = vec!["run", "--format", "json"];
    all.extend(args);
    let (code, said, errors) = filter(project, &all);
    let document = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}{errors}"));
    (code, document)
}

fn write(project: &Project, name: &str, text: &str) {
    std::fs::write(project.path().join(name), text).expect("written");
}

/// Six tests that all fail in the second run of a series, as if a service were down.
const OUTAGE: &str = "import pathlib\n\nimport pytest\n\ncounter = pathlib.Path.home() / 'runs'\nruns = int(counter.read_text()) + 1 if counter.exists() else 1\ncounter.write_text(str(runs))\n\n\n@pytest.mark.parametrize('n', range(6))\ndef test_service(n):\n    assert (runs == 3) is False\n";

#[test]
fn an_outage_teaches_nothing() {
    let project = Project::new(&[("test_service.py", OUTAGE)]);
    let (code, said, notes) = filter(
        &project,
        &["learn", "--version", "v1", "--runs", "6", "--seed", "1"],
    );
    assert_eq!(code, 0, "{notes}");
    assert!(
        notes.contains("1 of 6 runs teach nothing: most tests failed at once"),
        "{notes}"
    );
    assert!(said.contains("in 5 runs, 0 of them vary"), "{said}");

    write(
        &project,
        "test_service.py",
        &OUTAGE.replace("runs == 3", "True"),
    );
    let (code, _, said) = filter(&project, &["learn", "--version", "v2", "--runs", "2"]);
    assert_eq!(code, 4, "{said}");
    assert!(
        said.contains("most tests failed in every run; nothing was learned"),
        "{said}"
    );
}

/// A die that shows 1, 2, 3 in turn, in the runs of a series.
const KINDS: &str = "import pathlib\nimport unittest\n\nimport pytest\n\ncounter = pathlib.Path.home() / 'runs'\nruns = int(counter.read_text()) + 1 if counter.exists() else 1\ncounter.write_text(str(runs))\n\n\ndef roll():\n    return runs % 3 + 1\n\n\ndef test_assert():\n    assert roll() == 0\n    assert 1 == 1\n\n\ndef test_raises():\n    with pytest.raises(ValueError):\n        if roll() != 2:\n            raise ValueError(roll())\n\n\nclass TestOld(unittest.TestCase):\n    def test_method(self):\n        self.assertEqual(roll(), 0)\n        self.assertTrue(True)\n";

#[test]
fn every_kind_of_assertion_can_be_passed_over_and_is_known_after_an_edit() {
    let project = Project::new(&[("test_kinds.py", KINDS)]);
    let (code, said, notes) = filter(
        &project,
        &[
            "learn",
            "--version",
            "v1",
            "--runs",
            "9",
            "--format",
            "json",
        ],
    );
    assert_eq!(code, 0, "{said}{notes}");
    let learned: Value = serde_json::from_str(&said).expect("a document");
    assert_eq!(learned["schema"]["name"], "flakelab.filter.learn");
    assert_eq!(
        (&learned["version"], &learned["tests"]),
        (&"v1".into(), &3.into())
    );
    let varying = list(&learned["varying"]).iter();
    let tests: BTreeSet<&str> = varying.filter_map(|a| a["test"].as_str()).collect();
    assert_eq!(tests.len(), 3, "{learned:#}");
    // Lines move, and one assertion says something a little different.
    let edited = KINDS
        .replace("import pathlib\n", "import pathlib  # dice\n\n")
        .replace("assert roll() == 0", "assert roll() == 0, 'dice'");
    write(&project, "test_kinds.py", &edited);
    for _ in 0..3 {
        let (code, document) = gate(&project, &[]);
        assert_eq!(code, 0, "{document:#}");
        let verdicts: Vec<&Value> = list(&document["tests"])
            .iter()
            .map(|test| &test["verdict"])
            .collect();
        assert_eq!(verdicts, ["filtered"; 3], "{document:#}");
    }
    // What stands behind a filtered assertion still counts.
    write(
        &project,
        "test_kinds.py",
        &edited.replace("assert 1 == 1", "assert 1 == 2"),
    );
    let (code, document) = gate(&project, &["--reruns", "1"]);
    assert_eq!(code, 1, "{document:#}");
    let failed: Vec<&Value> = list(&document["tests"])
        .iter()
        .filter(|t| t["verdict"] == "failed")
        .collect();
    assert_eq!(failed.len(), 1, "{document:#}");
    assert_eq!(failed[0]["id"], "test_kinds.py::test_assert");

    let (code, said, _) = filter_without_python(
        &project,
        &[
            "label",
            "test_kinds.py::test_assert",
            "bug",
            "--assertion",
            "assert 1 == 2",
        ],
    );
    assert_eq!(code, 0, "{said}");
    let (_, document) = gate(&project, &["--reruns", "0"]);
    assert!(
        document.to_string().contains("\"label\":\"bug\""),
        "{document:#}"
    );
}

fn filter_without_python(project: &Project, args: &[&str]) -> (i32, String, String) {
    let mut all = vec!["filter"];
    all.extend(args);
    let run = project.flakelab(&all).output().expect("flakelab runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        run.status.code().expect("a code"),
        text(&run.stdout),
        text(&run.stderr),
    )
}

#[test]
fn bad_input_gets_one_clear_error_with_a_hint() {
    let project = Project::new(&[("test_a.py", "def test_a():\n    assert 1\n")]);
    for (args, said) in [
        (&["run"][..], "nothing was learned yet"),
        (&["tune"], "nothing was learned yet"),
        (&["learn"], "this version has no name"),
        (&["learn", "--version", "v1", "--runs", "1"], "--runs 1"),
        (
            &["learn", "--version", "v1", "--resume"],
            "no campaign to resume",
        ),
        (&["run", "--quarantine", "nowhere.toml"], "nowhere.toml"),
    ] {
        let (code, _, stderr) = filter(&project, args);
        assert_eq!(code, 2, "{args:?}: {stderr}");
        assert!(stderr.contains(said), "{args:?}: {stderr}");
    }
    for (args, said) in [
        (&["explain", "test_a.py"][..], "nothing was learned yet"),
        (&["suggest", "--owner", " "], "--owner is empty"),
        (&["suggest"], "--owner"),
        (&["apply", "nowhere.xml"], "nothing was learned yet"),
        (&["label", "test_a.py::test_a", "wrong"], "possible values"),
    ] {
        let (code, _, stderr) = filter_without_python(&project, args);
        assert_eq!(code, 2, "{args:?}: {stderr}");
        assert!(stderr.contains(said), "{args:?}: {stderr}");
    }
}
