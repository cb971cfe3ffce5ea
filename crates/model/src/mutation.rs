//! Changed code under watch: what a run executes in its place, and whether its tests reached it.

use serde::Serialize;

use crate::{CodeEdit, Outcome, TestIndex};

/// A change that tells when it is executed. Its text calls `__flakelab_hit__()` wherever the changed expression or
/// statement begins.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Mutation {
    #[serde(flatten)]
    pub code: Changed,
    /// Hits of one test after which its process is ended: it goes round in circles.
    pub most_hits: u64,
    #[serde(flatten)]
    pub pursuit: Pursuit,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Changed {
    /// Swapped in before the first test, in a fork of the collected suite.
    Body(CodeEdit),
    /// A whole file, read in place of the one on disk when it is imported: takes an interpreter that has
    /// imported nothing of the project.
    Import { file: String, text: String },
    /// A quick look at many changes in one fork of the collected suite: the n-th test of the order is executed with the
    /// `which[n]`-th body in place, unless a test has failed with that body before. What one of them left behind reaches
    /// the next, so nothing that this shows is proved.
    InTurn {
        bodies: Vec<CodeEdit>,
        which: Vec<u32>,
    },
}

/// How far a run goes to have its tests reach the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Pursuit {
    /// Executions of a test after the first, in the same process, until it reaches the change.
    pub reruns: u32,
    /// Whether a test is executed again at once, or once all others had their turn.
    pub immediate: bool,
    /// Whether the first test that reaches the change and fails ends the run.
    pub first_kill: bool,
}

/// One execution of a test with changed code.
#[derive(Debug, Clone, PartialEq)]
pub struct Pursued {
    pub test: TestIndex,
    /// Its place in the order.
    pub place: u32,
    pub outcome: Outcome,
    pub micros: u32,
    /// Whether the change was executed by this test, or when the suite was imported.
    pub hit: bool,
    /// How often, by this execution in its own process.
    pub hits: u64,
    /// Whether it was executed earlier in the same process, by another execution.
    pub earlier: bool,
}

/// The numbers of points that were executed, as runs of neighbours: (first, how many), ascending.
pub type Ranges = Vec<(u32, u32)>;

/// Which points an instrumented suite executed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reached {
    /// While it was imported and collected.
    pub import: Ranges,
    /// By each execution of the run.
    pub tests: Vec<Ranges>,
}
