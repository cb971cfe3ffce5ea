//! Bad input gets one clear error with a hint and a non-zero exit code, and leaves nothing behind.

use std::path::Path;

use crate::support::reproduce::processes_with;
use crate::support::{Project, environment};

/// Exit code and talk of a command that must fail, with the machine's own words taken out.
fn fail(project: &Project, args: &[&str]) -> String {
    let before = project.tree();
    let output = project.flakelab(args).output().expect("flakelab runs");
    assert_eq!(project.tree(), before);
    assert!(
        output.stdout.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    let said = String::from_utf8_lossy(&output.stderr)
        .replace(&*project.path().to_string_lossy(), "PROJECT");
    let said = said.replace(
        &*environment(project.environment).to_string_lossy(),
        "ENVIRONMENT",
    );
    format!("exit {}\n{said}", output.status.code().unwrap_or(-1))
}

fn passing() -> Project {
    Project::new(&[("test_a.py", "def test_a(): pass\n")])
}

fn python(project: &Project) -> String {
    project.python().to_string_lossy().into_owned()
}

#[test]
fn no_such_path() {
    insta::assert_snapshot!(fail(&passing(), &["detect", "nowhere"]), @r"
    exit 2
    error: `nowhere`: No such file or directory (os error 2)
    hint: give the directory in which you would run pytest
    ");
}

#[test]
fn a_file_is_no_project() {
    insta::assert_snapshot!(fail(&passing(), &["detect", "test_a.py"]), @r"
    exit 2
    error: `test_a.py` is a file
    hint: give the project's directory; to select tests, end the command with: -- test_a.py
    ");
}

#[test]
fn not_a_python_project() {
    insta::assert_snapshot!(fail(&Project::new(&[("main.go", "package main")]), &["detect"]), @r"
    exit 2
    error: `.` is not a Python project: there is no Python file in it
    hint: give the directory in which you would run pytest
    ");
}

#[test]
fn no_such_interpreter() {
    insta::assert_snapshot!(fail(&passing(), &["detect", "--python", "nowhere/python"]), @r"
    exit 2
    error: `PROJECT/nowhere/python` does not start: No such file or directory (os error 2)
    hint: pass --python with the interpreter the tests run with
    ");
}

#[test]
fn a_result_that_cannot_be_written_is_said_before_the_work() {
    for args in [
        ["detect", "-o", "nowhere/x.json"],
        ["detect", "--junit", "nowhere/x.json"],
        ["mutate", "-o", "nowhere/x.json"],
        ["fix", "--format=json", "-onowhere/x.json"],
    ] {
        let said = fail(&passing(), &args);
        assert!(
            said.starts_with("exit 2\nerror: `nowhere/x.json` cannot be written"),
            "{said}"
        );
    }
}

#[test]
fn an_interpreter_that_does_not_answer() {
    let project = Project::new(&[
        ("test_a.py", "def test_a():\n    pass\n"),
        ("python", "#!/bin/sh\nsleep 1000.4321 & wait\n"),
    ]);
    let python = project.path().join("python");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&python, executable).expect("permissions");
    insta::assert_snapshot!(
        fail(&project, &["detect", "--python", "./python", "--run-timeout", "1s"]),
        @r"
    exit 2
    error: `PROJECT/python` does not answer within 1s
    hint: pass --python with the interpreter the tests run with
    "
    );
    assert!(processes_with("1000.4321").is_empty());
}

#[test]
fn no_pytest_in_the_interpreter() {
    let mut project = passing();
    project.environment = "lint";
    let python = python(&project);
    insta::assert_snapshot!(fail(&project, &["detect", "--python", &python]), @r"
    exit 2
    error: `ENVIRONMENT/bin/python` has no pytest
    hint: `ENVIRONMENT/bin/python -m pip install pytest`, or pass --python with the interpreter of the project's environment
    ");
}

#[test]
fn a_suite_that_does_not_collect() {
    let project = Project::new(&[("test_a.py", "import nonsense_that_is_not_there\n")]);
    let python = python(&project);
    insta::assert_snapshot!(fail(&project, &["detect", "--python", &python]), @r"
    exit 3
    error: the suite does not collect
      test_a.py: ModuleNotFoundError: No module named 'nonsense_that_is_not_there'
    hint: run `pytest --collect-only`; tests must be importable with the chosen interpreter (--python)
    ");
}

#[test]
fn a_suite_that_collects_for_ever() {
    let project = Project::new(&[
        (
            "conftest.py",
            "import time\n\nwhile True:\n    time.sleep(1)\n",
        ),
        ("test_a.py", "def test_a(): pass\n"),
    ]);
    let args = [
        "detect",
        "--python",
        &python(&project),
        "--run-timeout",
        "2s",
    ];
    insta::assert_snapshot!(fail(&project, &args), @r"
    exit 3
    error: collection took longer than 2s
    hint: run `pytest --collect-only` to see what takes so long; --run-timeout raises the limit
    ");
}

#[test]
fn a_suite_without_tests() {
    let project = Project::new(&[("module.py", "")]);
    let python = python(&project);
    insta::assert_snapshot!(fail(&project, &["detect", "--python", &python]), @r"
    exit 3
    error: the suite has no tests
    hint: check the path, and what follows `--`; pytest looks for test_*.py and *_test.py
    ");
}

#[test]
fn arguments_that_pytest_does_not_know() {
    let project = passing();
    let python = python(&project);
    let said = fail(
        &project,
        &["detect", "--python", &python, "--", "--no-such-option"],
    );
    assert!(
        said.starts_with("exit 2\nerror: pytest does not accept its arguments or configuration\n"),
        "{said}"
    );
    assert!(
        said.contains("unrecognized arguments: --no-such-option"),
        "{said}"
    );
}

#[test]
fn an_unknown_option_in_the_configuration() {
    let project = passing();
    std::fs::write(
        project.path().join("flakelab.toml"),
        "[detect]\nordres = 5\n",
    )
    .expect("written");
    insta::assert_snapshot!(fail(&project, &["detect"]), @r"
    exit 2
    error: `PROJECT/flakelab.toml`: unknown option `detect.ordres`
    hint: did you mean `detect.orders`?
    ");
}

#[test]
fn a_setting_that_is_wrong_is_named_with_its_place() {
    for (text, said) in [
        ("[detect]\norders = 'many'\n", "in `detect.orders`"),
        ("jobs = 1\n[detect\n", "line 2: "),
        ("jobs = 0\n", "`jobs = 0` in the configuration: "),
    ] {
        let project = passing();
        std::fs::write(project.path().join("flakelab.toml"), text).expect("written");
        let python = python(&project);
        let found = fail(&project, &["detect", "--python", &python]);
        assert!(
            found.starts_with("exit 2\n") && found.contains(said),
            "{found}"
        );
        assert!(!found.contains("usize"), "{found}");
    }
}

#[test]
fn more_orders_than_fit_into_memory_are_refused() {
    let project = passing();
    let python = python(&project);
    let args = ["detect", "--python", &python, "--orders", "1000000000000"];
    insta::assert_snapshot!(fail(&project, &args), @r"
    exit 2
    error: 1000000000000 orders: 100000 are the most for one campaign
    hint: another --seed gives other orders; --budget ends a campaign in time
    ");
}

#[test]
fn a_test_is_no_project() {
    insta::assert_snapshot!(fail(&passing(), &["detect", "test_a.py::test_a"]), @r"
    exit 2
    error: `test_a.py::test_a`: No such file or directory (os error 2)
    hint: give the project's directory; to select tests, end the command with: -- test_a.py::test_a
    ");
}

#[test]
fn an_unknown_option_on_the_command_line() {
    let said = fail(&passing(), &["detect", "--ordres", "5"]);
    assert!(said.starts_with("exit 2\n"), "{said}");
    assert!(
        said.contains("a similar argument exists: '--orders'"),
        "{said}"
    );
}

#[test]
fn an_unreadable_store() {
    let project = passing();
    let store = project.path().join("store.sqlite");
    std::fs::write(&store, "this is not a database ".repeat(100)).expect("written");
    let python = python(&project);
    insta::assert_snapshot!(fail(&project, &["detect", "--python", &python, "--store", "store.sqlite"]), @r"
    exit 2
    error: failed to open the store `PROJECT/store.sqlite`: file is not a database
    hint: choose another place with --store, or move that file away
    ");
}

#[test]
fn an_unknown_kind_of_order() {
    let project = passing();
    let python = python(&project);
    insta::assert_snapshot!(fail(&project, &["detect", "--python", &python, "--mix", "sorted"]), @r"
    exit 2
    error: `sorted` is no kind of order
    hint: known are original, reverse, global, nested, classes, tuscan, tuscan-classes
    ");
}

#[test]
fn an_order_file_that_says_nothing() {
    let project = passing();
    std::fs::write(project.path().join("notes.txt"), "hello\n").expect("written");
    let python = python(&project);
    insta::assert_snapshot!(fail(&project, &["detect", "--python", &python, "--order", "notes.txt"]), @r"
    exit 2
    error: `notes.txt` names no test of this suite (e.g. `hello`)
    hint: an order is a list of test ids, JUnit XML or a verbose log (pytest -v) of a run, or `flakelab.order` JSON
    ");
}

#[test]
fn nothing_to_resume() {
    let project = passing();
    let python = python(&project);
    insta::assert_snapshot!(fail(&project, &["detect", "--python", &python, "--resume"]), @r"
    exit 2
    error: there is no campaign to resume
    hint: start one without --resume
    ");
    let measured = fail(&project, &["measure", "--python", &python, "--resume"]);
    assert!(
        measured.contains("there is no campaign to resume"),
        "{measured}"
    );
    assert!(!project.path().join(".flakelab").exists());
}

#[test]
fn errors_leave_no_store_and_no_scratch_area() {
    let project = Project::new(&[("module.py", "")]);
    let python = python(&project);
    let temporary = tempfile::tempdir().expect("a directory");
    let output = project
        .flakelab(&["detect", "--python", &python, "--sandbox", "off"])
        .env("TMPDIR", temporary.path())
        .output()
        .expect("flakelab runs");
    assert_eq!(output.status.code(), Some(3));
    assert!(entries(temporary.path()).is_empty());
    assert_eq!(entries(project.path()), ["module.py"]);
}

fn entries(dir: &Path) -> Vec<std::ffi::OsString> {
    std::fs::read_dir(dir)
        .expect("readable")
        .flatten()
        .map(|e| e.file_name())
        .collect()
}

#[test]
fn help_teaches() {
    let project = passing();
    let help = |args: &[&str]| {
        let output = project.flakelab(args).output().expect("flakelab runs");
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    };
    let (code, text) = help(&["--help"]);
    assert_eq!(code, Some(0));
    assert!(text.contains("flakelab detect --budget 5m"), "{text}");
    let (code, text) = help(&["detect", "--help"]);
    assert_eq!(code, Some(0));
    assert!(text.contains("$ flakelab detect"), "{text}");
    assert!(text.contains("brittle"), "{text}");
}

/// Whatever a user gets wrong, the last line says what to do.
#[test]
fn errors_end_with_a_hint() {
    let project = Project::new(&[
        ("test_a.py", "def test_a(): pass\n"),
        ("broken.toml", "[[["),
        ("data/manifest.json", "{}"),
        ("data/mutants.jsonl", ""),
        ("file", ""),
    ]);
    let python = python(&project);
    let wrong: &[&[&str]] = &[
        &["detect", "--jobs", "0"],
        &["detect", "--confirmations", "0"],
        &["detect", "--isolated-runs", "0"],
        &["explain", "test_b.py::test_x"],
        &["explain", "--confirmations", "0"],
        &["inject", "--reruns", "0"],
        &["inject", "verify", "data"],
        &["inject", "verify", "nowhere"],
        &["inject", "evaluate", "data"],
        &["inject", "-o", "file/below"],
        &["measure", "--runs", "1"],
        &["measure", "--layers", "onion"],
        &["measure", "--factors", "moon"],
        &["measure", "--html", "nowhere/page.html"],
        &["filter", "learn", "--runs", "1"],
        &["filter", "run"],
        &["filter", "run", "--quarantine", "nowhere.toml"],
        &["filter", "run", "--quarantine", "broken.toml"],
        &["filter", "tune"],
        &["filter", "tune", "--bad", "no-such-commit"],
    ];
    for args in wrong {
        let args = [args, &["--python", &python][..]].concat();
        ends_with_a_hint(&project, &args);
    }
    for args in [
        &["history"][..],
        &["ingest", "nowhere.xml"],
        &["ingest", "broken.toml"],
        &["filter", "apply", "nowhere.xml"],
        &["filter", "suggest", "--owner", "me"],
        &["filter", "explain", "test_a.py::test_a"],
        &["man", "nonsense"],
        &["man", "--dir", "file/below"],
        &["init", "nowhere"],
    ] {
        ends_with_a_hint(&project, args);
    }
    for (name, text) in [
        ("flakelab.toml", "[[["),
        ("flakelab.toml", "jobs = 'many'"),
        (
            "flakelab.toml",
            "[measure.configurations.a]\ntimezone = {x = 1}",
        ),
    ] {
        std::fs::write(project.path().join(name), text).expect("written");
        ends_with_a_hint(&project, &["measure", "--python", &python]);
    }
}

fn ends_with_a_hint(project: &Project, args: &[&str]) {
    let output = project.flakelab(args).output().expect("flakelab runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !matches!(output.status.code(), Some(0 | 1 | 70)),
        "{args:?}: {:?}\n{said}",
        output.status.code()
    );
    let last = said.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("hint: ") || last.starts_with("For more information, try '--help'"),
        "{args:?}: {said}"
    );
}
