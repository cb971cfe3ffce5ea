//! Surroundings that a run is given on purpose.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a run is given besides its order; what is not set stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Factors {
    /// Seeds `random` (and numpy's) before every test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_seed: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// Seconds by which the clock is wrong; takes an interpreter of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_shift: Option<i64>,
    /// Whether busy processes compete for the processors.
    #[serde(skip_serializing_if = "is_false")]
    pub pressure: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_order: Option<FileOrder>,
    /// Milliseconds to wait before every test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<u32>,
    #[serde(skip_serializing_if = "ProcessFactors::is_plain")]
    pub process: ProcessFactors,
}

/// Those that only an interpreter started for the run can be given.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessFactors {
    /// What the clock says when the run starts, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_start: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub umask: Option<u32>,
    /// How many processors it may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// Without any network but the loopback interface.
    #[serde(skip_serializing_if = "is_false")]
    pub offline: bool,
    /// Whether memory is laid out the same in every run.
    #[serde(skip_serializing_if = "is_false")]
    pub fixed_addresses: bool,
    /// Runs of the same name find the files that those before have left, one at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lasting_state: Option<String>,
    /// Another interpreter than the project's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub python: Option<PathBuf>,
}

/// How directories are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileOrder {
    Sorted,
    Reversed,
}

impl Factors {
    pub fn is_plain(&self) -> bool {
        *self == Factors::default()
    }
}

impl ProcessFactors {
    pub fn is_plain(&self) -> bool {
        *self == ProcessFactors::default()
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}
