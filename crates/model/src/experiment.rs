//! Looking into a process while an order runs, and changing what the last test finds there.

use serde::{Deserialize, Serialize};

/// A watch over one order: a snapshot before its first test, and what differs right before its last.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Experiment {
    /// Leaks to undo right before the last test, by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restore: Vec<String>,
    /// Leaks whose writes are to be traced to a source line, by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<String>,
    /// Whether generators are doubled, so that one that was used up can be put back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tee: bool,
    /// Whether a fresh interpreter collects the whole suite, so that it finds the modules that only other
    /// files import.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
}

/// A difference that tests left behind and that was still there when the last test started.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Leak {
    /// The same in every process that ran the same tests.
    pub id: String,
    pub kind: String,
    /// As people write it: `shop.pricing.RATES["default"]`.
    pub name: String,
    pub before: String,
    pub after: String,
    /// `file:line` of the last write, where it was traced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    pub restorable: bool,
    /// The module that the name starts with, where it is the name of something in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
}

/// What a watch has seen.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Observation {
    /// The most telling first.
    pub leaks: Vec<Leak>,
    /// What was not looked at, and why.
    #[serde(default)]
    pub notes: Vec<String>,
    #[serde(default)]
    pub objects: u64,
    #[serde(default)]
    pub milliseconds: u64,
}
