//! The document of `flakelab filter tune`: the two curves of figure 5.4, for assertions and for tests.

mod page;
mod terminal;

use serde::Serialize;

use crate::detect::Schema;

pub use page::page;
pub(crate) use page::part;
pub use terminal::terminal;

#[derive(Debug, Clone, Serialize)]
pub struct Document {
    pub schema: Schema,
    pub flakelab: String,
    pub project: String,
    pub learned: Vec<String>,
    /// The default.
    pub threshold: f64,
    pub assertions: Curves,
    pub tests: Curves,
}

#[derive(Debug, Clone, Serialize)]
pub struct Curves {
    pub all: usize,
    pub flaky: usize,
    /// Those that reveal a bug.
    pub revealing: usize,
    pub points: Vec<Point>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balance: Option<Balance>,
    /// The threshold that removes most without losing a bug.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lossless: Option<f64>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Point {
    pub threshold: f64,
    /// Of the flaky ones, equation 5.4 (5.3 for tests).
    pub removed: Option<f64>,
    /// Of the bug-revealing ones, equation 5.5.
    pub kept: Option<f64>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Balance {
    pub threshold: f64,
    pub share: f64,
}
