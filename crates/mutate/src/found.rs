//! A mutant with its verdict, on its way into the document.

use serde::{Deserialize, Serialize};

use crate::pair::Status;
use crate::simulate::MatrixPair;

#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub id: String,
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub scope: String,
    pub operator: &'static str,
    /// One line for people.
    pub says: String,
    pub diff: String,
    /// Tests that cover it.
    pub tests: usize,
    pub verdict: Verdict,
    /// The verdict is of an earlier campaign.
    pub reused: bool,
    /// Its pairs, where all of them were run.
    pub pairs: Vec<MatrixPair>,
}

/// What is kept of a mutant for campaigns to come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    pub status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub killed_by: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Tests that never reached it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_pairs: Vec<String>,
    #[serde(default)]
    pub counts: Counts,
}

impl Verdict {
    pub(crate) fn bare(status: Status, why: Option<String>) -> Self {
        Self {
            status,
            why,
            killed_by: Vec::new(),
            failure: None,
            unknown_pairs: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Whether another campaign would say the same: what is open is tried again.
    pub(crate) fn holds(&self) -> bool {
        matches!(self.status, Status::Killed | Status::Survived)
    }
}

/// Pairs by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub killed: u64,
    pub survived: u64,
    pub unknown: u64,
    pub timeout: u64,
}
