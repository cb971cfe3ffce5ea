//! Files of the standard library with all their points do what they did: judged by the interpreter's own tests of
//! them, where it has them, and by their doctests.

#[path = "mutants/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use flakelab_source::Source;
use serde_json::Value;
use support::{described, library, matching, python, script};

/// What each test said, and how many points were reached.
fn said(name: &str, how: &str, files: &[Value]) -> (BTreeMap<String, String>, u64) {
    let mut child = Command::new(python())
        .arg(script("same.py"))
        .args([name, how])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("an interpreter");
    let mut pipe = child.stdin.take().expect("piped");
    for file in files {
        // Without points it has no reason to read.
        let _ = writeln!(pipe, "{file}");
    }
    drop(pipe);
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    let value: Value = serde_json::from_str(last).expect("what it found");
    let tests = value["said"].as_object().expect("tests by name");
    let tests = tests
        .iter()
        .map(|(test, word)| (test.clone(), word.as_str().unwrap_or_default().to_owned()))
        .collect();
    (tests, value["hits"].as_u64().unwrap_or_default())
}

#[test]
#[expect(clippy::print_stdout, reason = "how many there were, for runs by hand")]
fn files_with_points_do_what_they_did() {
    let named =
        std::env::var("MUTANTS_OF").unwrap_or_else(|_| "textwrap difflib shlex heapq".into());
    let library = library();
    let (mut wrong, mut judged) = (0, 0);
    for name in named.split_whitespace() {
        let patterns = [format!("{name}.py"), format!("{name}/*.py")];
        let mut files: Vec<Value> = Vec::new();
        for path in patterns
            .iter()
            .flat_map(|pattern| matching(&library, pattern))
        {
            let Ok(text) = fs::read_to_string(&path) else {
                continue;
            };
            let source = Source::parse(&text).expect("it parses");
            files.push(described(&path, &text, &source));
        }
        let (before, _) = said(name, "plain", &[]);
        if before.is_empty() {
            // Debian has the interpreter's own tests in a package of their own; then there are doctests.
            let own = library.join(format!("test/test_{name}.py"));
            assert!(!own.exists(), "{name}: its tests were not run");
            println!("{name}: no tests");
            continue;
        }
        judged += 1;
        let (after, hits) = said(name, "points", &files);
        let other = before
            .iter()
            .filter(|(test, word)| after.get(*test) != Some(word));
        println!("{name}: {} tests, {hits} points reached", before.len());
        for (test, word) in other {
            wrong += 1;
            println!("  {test}: {word}, then {:?}", after.get(test));
        }
        assert_eq!(before.len(), after.len(), "{name}");
        assert!(hits > 20, "{name}: {hits} points reached");
    }
    assert_eq!(wrong, 0, "see above");
    assert!(judged > 1, "{judged} files have tests");
}
