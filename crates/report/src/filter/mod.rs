//! The document of `flakelab filter run` and `filter apply`, and its views. Fields are only ever added within a major
//! version.

mod annotations;
mod junit;
mod markdown;
mod terminal;

use serde::Serialize;

use crate::detect::{CollectionError, Schema};
use crate::wording::count;

pub use annotations::annotations;
pub use junit::junit;
pub use markdown::markdown;
pub use terminal::terminal;

#[derive(Debug, Clone, Serialize)]
pub struct Document {
    pub schema: Schema,
    pub flakelab: String,
    pub project: String,
    /// Versions that were learned, the oldest first.
    pub learned: Vec<String>,
    pub threshold: f64,
    /// Assertions with a score above it, or in quarantine.
    pub filtered_assertions: usize,
    pub tests: Vec<Test>,
    /// Quarantine entries past their day: they fail the gate.
    pub expired: Vec<Expired>,
    /// Files that do not collect: they fail the gate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collection_errors: Vec<CollectionError>,
    /// Files of results that could not be read: nobody knows what is in them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<CollectionError>,
    pub passed: bool,
    pub seconds: f64,
}

#[derive(Debug, Clone, Serialize)]
pub struct Test {
    pub id: String,
    pub outcome: String,
    /// What the gate makes of it: `passed`, `failed`, `filtered`, `skipped` or `not_run`.
    pub verdict: &'static str,
    pub seconds: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
}

/// One assertion that failed, or the test's error.
#[derive(Debug, Clone, Serialize)]
pub struct Failure {
    /// As it stands in the code; `None` for anything but an assertion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assertion: Option<String>,
    /// `file:line`.
    pub at: String,
    pub message: String,
    /// What the assertion saw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    pub kind: &'static str,
    /// One line.
    pub evidence: String,
    pub score: f64,
    /// Whether the gate passes over it.
    pub filtered: bool,
    /// Why: a score above the threshold, or the reason of a quarantine entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// What was edited since the last version that was learned: `test`, `data`, `code`, `imports` (what runs when
    /// other files are imported) or `nothing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited: Option<&'static str>,
    /// What somebody said of it before: `bug` or `update`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Expired {
    pub test: String,
    pub expires: String,
    pub owner: String,
    pub reason: String,
}

impl Document {
    pub fn failed(&self) -> impl Iterator<Item = &Test> {
        self.tests.iter().filter(|test| test.verdict == "failed")
    }

    /// Tests that the run did not come to: nobody knows how they would have gone.
    pub fn not_run(&self) -> impl Iterator<Item = &Test> {
        self.tests.iter().filter(|test| test.verdict == "not_run")
    }

    /// Whether nothing failed, and not everything ran or could be read.
    pub fn is_inconclusive(&self) -> bool {
        self.failed().next().is_none()
            && self.expired.is_empty()
            && self.collection_errors.is_empty()
            && (self.not_run().next().is_some() || !self.unread.is_empty())
    }

    /// In one word.
    pub fn verdict(&self) -> &'static str {
        match self.passed {
            true => "passed",
            false if self.is_inconclusive() => "inconclusive",
            false => "failed",
        }
    }

    /// How many tests there are, and what became of them.
    fn counts(&self) -> String {
        let mut out = format!(
            "{}, {} failed, {} with filtered failures",
            count(self.tests.len() as u64, "test", "tests"),
            self.failed().count(),
            self.filtered().count()
        );
        let not_run = self.not_run().count();
        if not_run > 0 {
            out += &format!(", {not_run} not run");
        }
        match self.collection_errors.len() as u64 {
            0 => {}
            1 => out += ", 1 file does not collect",
            many => out += &format!(", {many} files do not collect"),
        }
        match self.unread.len() as u64 {
            0 => {}
            1 => out += ", 1 file could not be read",
            many => out += &format!(", {many} files could not be read"),
        }
        out
    }

    /// Tests with a failure that was passed over.
    pub fn filtered(&self) -> impl Iterator<Item = &Test> {
        let passed_over = |test: &&Test| test.failures.iter().any(|f| f.filtered);
        self.tests.iter().filter(passed_over)
    }
}
