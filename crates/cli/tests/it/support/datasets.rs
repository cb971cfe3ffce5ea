//! Data sets of `flakelab inject`, made and read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Project, Run};

/// Few runs alone, where their number does not matter.
pub(crate) const FEW: [&str; 2] = ["--reruns", "3"];

/// A folder for data sets, outside the project.
#[derive(Debug)]
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    pub(crate) fn set(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// `flakelab inject` with its words, in the project; what it printed is the document, and the tree must be
/// as it was.
pub(crate) fn run(project: &Project, words: &[&str], args: &[&str]) -> Run {
    let before = project.tree();
    let python = project.python();
    let mut all = vec!["inject"];
    all.extend(words);
    all.extend(["--python", python.to_str().expect("utf-8")]);
    all.extend(args);
    let output = project.flakelab(&all).output().expect("flakelab runs");
    let mut run = Run::of(output, Path::new(""));
    run.document = serde_json::from_str(&run.stdout).unwrap_or_default();
    assert_eq!(
        project.tree(),
        before,
        "the tree was changed\n{}",
        run.stderr
    );
    run
}

/// A data set; the seed is 1 unless another is given.
#[track_caller]
pub(crate) fn inject(project: &Project, set: &Path, args: &[&str]) -> Run {
    let mut all = vec!["--format", "json", "-o", set.to_str().expect("utf-8")];
    if !args.contains(&"--seed") {
        all.extend(["--seed", "1"]);
    }
    all.extend(args);
    let run = run(project, &[], &all);
    assert!(matches!(run.code, 0 | 1), "{}: {}", run.code, run.stderr);
    run
}

pub(crate) fn jsonl(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

pub(crate) fn mutants(set: &Path) -> BTreeMap<String, Value> {
    jsonl(&set.join("mutants.jsonl"))
        .into_iter()
        .map(|entry| (text(&entry["id"]), entry))
        .collect()
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

pub(crate) fn texts(value: &Value) -> BTreeSet<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}

/// The tests of all sets, each of which must have one.
pub(crate) fn single(sets: &Value) -> BTreeSet<String> {
    let sets = sets.as_array().into_iter().flatten();
    sets.map(|set| {
        assert_eq!(set.as_array().map(Vec::len), Some(1), "{set}");
        text(&set[0])
    })
    .collect()
}

/// The class of every valid mutant of a data set.
pub(crate) fn classes(set: &Path) -> BTreeMap<String, String> {
    mutants(set)
        .into_iter()
        .filter(|(_, entry)| entry["valid"] == true)
        .map(|(id, entry)| (id, text(&entry["class"])))
        .collect()
}

/// Everything in a data set.
pub(crate) fn files(set: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for folder in [set.to_owned(), set.join("patches")] {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            if entry.path().is_file() {
                let name = entry.path();
                let name = name.strip_prefix(set).expect("below").display().to_string();
                found.insert(name, fs::read(entry.path()).expect("a file"));
            }
        }
    }
    found
}

pub(crate) fn orders(entry: &Value, which: &str) -> Vec<u64> {
    let numbers = entry[format!("{which}_orders")].as_array();
    let numbers = numbers.into_iter().flatten();
    numbers.filter_map(Value::as_u64).collect()
}
