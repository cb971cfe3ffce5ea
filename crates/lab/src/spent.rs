//! What runs have cost.

use std::time::Duration;

use flakelab_model::RunRecord;

/// Runs and the CPU time they took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    pub runs: u64,
    pub cpu: Duration,
}

impl Spent {
    pub fn add(&mut self, record: &RunRecord) {
        self.runs += 1;
        self.cpu += record.cpu;
    }
}
