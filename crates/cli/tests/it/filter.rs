//! `flakelab filter` on small projects: what teaches it, what it recognises again, what it refuses.

use std::collections::BTreeSet;

use crate::support::Project;
use crate::support::patches::commit;
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
        (&["run", "--junit", "nowhere/x.xml"], "cannot be written"),
        (&["tune", "--html", "nowhere/x.html"], "cannot be written"),
    ] {
        let (code, _, stderr) = filter(&project, args);
        assert_eq!(code, 2, "{args:?}: {stderr}");
        assert!(stderr.contains(said), "{args:?}: {stderr}");
    }
    for (args, said) in [
        (&["explain", "test_a.py"][..], "nothing was learned yet"),
        (&["suggest", "--owner", " "], "--owner is empty"),
        (&["suggest"], "--owner"),
        (
            &["suggest", "--owner", "me", "--days", "4000000"],
            "4000000 is not in",
        ),
        (&["apply", "nowhere.xml"], "nothing was learned yet"),
        (&["label", "test_a.py::test_a", "wrong"], "possible values"),
    ] {
        let (code, _, stderr) = filter_without_python(&project, args);
        assert_eq!(code, 2, "{args:?}: {stderr}");
        assert!(stderr.contains(said), "{args:?}: {stderr}");
    }
    // Who only asks makes no store.
    assert!(!project.path().join(".flakelab").exists());
}

const QUARANTINE: &str = "[[quarantine]]\ntest = \"test_a.py::test_ends\"\nreason = \"known\"\nowner = \"me\"\nexpires = \"2999-01-01\"\n";

#[test]
fn what_a_test_in_quarantine_takes_along_is_not_green() {
    let text = "import os\ndef test_before(): pass\ndef test_ends(): os._exit(1)\ndef test_behind(): assert 0\ndef test_too(): pass\n";
    let project = Project::new(&[
        ("test_a.py", text),
        ("flakelab-quarantine.toml", QUARANTINE),
    ]);
    let junit = tempfile::tempdir().expect("a directory");
    let junit = junit.path().join("r.xml");
    let junit_path = junit.to_str().expect("utf-8");
    let (code, document) = gate(&project, &["--junit", junit_path]);
    assert_eq!(
        (code, &document["passed"]),
        (4, &false.into()),
        "{document:#}"
    );
    let verdicts = list(&document["tests"]).iter().map(|t| &t["verdict"]);
    let verdicts: Vec<&Value> = verdicts.collect();
    assert_eq!(verdicts, ["passed", "filtered", "not_run", "not_run"]);
    let report = std::fs::read_to_string(&junit).expect("written");
    assert_eq!(report.matches("the run ended before this test").count(), 2);

    let (_, said, _) = filter(&project, &["run"]);
    assert!(
        said.contains("inconclusive: 4 tests, 0 failed, 1 with filtered failures, 2 not run"),
        "{said}"
    );
    assert!(
        said.contains("beginning with test_a.py::test_behind"),
        "{said}"
    );
    // A file that does not collect is no matter of luck.
    write(&project, "test_b.py", "import nowhere\n");
    let (code, document) = gate(&project, &["--junit", junit_path]);
    assert_eq!(code, 1, "{document:#}");
    assert_eq!(document["collection_errors"][0]["id"], "test_b.py");
    let report = std::fs::read_to_string(&junit).expect("written");
    assert!(report.contains("name=\"test_b.py\""), "{report}");
    let (_, said, _) = filter(&project, &["run"]);
    assert!(
        said.contains("failed: 4 tests, 0 failed, 1 with filtered failures, 2 not run, 1 file does not collect"),
        "{said}"
    );
    // Without a store there is nowhere to keep anything.
    assert!(!project.path().join(".flakelab").exists());
}

/// What a version has taught stays, whatever the same version teaches later.
#[test]
fn a_version_that_is_learned_once_more_is_learned_as_well() {
    let broken = "def test_a():\n    raise ValueError('gone')\ndef test_b(): assert 1\n";
    let project = Project::new(&[("test_a.py", broken)]);
    let learn = |version: &str, more: &[&str]| {
        let mut all = vec!["learn", "--version", version, "--runs", "2"];
        all.extend(more);
        filter(&project, &all)
    };
    assert_eq!(learn("v1", &[]).0, 0);
    let (code, _, said) = learn("v1", &["--resume"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("its runs are learned"), "{said}");
    write(
        &project,
        "test_a.py",
        "def test_a(): pass\ndef test_b(): assert 1\n",
    );
    assert_eq!(learn("v2", &[]).0, 0);
    // Not the newest version any more.
    assert_eq!(learn("v1", &[]).0, 0);
    write(&project, "test_a.py", broken);
    let (_, document) = gate(&project, &["--reruns", "0"]);
    let failure = &document["tests"][0]["failures"][0];
    assert_eq!(failure["kind"], "flaky", "{document:#}");
    assert_eq!(
        failure["evidence"], "failed like this in 2 of 6 runs that were learned",
        "{document:#}"
    );
}

#[test]
fn an_edit_of_what_runs_at_import_is_an_edit_of_the_code() {
    let code = "RATE = 3\n\ndef fee(amount):\n    return amount * RATE // 100\n\ndef other():\n    return 1\n";
    let project = Project::new(&[
        ("money.py", code),
        (
            "test_money.py",
            "import money\ndef test_fee():\n    assert money.fee(100) == 3\n",
        ),
    ]);
    commit(&project);
    let (code_of_exit, _, said) = filter(&project, &["learn", "--runs", "2"]);
    assert_eq!(code_of_exit, 0, "{said}");
    write(&project, "money.py", &code.replace("RATE = 3", "RATE = 4"));
    let (_, document) = gate(&project, &["--reruns", "0"]);
    let failure = &document["tests"][0]["failures"][0];
    assert_eq!(failure["edited"], "code", "{document:#}");
}

#[test]
fn an_edit_of_constants_that_are_taken_away_or_imported_is_no_edit_of_nothing() {
    let project = Project::new(&[
        ("rates.py", "# Per cent.\nVAT = 3\n\nOLD = 1\n"),
        (
            "test_rates.py",
            "import rates\ndef test_vat():\n    assert rates.VAT == 3\ndef test_old():\n    assert rates.OLD == 1\n",
        ),
    ]);
    commit(&project);
    let (code, _, said) = filter(&project, &["learn", "--runs", "2"]);
    assert_eq!(code, 0, "{said}");
    for (text, test) in [
        ("# Per cent.\nVAT = 4\n\nOLD = 1\n", 0),
        ("# Per cent.\nVAT = 3\n\n", 1),
    ] {
        write(&project, "rates.py", text);
        let (_, document) = gate(&project, &["--reruns", "0"]);
        let failure = &document["tests"][test]["failures"][0];
        assert_eq!(failure["edited"], "imports", "{document:#}");
    }
}

/// Fails in every third run of a series, with a value that shows nothing of it; another one fails always.
const HIDDEN: &str = "import pathlib\n\nimport pytest\n\ncounter = pathlib.Path.home() / 'runs'\nruns = int(counter.read_text()) + 1 if counter.exists() else 1\ncounter.write_text(str(runs))\n\n\nclass Basket:\n    def __bool__(self):\n        return runs % 3 != 0\n\n\ndef test_basket():\n    assert Basket()\n    assert 1 == 1\n\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test_number(n):\n    assert n == 1\n";
const NUMBER: &str = "[[quarantine]]\ntest = \"test_it.py::test_number\"\nassertion = \"assert n == 1\"\nreason = \"known\"\nowner = \"me\"\nexpires = \"2999-01-01\"\n";

#[test]
fn what_fails_at_times_is_known_by_that_and_quarantine_by_the_name_of_the_function() {
    let project = Project::new(&[("test_it.py", HIDDEN), ("flakelab-quarantine.toml", NUMBER)]);
    // Nothing is learned yet: quarantine alone, for whatever parameters there are.
    let verdict = |document: &Value, id: &str| {
        let tests = list(&document["tests"]).iter();
        let found = tests.into_iter().find(|test| test["id"] == id);
        found.map(|test| test["verdict"].to_string())
    };
    let (_, document) = gate(&project, &["--reruns", "0"]);
    let number = "test_it.py::test_number[2]";
    assert_eq!(
        verdict(&document, number).as_deref(),
        Some("\"filtered\""),
        "{document:#}"
    );
    let learn = [
        "learn",
        "--version",
        "v1",
        "--runs",
        "6",
        "--format",
        "json",
    ];
    let (code, said, notes) = filter(&project, &learn);
    assert_eq!(code, 0, "{said}{notes}");
    let learned: Value = serde_json::from_str(&said).expect("a document");
    let varying = list(&learned["varying"]).iter();
    let varying: Vec<&str> = varying.filter_map(|a| a["test"].as_str()).collect();
    assert_eq!(varying, ["test_it.py::test_basket"], "{learned:#}");
    write(
        &project,
        "test_it.py",
        &HIDDEN.replace("runs % 3 != 0", "False"),
    );
    let (code, document) = gate(&project, &["--reruns", "0"]);
    assert_eq!(code, 0, "{document:#}");
    let basket = "test_it.py::test_basket";
    assert_eq!(
        verdict(&document, basket).as_deref(),
        Some("\"filtered\""),
        "{document:#}"
    );
    // A bug that a test as a whole has caught: which of its assertions did is not known.
    let (code, said, _) = filter_without_python(&project, &["label", basket, "bug"]);
    assert_eq!(code, 0, "{said}");
    let (code, said, notes) = filter(&project, &["tune", "--format", "json"]);
    assert_eq!(code, 0, "{said}{notes}");
    let tuned: Value = serde_json::from_str(&said).expect("a document");
    assert_eq!(
        (
            &tuned["assertions"]["revealing"],
            &tuned["tests"]["revealing"]
        ),
        (&0.into(), &1.into()),
        "{tuned:#}"
    );
}
