//! What comes out: the document, JUnit XML, the step summary, talk and silence.

use crate::support::Project;

const VICTIM: &str = "\
STATE = []
def test_polluter(): STATE.append(1)
def test_victim(): assert not STATE, 'left <behind>'
def test_other(): pass
def test_broken(): assert 1 == 2
";

fn project() -> Project {
    Project::new(&[("test_a.py", VICTIM)])
}

#[test]
fn the_document_has_what_scripts_rely_on() {
    let run = project().detect(&["--orders", "10"]);
    assert_eq!(run.code, 1);
    let document = &run.document;
    assert_eq!(
        document["schema"],
        serde_json::json!({"name": "flakelab.detect", "version": "1.0"})
    );
    let campaign = &document["campaign"];
    assert_eq!(campaign["seed"], 1);
    for field in ["orders", "executions", "processes", "runs"] {
        assert!(
            campaign[field].as_u64().is_some_and(|n| n > 0),
            "{field}: {campaign}"
        );
    }
    for field in ["cpu_seconds", "wall_seconds"] {
        assert!(
            campaign[field].as_f64().is_some_and(|n| n > 0.0),
            "{field}: {campaign}"
        );
    }
    assert_eq!(campaign["orders_by_kind"]["global"], 5);
    assert_eq!(campaign["orders_by_kind"]["nested"], 5);
    assert_eq!(campaign["orders_by_kind"]["original"], 1);
    assert_eq!(campaign["orders_by_kind"]["reverse"], 1);
    let victim = run.test("test_a.py::test_victim");
    assert_eq!(victim["class"], "victim");
    assert_eq!(
        victim["reproduce"]["command"],
        "pytest test_a.py::test_polluter test_a.py::test_victim"
    );
    assert_eq!(victim["reproduce"]["verified"], true);
    assert_eq!(victim["failure_rate"]["of"], 10);
    let (low, high) = (
        &victim["failure_rate"]["low"],
        &victim["failure_rate"]["high"],
    );
    assert!(low.as_f64() < high.as_f64(), "{victim}");
    assert!(
        victim["failure"]["message"]
            .as_str()
            .is_some_and(|m| m.contains("left <behind>")),
        "{victim}"
    );
    assert_eq!(
        victim["evidence"]["isolated"],
        serde_json::json!({"passed": 10, "failed": 0})
    );
    assert_eq!(
        run.test("test_a.py::test_broken")["class"],
        "always_failing"
    );
    assert_eq!(run.test("test_a.py::test_other")["class"], "stable");
}

#[test]
fn the_reproducing_command_reproduces() {
    let project = project();
    let run = project.detect(&["--orders", "10"]);
    let command = run.test("test_a.py::test_victim")["reproduce"]["command"]
        .as_str()
        .expect("a command");
    let path = format!(
        "{}:/usr/bin:/bin",
        project.python().parent().expect("bin").display()
    );
    let output = std::process::Command::new("sh")
        .args(["-c", command])
        .current_dir(project.path())
        .env("PATH", path)
        .output()
        .expect("sh runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("FAILED test_a.py::test_victim"), "{said}");
    assert!(said.contains("1 failed, 1 passed"), "{said}");
}

#[test]
fn json_on_stdout_is_the_document_and_nothing_else() {
    let project = project();
    let python = project.python();
    let args = [
        "detect",
        "--python",
        python.to_str().expect("utf-8"),
        "--orders",
        "4",
        "--format",
        "json",
    ];
    let output = project.flakelab(&args).output().expect("flakelab runs");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a document");
    assert_eq!(document["schema"]["name"], "flakelab.detect");
}

#[test]
fn people_read_text_without_colours_when_it_is_no_terminal() {
    let project = project();
    let python = project.python();
    let args = [
        "detect",
        "--python",
        python.to_str().expect("utf-8"),
        "--orders",
        "4",
        "--seed",
        "1",
        "--quiet",
    ];
    let output = project.flakelab(&args).output().expect("flakelab runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!text.contains('\u{1b}'), "{text}");
    assert!(
        text.starts_with("victim test_a.py::test_victim\n"),
        "{text}"
    );
    assert!(
        text.contains("reproduce  pytest test_a.py::test_polluter test_a.py::test_victim\n"),
        "{text}"
    );
    assert!(
        text.contains("1 flaky test: 1 victim; 1 always failing; 2 stable\n"),
        "{text}"
    );
    assert!(text.contains("4 random orders, seed 1\n"), "{text}");
    assert!(
        text.contains("would have been missed with probability 1 %.\n"),
        "{text}"
    );
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn junit_xml_marks_flaky_tests() {
    let project = project();
    let file = tempfile::tempdir()
        .expect("a directory")
        .keep()
        .join("flaky.xml");
    project.detect(&["--orders", "10", "--junit", file.to_str().expect("utf-8")]);
    let xml = std::fs::read_to_string(file).expect("written");
    assert!(xml.contains("<flakyFailure"), "{xml}");
    assert!(xml.contains("type=\"victim\""), "{xml}");
    assert!(
        xml.contains("left &lt;behind>") || xml.contains("left &lt;behind&gt;"),
        "{xml}"
    );
    assert!(
        xml.contains("failures=\"1\""),
        "only the always failing test fails: {xml}"
    );
}

#[test]
fn a_step_summary_is_written_where_github_wants_it() {
    let project = project();
    let file = tempfile::tempdir()
        .expect("a directory")
        .keep()
        .join("summary.md");
    std::fs::write(&file, "before\n").expect("written");
    let python = project.python();
    project
        .flakelab(&[
            "detect",
            "--python",
            python.to_str().expect("utf-8"),
            "--orders",
            "4",
        ])
        .env("GITHUB_STEP_SUMMARY", &file)
        .output()
        .expect("flakelab runs");
    let text = std::fs::read_to_string(file).expect("written");
    assert!(text.starts_with("before\n## flakelab detect\n"), "{text}");
    assert!(
        text.contains("| `test_a.py::test_victim` | victim |"),
        "{text}"
    );
}

#[test]
fn options_come_from_the_command_line_then_the_environment_then_the_file() {
    let project = project();
    std::fs::write(
        project.path().join("pyproject.toml"),
        "[tool.flakelab]\npytest-args = ['-k', 'victim or polluter']\n[tool.flakelab.detect]\norders = 3\n",
    )
    .expect("written");
    let random = |run: &crate::support::Run| run.document["confidence"]["random_orders"].clone();
    let run = project.detect(&[]);
    assert_eq!(random(&run), 3);
    assert_eq!(run.document["tests"].as_array().map(Vec::len), Some(2));
    let python = project.python();
    let args = [
        "detect",
        "--python",
        python.to_str().expect("utf-8"),
        "--format",
        "json",
    ];
    let with_env = |args: &[&str]| {
        let output = project
            .flakelab(args)
            .env("FLAKELAB_ORDERS", "5")
            .output()
            .expect("runs");
        let document: serde_json::Value =
            serde_json::from_slice(&output.stdout).expect("a document");
        document["confidence"]["random_orders"].clone()
    };
    assert_eq!(with_env(&args), 5);
    assert_eq!(with_env(&[&args[..], &["--orders", "7"]].concat()), 7);
}

#[test]
fn an_order_from_a_ci_failure_is_run_first() {
    let project = project();
    let log = project.path().join("ci.log");
    std::fs::write(
        &log,
        "test_a.py::test_other PASSED [ 25%]\ntest_a.py::test_polluter PASSED [ 50%]\ntest_a.py::test_victim FAILED [100%]\ngone.py::test_x PASSED\n",
    )
    .expect("written");
    let run = project.detect(&["--orders", "0", "--order", "ci.log"]);
    assert_eq!(run.document["campaign"]["orders_by_kind"]["given"], 1);
    assert_eq!(run.test("test_a.py::test_victim")["class"], "victim");
    assert!(
        run.stderr
            .contains("names 1 tests that this suite does not have"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_result_that_does_not_get_out_is_an_error() {
    for args in [&["init", "--stdout"][..], &["detect", "--help"], &["man"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let output = project()
            .flakelab(args)
            .stdout(full.expect("a device"))
            .output()
            .expect("flakelab runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(
            said.starts_with("error: the result could not be printed: "),
            "{args:?}: {said}"
        );
    }
}
