//! The document of `flakelab history`. Fields are only ever added within a major version.

mod terminal;

use serde::Serialize;

use crate::detect::Schema;
pub use terminal::{files, ingested, terminal};

#[derive(Debug, Clone, Serialize)]
pub struct Document {
    pub schema: Schema,
    pub flakelab: String,
    /// The worst first.
    pub tests: Vec<Test>,
    /// In the order in which they came in.
    pub versions: Vec<Version>,
    pub totals: Totals,
}

#[derive(Debug, Clone, Serialize)]
pub struct Version {
    pub name: String,
    /// Seconds since 1970.
    pub ingested: i64,
}

#[derive(Debug, Clone, Serialize)]
pub struct Totals {
    pub tests: u64,
    pub versions: u64,
    pub runs: u64,
    pub reports: u64,
    pub executions: u64,
    /// Tests with both verdicts in one version.
    pub flaky: u64,
    /// Tests that vary, or that were asked for; `tests` may list fewer.
    pub found: u64,
}

#[derive(Debug, Clone, Serialize)]
pub struct Test {
    pub id: String,
    /// Of the verdicts within versions, weighted by executions; in nats.
    pub entropy: f64,
    /// Of all verdicts, versions aside.
    pub overall_entropy: f64,
    pub flip_rate: f64,
    pub transition_score: f64,
    pub flips_within_versions: Share,
    pub runs: u32,
    /// Runs in which it failed first and passed in the end.
    pub flaky_runs: u32,
    pub executions: u64,
    /// Executions that passed or failed.
    pub decided: u64,
    pub failures: u64,
    pub versions: u32,
    pub first_bad_version: Option<String>,
    pub verdicts: Vec<Verdicts>,
    /// Every run, for tests that were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Run>,
}

impl Test {
    /// In a version; `None` where it was neither passed nor failed.
    pub(crate) fn failure_rate(&self, version: &str) -> Option<f64> {
        let verdicts = self.verdicts.iter().find(|v| v.version == version)?;
        let failed = verdicts.failed + verdicts.errored;
        let decided = failed + verdicts.passed;
        (decided > 0).then(|| f64::from(failed) / f64::from(decided))
    }
}

/// With the 95 % interval of what it comes from.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Share {
    pub hits: u64,
    pub of: u64,
    pub low: f64,
    pub high: f64,
}

#[derive(Debug, Clone, Serialize)]
pub struct Verdicts {
    pub version: String,
    pub passed: u32,
    pub failed: u32,
    pub errored: u32,
    pub skipped: u32,
    pub flips: u32,
    pub entropy: f64,
}

#[derive(Debug, Clone, Serialize)]
pub struct Run {
    pub version: String,
    pub run: String,
    /// A letter for each execution: `.` passed, `F` failed, `E` errored, `s` skipped.
    pub outcomes: String,
}

/// What `flakelab ingest` took in.
#[derive(Debug, Clone, Default)]
pub struct Ingested {
    pub version: String,
    pub reports: u64,
    /// Tests of each report, added up.
    pub results: u64,
    pub executions: u64,
    /// Results that failed first and passed in the end.
    pub flaky: u64,
    pub known: u64,
    pub skipped: u64,
    /// Files of directories that are no reports.
    pub others: u64,
    pub seconds: f64,
}

impl Ingested {
    pub fn add(&mut self, results: u64, executions: u64, flaky: u64) {
        self.reports += 1;
        self.results += results;
        self.executions += executions;
        self.flaky += flaky;
    }
}
