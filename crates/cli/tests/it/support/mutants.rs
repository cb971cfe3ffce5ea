//! Mutants as the document has them, and what plain pytest says of each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::{Project, Run, copy, root, string};

impl Run {
    /// All mutants; there is a document.
    #[track_caller]
    pub(crate) fn mutants(&self) -> &[Value] {
        let mutants = self.document["mutants"].as_array();
        mutants.unwrap_or_else(|| panic!("no document, exit code {}\n{}", self.code, self.stderr))
    }

    /// The mutants of a function, each with its status: `(says, status)`.
    #[track_caller]
    pub(crate) fn scope(&self, scope: &str) -> Vec<(String, String)> {
        let mutants = self.mutants().iter().filter(|m| m["scope"] == scope);
        let found: Vec<(String, String)> = mutants
            .map(|m| (string(&m["says"]), string(&m["status"])))
            .collect();
        assert!(!found.is_empty(), "no mutant in {scope}");
        found
    }

    /// The statuses that mutants of a function have.
    #[track_caller]
    pub(crate) fn statuses_in(&self, scope: &str) -> BTreeSet<String> {
        let found = self.scope(scope).into_iter();
        found.map(|(_, status)| status).collect()
    }

    /// The status of every mutant outside of some functions, by id; with what is readable of it.
    pub(crate) fn statuses(&self, without: &[&str]) -> BTreeMap<String, String> {
        let mutants = self.mutants().iter();
        mutants
            .filter(|m| !without.contains(&string(&m["scope"]).as_str()))
            .map(|m| {
                let name = format!("{} {} {}", string(&m["id"]), m["scope"], m["says"]);
                (name, string(&m["status"]))
            })
            .collect()
    }

    pub(crate) fn number(&self, path: &str) -> u64 {
        let value = self.document.pointer(path);
        let number = value.and_then(Value::as_u64);
        number.unwrap_or_else(|| panic!("no number {path}\n{}", self.stderr))
    }

    /// Tests that took no part, or fail without a mutant.
    pub(crate) fn set_aside(&self) -> Vec<String> {
        let aside = self.document["set_aside"].as_array().into_iter().flatten();
        aside.map(|a| string(&a["test"])).collect()
    }
}

/// What plain pytest says with each mutant written into a copy of the project, by id: its exit code, and -1 where
/// it took a second of CPU time and more.
pub(crate) fn judged(project: &Project, run: &Run, pytest_args: &[&str]) -> BTreeMap<String, i64> {
    let place = tempfile::tempdir().expect("a directory");
    let tree = place.path().join("tree");
    copy(project.path(), &tree);
    let document = place.path().join("document.json");
    fs::write(&document, run.document.to_string()).expect("written");
    let output = Command::new(project.python())
        .arg("-B")
        .arg(root().join("tests/judge_mutants.py"))
        .arg(&document)
        .arg(&tree)
        .args(pytest_args)
        .stdin(Stdio::null())
        .output()
        .expect("the judge");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).expect("verdicts")
}

#[allow(unsafe_code, reason = "std cannot send signals")]
pub(crate) fn signal(child: &Child, number: i32) {
    // SAFETY: plain system call on a child we have not waited for.
    unsafe {
        libc::kill(i32::try_from(child.id()).expect("a pid"), number);
    }
}
