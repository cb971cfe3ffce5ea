//! Files, their mutants as data for an interpreter, and the interpreter.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flakelab_source::mutants::UnitKind;
use flakelab_source::{Source, mutants};
use serde_json::{Value, json};

pub(crate) fn python() -> String {
    std::env::var("PYTHON").unwrap_or_else(|_| "python3".into())
}

pub(crate) fn library() -> PathBuf {
    let code = "import sysconfig; print(sysconfig.get_paths()['stdlib'])";
    let output = Command::new(python())
        .args(["-c", code])
        .output()
        .expect("an interpreter");
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
}

/// A name, or all of a folder.
pub(crate) fn matching(library: &Path, pattern: &str) -> Vec<PathBuf> {
    let Some(folder) = pattern.strip_suffix("*.py") else {
        return vec![library.join(pattern)];
    };
    let mut found: Vec<PathBuf> = std::fs::read_dir(library.join(folder))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "py"))
        .collect();
    found.sort();
    found
}

pub(crate) fn described(path: &Path, text: &str, source: &Source) -> Value {
    let all = mutants(source);
    let units: Vec<Value> = all
        .units
        .iter()
        .map(|unit| {
            json!({
                "function": unit.kind == UnitKind::Function,
                "classes": unit.classes,
                "span": [unit.span.start, unit.span.end],
            })
        })
        .collect();
    let mutations: Vec<Value> = all
        .mutations
        .iter()
        .map(|one| {
            json!({
                "operator": one.operator.word(), "line": one.line, "column": one.column,
                "span": [one.span.start, one.span.end], "unit": one.unit,
                "replacement": one.replacement, "probed": one.probed, "point": one.point,
            })
        })
        .collect();
    let points: Vec<Value> = all
        .points
        .iter()
        .map(|point| json!([point.line, point.column]))
        .collect();
    json!({
        "points": points,
        "path": path.display().to_string(), "text": text, "instrumented": all.instrumented(text, 0),
        "units": units, "mutations": mutations,
    })
}

/// A script that judges mutants.
pub(crate) fn script(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("tests/mutate").join(name)
}

/// Runs a script on lines of JSON: whether it was content, and what it said.
pub(crate) fn run(name: &str, lines: impl Iterator<Item = Value>) -> (bool, String) {
    let mut child = Command::new(python())
        .arg(script(name))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("an interpreter");
    let mut pipe = child.stdin.take().expect("piped");
    for line in lines {
        writeln!(pipe, "{line}").expect("it reads");
    }
    drop(pipe);
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.success(), said)
}
