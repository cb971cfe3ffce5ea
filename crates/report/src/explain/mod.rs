//! The document of `flakelab explain`. Fields are only ever added within a major version.

mod graph;
mod terminal;

use flakelab_model::Class;
use serde::{Deserialize, Serialize};

use crate::detect::{Failure, Rate, Schema, Word};

pub use graph::{GraphFormat, graph};
pub(crate) use graph::{Relation, edges};
pub use terminal::terminal;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Document {
    pub schema: Schema,
    pub flakelab: String,
    pub explanations: Vec<Explanation>,
    pub campaign: Campaign,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Explanation {
    pub test: String,
    pub class: Class,
    /// Sets of tests after which it fails; each is minimal.
    pub polluters: Vec<Vec<String>>,
    /// Sets of tests after which it passes; each is minimal.
    pub state_setters: Vec<Vec<String>>,
    /// Sets of tests after which its verdict changes only sometimes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intermittent: Vec<Intermittent>,
    pub cleaners: Vec<Cleaning>,
    pub leaks: Vec<Leak>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub factors: Vec<Factor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// For a POSIX shell, in the project's directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<String>,
    /// Whether flakelab saw this very command fail in fresh interpreters.
    pub reproduce_verified: bool,
    /// The budget ended before everything was looked at.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Explanation {
    /// Whether anything was found that changes the verdict.
    pub fn has_cause(&self) -> bool {
        !self.polluters.is_empty()
            || !self.state_setters.is_empty()
            || !self.intermittent.is_empty()
            || self.factors.iter().any(|f| f.decides)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Intermittent {
    pub tests: Vec<String>,
    /// How often the test fails after them.
    pub failure_rate: Rate,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Cleaning {
    pub polluters: Vec<String>,
    pub cleaners: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Leak {
    pub kind: String,
    pub name: String,
    pub before: String,
    pub after: String,
    /// `file:line` of the last write, or null where it was not found.
    #[serde(rename = "where")]
    pub at: Option<String>,
    /// Whether putting it back changed the verdict back, in fresh interpreters.
    pub causal: bool,
    /// Causal leaks of one group only work together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<usize>,
    /// The tests that left it.
    pub left_by: Vec<String>,
    /// The module that the name starts with, where it is the name of something in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Factor {
    pub factor: Word,
    pub decides: bool,
    pub levels: Vec<Level>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Level {
    pub setting: String,
    pub failure_rate: Rate,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Campaign {
    pub seed: u64,
    pub mode: Word,
    pub all: bool,
    pub runs: u64,
    pub executions: u64,
    pub processes: u64,
    pub cpu_seconds: f64,
    pub wall_seconds: f64,
    pub jobs: usize,
    pub python: String,
    pub pytest: String,
    pub notes: Vec<String>,
}
