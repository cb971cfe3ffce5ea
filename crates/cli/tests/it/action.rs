//! What the GitHub action runs, run.

use std::process::Command;

use crate::support::{Project, environment, flakelab, root};

/// Exit code of the step, and what it says to the steps after it.
fn action(project: &Project, variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a directory");
    let reports = folder.path().join("reports");
    let said = folder.path().join("output");
    let binary = flakelab();
    let path = format!(
        "{}:/usr/bin:/bin",
        binary.parent().expect("a folder").display()
    );
    let mut command = Command::new(root().join("scripts/action"));
    command
        .current_dir(project.path())
        .env("PATH", path)
        .env("PROJECT", ".")
        .env("PYTHON", environment("pytest8"))
        .env("BUDGET", "5m")
        .env("FLAKELAB_ORDERS", "10")
        .env("REPORTS", &reports)
        .env("GITHUB_OUTPUT", &said)
        .env_remove("GITHUB_STEP_SUMMARY")
        .envs(variables.iter().copied());
    let output = command.output().expect("bash runs");
    let said = std::fs::read_to_string(said).unwrap_or_default();
    if said.contains("=1") {
        for name in ["flaky.json", "flaky.xml"] {
            assert!(reports.join(name).is_file(), "{name}");
        }
    }
    (output.status.code(), said)
}

#[test]
fn flaky_tests_fail_the_step_unless_they_may_pass() {
    let suite = "STATE = []\ndef test_a(): STATE.append(1)\ndef test_b(): assert not STATE\n";
    let project = Project::new(&[("test_a.py", suite), ("test_c.py", "def test_c(): pass\n")]);
    let found = (Some(1), "exit-code=1\n".to_owned());
    assert_eq!(action(&project, &[]), found);
    let (code, said) = action(&project, &[("FAIL_ON_FLAKY", "false")]);
    assert_eq!((code, said), (Some(0), found.1));
    let clean = action(&project, &[("PYTEST_ARGS", "test_c.py -q")]);
    assert_eq!(clean, (Some(0), "exit-code=0\n".to_owned()));
}

#[test]
fn arguments_are_split_as_a_shell_would() {
    let suite = "STATE = []\ndef test_a(): STATE.append(1)\ndef test_b(): assert not STATE\n";
    let project = Project::new(&[("test_a.py", suite), ("test_c.py", "def test_c(): pass\n")]);
    // Over several lines, as a block of YAML hands them over: all of them count.
    let block = "test_c.py\n-k \"test_a or test_b or test_c\"\ntest_a.py\n";
    let found = action(&project, &[("PYTEST_ARGS", block)]);
    assert_eq!(found, (Some(1), "exit-code=1\n".to_owned()));
    let (code, said) = action(&project, &[("PYTEST_ARGS", "-k \"test_c")]);
    assert_eq!((code, said.as_str()), (Some(2), ""));
    // Nothing is expanded.
    let (code, _) = action(&project, &[("PYTEST_ARGS", "test_c.py -k '$(touch evil)'")]);
    assert_ne!(code, Some(0));
    assert!(!project.path().join("evil").exists());
}

#[test]
fn a_broken_suite_always_fails_the_step() {
    let project = Project::new(&[("test_a.py", "import nonsense_that_is_not_there\n")]);
    let (code, said) = action(&project, &[("FAIL_ON_FLAKY", "false")]);
    assert_eq!((code, said.as_str()), (Some(3), "exit-code=3\n"));
}

/// The action hands over every variable that the script reads, and no input is without use.
#[test]
fn inputs_reach_the_script() {
    let text = |name: &str| std::fs::read_to_string(root().join(name)).expect("text");
    let (action, script) = (text("action.yml"), text("scripts/action"));
    for name in [
        "PROJECT",
        "PYTEST_ARGS",
        "PYTHON",
        "BUDGET",
        "FAIL_ON_FLAKY",
        "REPORTS",
    ] {
        assert!(action.contains(&format!("        {name}: ${{{{")), "{name}");
        assert!(
            script.contains(&format!("${{{name}")) || script.contains(&format!("\"${name}")),
            "{name}"
        );
    }
    let (_, inputs) = action.split_once("inputs:\n").expect("inputs");
    let (inputs, _) = inputs.split_once("\noutputs:").expect("outputs");
    let names = inputs
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    for name in names {
        let name = name.trim().trim_end_matches(':');
        assert!(action.contains(&format!("inputs.{name} ")), "{name}");
    }
}
