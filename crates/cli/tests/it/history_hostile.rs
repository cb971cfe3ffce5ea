//! Reports that are wrong, or mean harm.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::support::store::{ingest, texts};
use crate::support::{Project, Run};

const GOOD: &str = "<testsuite name=\"s\"><testcase classname=\"c.D\" name=\"good\"/></testsuite>";

/// The file is left out for the reason given, and leaves nothing; a good one beside it goes in.
fn check(name: &str, content: &[u8], reason: &str) {
    let project = Project::new(&[("good.xml", GOOD)]);
    fs::write(project.path().join(name), content).expect("a file");
    let run = ingest(&project, &[name, "good.xml"]);
    assert_eq!(run.code, 0, "{name}: {}", run.stderr);
    let expected = format!("`{name}` is left out: {reason}");
    assert!(run.stderr.contains(&expected), "{name}: {}", run.stderr);
    assert_eq!(
        texts(&project, "SELECT name FROM history_tests"),
        ["c.D#good"]
    );
    assert_eq!(texts(&project, "PRAGMA integrity_check"), ["ok"]);
}

#[test]
fn truncated_xml() {
    let whole = GOOD.replace("good", "bad");
    let end = whole.find("<testcase").expect("a case");
    for (length, reason) in [
        (end, "it ends in the middle of <testsuite>"),
        (end + 5, "it ends in the middle of a tag"),
        (5, "it ends in the middle of a tag"),
    ] {
        check("cut.xml", &whole.as_bytes()[..length], reason);
    }
}

#[test]
fn wrong_end_tags() {
    check(
        "tags.xml",
        b"<testsuite><testcase name='a'></testsuite></testcase>",
        "XML that cannot be read",
    );
}

#[test]
fn entity_bomb() {
    let mut bomb = String::from("<?xml version='1.0'?><!DOCTYPE lolz [<!ENTITY lol0 'lol'>");
    for n in 1..10 {
        let inner = format!("&lol{};", n - 1).repeat(10);
        bomb += &format!("<!ENTITY lol{n} '{inner}'>");
    }
    bomb += "]><testsuite name='&lol9;'><testcase name='&lol9;'/></testsuite>";
    check(
        "bomb.xml",
        bomb.as_bytes(),
        "it declares entities of its own",
    );
    let undeclared = "<testsuite><testcase name='&lol9;'/></testsuite>";
    check(
        "entity.xml",
        undeclared.as_bytes(),
        "XML that cannot be read",
    );
    let external = "<!DOCTYPE t [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><testsuite><testcase name='&x;'/></testsuite>";
    check(
        "external.xml",
        external.as_bytes(),
        "it declares entities of its own",
    );
}

#[test]
fn wrong_encodings() {
    let latin = "<testsuite><testcase name='caf\u{e9}'/></testsuite>";
    let bytes: Vec<u8> = latin.chars().map(|c| c as u8).collect();
    check("latin.xml", &bytes, "it is not valid UTF-8");
    let odd = b"<?xml version='1.0' encoding='EBCDIC-XX'?><testsuite/>";
    check("odd.xml", odd, "its encoding `EBCDIC-XX` is not known");
    let mut half: Vec<u8> = "\u{feff}<testsuite/>"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    half.pop();
    check("half.xml", &half, "it is not valid UTF-16LE");
}

#[test]
fn nesting_without_end() {
    check(
        "deep.xml",
        "<testsuite>".repeat(100_000).as_bytes(),
        "it is nested too deeply",
    );
    let deep = format!("{{\"suites\":{}", "[{\"suites\":".repeat(100_000));
    check("deep.json", deep.as_bytes(), "it is nested too deeply");
}

#[test]
fn broken_json_and_lists_without_end() {
    check(
        "cut.json",
        b"{\"results\":{\"tests\":[{\"name\":\"a\",\"status\":\"passed\"},",
        "JSON that cannot be read: EOF",
    );
    let many = format!(
        "{{\"suites\":[{{\"title\":\"a\",\"specs\":[{{\"title\":\"b\",\"tests\":[{{\"results\":[{}]}}]}}]}}]}}",
        vec!["{}"; 1_000_000].join(",")
    );
    check(
        "many.json",
        many.as_bytes(),
        "JSON that cannot be read: a list of one test has more than 1000",
    );
    check(
        "other.json",
        b"{\"testResults\":[]}",
        "it is no report: JSON that is neither",
    );
}

#[test]
fn files_that_are_no_reports() {
    check("empty.xml", b"", "it is empty");
    check("zero.xml", &[0; 4096], "it is no report");
    check("binary.xml", b"\x7fELF\x02\x01\x01\0", "it is no report");
    check(
        "page.xml",
        b"<html><testcase name='a'/></html>",
        "it is no report: its root is <html>",
    );
    let project = Project::new(&[("good.xml", GOOD)]);
    let run = ingest(&project, &["/dev/zero", "good.xml"]);
    assert!(
        run.stderr
            .contains("`/dev/zero` is left out: it is no regular file"),
        "{}",
        run.stderr
    );
}

/// A file that begins like this and goes on for so many bytes: a hole, or letters where that would be no text.
fn gigantic(project: &Project, name: &str, start: &str, size: u64, hole: bool) {
    let mut file = fs::File::create(project.path().join(name)).expect("a file");
    file.write_all(start.as_bytes()).expect("written");
    if hole {
        file.set_len(size).expect("a hole");
    } else {
        file.write_all(&vec![b'a'; size as usize]).expect("written");
    }
}

#[test]
fn a_gibibyte_in_one_attribute_is_not_kept_in_memory() {
    let project = Project::new(&[("good.xml", GOOD)]);
    let (xml, json) = (
        "<testsuite><testcase name=\"",
        "{\"results\":{\"tests\":[{\"name\":\"",
    );
    gigantic(&project, "huge.xml", xml, 1 << 30, true);
    gigantic(&project, "huge.json", json, 256 << 20, false);
    // Much less memory than the attribute takes.
    let mut limited = std::process::Command::new("sh");
    limited
        .args(["-c", "ulimit -v 200000; exec \"$@\"", "sh"])
        .arg(crate::support::flakelab())
        .args([
            "ingest",
            "--version",
            "1",
            "huge.xml",
            "huge.json",
            "good.xml",
        ])
        .current_dir(project.path());
    let run = Run::of(
        limited.output().expect("flakelab runs"),
        Path::new("/nowhere"),
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    for (name, what) in [("huge.xml", "an element"), ("huge.json", "a string")] {
        let expected = format!("`{name}` is left out: it has {what} larger than 16 MiB");
        assert!(run.stderr.contains(&expected), "{}", run.stderr);
    }
    assert_eq!(
        texts(&project, "SELECT name FROM history_tests"),
        ["c.D#good"]
    );
}

#[test]
fn names_are_data_and_are_printed_without_control_characters() {
    let tricks = [
        "../../../../etc/passwd",
        "x\u{202e}y",
        "'); DROP TABLE history_tests; --",
        "&#27;[2J&#7;",
        "%s%n\\0",
    ];
    let cases = |body: &str| {
        let cases = tricks.map(|name| format!("<testcase name=\"{name}\">{body}</testcase>"));
        format!(
            "<testsuite name=\"/tmp/evil\">{}</testsuite>",
            cases.concat()
        )
    };
    let (good, bad) = (cases(""), cases("<failure/>"));
    let long = format!(
        "<testsuite><testcase name='{}'/></testsuite>",
        "n".repeat(100_000)
    );
    let project = Project::new(&[("a.xml", &good), ("b.xml", &bad), ("c.xml", &long)]);
    let before = project.tree();
    let run = ingest(&project, &["a.xml", "b.xml", "c.xml"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(project.tree(), before);
    assert_eq!(
        texts(&project, "SELECT name FROM history_tests").len(),
        tricks.len() + 1
    );
    assert_eq!(
        texts(
            &project,
            "SELECT name FROM history_tests WHERE length(name) > 1000"
        ),
        [""; 0]
    );
    let shown = project
        .flakelab(&["history"])
        .output()
        .expect("flakelab runs");
    let text = String::from_utf8(shown.stdout).expect("UTF-8");
    assert!(text.contains("../../../../etc/passwd"), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{7}']), "{text}");
}
