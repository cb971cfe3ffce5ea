//! 50,000 tests, and texts of a megabyte: a result within bounds, and nothing of it printed raw.

use std::time::Duration;

use crate::support::Project;
use crate::support::order::{VICTIM, beside_a_victim};

/// The most memory the process itself had, in KiB, until it ended.
fn peak_of(child: &mut std::process::Child) -> u64 {
    let mut peak = 0;
    while child.try_wait().expect("a child").is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|rest| rest.trim().strip_suffix(" kB"));
        peak = peak.max(number.and_then(|n| n.parse().ok()).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(20));
    }
    peak
}

#[test]
fn fifty_thousand_tests_within_a_budget() {
    let project = Project::new(&[(
        "test_many.py",
        "
import pytest

@pytest.mark.parametrize('number', range(50_000))
def test_many(number):
    assert number >= 0
",
    )]);
    let output = tempfile::tempdir().expect("a directory");
    let document = output.path().join("document.json");
    let mut child = project
        .flakelab(&["detect", "--seed", "1", "--budget", "10s", "--quiet"])
        .args(["--format", "json", "-o"])
        .arg(&document)
        .arg("--python")
        .arg(project.python())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("flakelab starts");
    let peak = peak_of(&mut child);
    let code = child.wait().expect("it ends").code();
    assert!(matches!(code, Some(0 | 4)), "{code:?}");
    let text = std::fs::read_to_string(&document).expect("a document");
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(document["tests"].as_array().map(Vec::len), Some(50_000));
    assert!(peak > 0 && peak < 600 * 1024, "{peak} KiB");
}

/// What a suite says in a megabyte, with what terminals and parsers choke on.
const LOUD: &str = r#"
import pytest

NASTY = "\x1b[31m\x1b]0;title\x07\x9b2J\udcff\u202e../../../etc/passwd\r\n::error::x\x00"

@pytest.mark.parametrize("text", [1], ids=["x" * 1_000_000])
def test_long_id(text):
    pass

@pytest.mark.parametrize("text", [1, 2], ids=["../../../../tmp/escape", "/etc/passwd"])
def test_path(text):
    pass

def test_loud():
    assert False, NASTY + "y" * 1_000_000 + NASTY

def test_bytes():
    raise ValueError(b"\xff\xfe\x1b[2J" * 250_000)

class Nasty(Exception):
    def __str__(self):
        return NASTY * 10_000

def test_error():
    raise Nasty
"#;

#[test]
fn texts_of_a_megabyte_are_cut_and_never_printed_raw() {
    let project = beside_a_victim(&[("test_loud.py", LOUD)]);
    let before = project.tree();
    let folder = tempfile::tempdir().expect("a directory");
    let junit = folder.path().join("junit.xml");
    let output = project
        .flakelab(&["detect", "--seed", "1", "--orders", "4", "--isolated-runs"])
        .args(["2", "--junit"])
        .arg(&junit)
        .arg("--python")
        .arg(project.python())
        .output()
        .expect("flakelab runs");
    let said = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8(said).expect("valid UTF-8");
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(&format!("victim {VICTIM}")), "{text}");
    let raw = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert_eq!(text.chars().find(|c| raw(*c)), None, "{text:?}");
    assert!(!text.contains("\n::error::"), "{text}");
    assert!(text.len() < 100_000, "{} bytes", text.len());
    let report = std::fs::read_to_string(&junit).expect("a report");
    assert!(!report.contains('\u{1b}') && !report.contains('\0'));
    assert_eq!(project.tree(), before);
    assert!(!std::path::Path::new("/tmp/escape").exists());
}
