//! Every mutant of real files compiles, differs, and keeps its lines; so does the file with its points.
//!
//! The files are those of the standard library of the interpreter on the path.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flakelab_source::mutants::UnitKind;
use flakelab_source::{Source, mutants};
use serde_json::{Value, json};

const FILES: [&str; 24] = [
    "textwrap.py",
    "dataclasses.py",
    "json/*.py",
    "asyncio/locks.py",
    "asyncio/queues.py",
    "asyncio/tasks.py",
    "asyncio/taskgroups.py",
    "email/utils.py",
    "email/header.py",
    "email/quoprimime.py",
    "enum.py",
    "difflib.py",
    "contextlib.py",
    "functools.py",
    "heapq.py",
    "shlex.py",
    "string.py",
    "string/__init__.py",
    "fnmatch.py",
    "graphlib.py",
    "tokenize.py",
    "statistics.py",
    "colorsys.py",
    "copy.py",
];

fn python() -> String {
    std::env::var("PYTHON").unwrap_or_else(|_| "python3".into())
}

fn library() -> PathBuf {
    let code = "import sysconfig; print(sysconfig.get_paths()['stdlib'])";
    let output = Command::new(python())
        .args(["-c", code])
        .output()
        .expect("an interpreter");
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
}

/// A name, or all of a folder.
fn matching(library: &Path, pattern: &str) -> Vec<PathBuf> {
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

fn described(path: &Path, text: &str, source: &Source) -> Value {
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
                "replacement": one.replacement, "probed": one.probed,
            })
        })
        .collect();
    json!({
        "path": path.display().to_string(), "text": text, "instrumented": all.instrumented(text, 0),
        "units": units, "mutations": mutations,
    })
}

#[test]
#[expect(clippy::print_stdout, reason = "how many there were, for runs by hand")]
fn every_mutant_of_the_standard_library_compiles_and_keeps_its_lines() {
    let library = library();
    // By hand, more: MUTANTS_OF='*.py email/*.py'.
    let named = std::env::var("MUTANTS_OF").ok();
    let patterns: Vec<&str> = match &named {
        Some(named) => named.split_whitespace().collect(),
        None => FILES.to_vec(),
    };
    let check = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mutants/check.py");
    let mut child = Command::new(python())
        .arg(check)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("an interpreter");
    let mut pipe = child.stdin.take().expect("piped");
    let mut files = 0;
    for path in patterns.iter().flat_map(|p| matching(&library, p)) {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let Some(source) = Source::parse(&text) else {
            continue;
        };
        files += 1;
        let line = described(&path, &text, &source).to_string();
        writeln!(pipe, "{line}").expect("it reads");
    }
    drop(pipe);
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}");
    assert!(output.status.success(), "see above");
    assert!(
        named.is_some() || files >= 20,
        "only {files} files of {}",
        library.display()
    );
}
