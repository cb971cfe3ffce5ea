//! Runs: one order executed in one fresh state lineage, as asked for and as it went.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::{
    CodeEdit, Experiment, Factors, Mutation, Observation, Outcome, Pursued, Reached, Recording,
    TestIndex, Trace,
};

/// A sequence of tests. A test may stand in it more than once.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Order(pub Vec<TestIndex>);

impl Order {
    /// The order up to and including position `at`, and the test after it: a test's teardown
    /// depends on what follows.
    pub fn through(&self, at: usize) -> Order {
        Order(self.0[..self.0.len().min(at + 2)].to_vec())
    }

    pub fn position(&self, test: TestIndex) -> Option<usize> {
        self.0.iter().position(|t| *t == test)
    }
}

/// How much a run may share with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Isolation {
    /// A common prefix of several orders is executed once.
    Shared,
    /// A fork of the collected suite; nothing else is shared.
    Fork,
    /// A fork of an interpreter that has loaded the test runner and nothing of the project.
    Fresh,
    /// An interpreter of its own, started for this run.
    Cold,
}

impl Isolation {
    /// Whether no code of the project ran in the process before.
    pub fn is_pristine(self) -> bool {
        self >= Isolation::Fresh
    }

    pub fn word(self) -> &'static str {
        match self {
            Isolation::Shared => "shared",
            Isolation::Fork => "fork",
            Isolation::Fresh => "fresh",
            Isolation::Cold => "cold",
        }
    }
}

/// Limits on wall-clock time; what exceeds one is killed with its whole process group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeout {
    pub test: Duration,
    pub run: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRequest {
    pub order: Order,
    pub isolation: Isolation,
    /// Repeats of one order carry different numbers, so that they are never merged.
    pub attempt: u32,
    /// The interpreter's hash seed; `None` leaves the choice to the lab.
    pub hash_seed: Option<u32>,
    pub timeout: Timeout,
    /// Looks into the process; such a run shares nothing with another.
    pub experiment: Option<Experiment>,
    pub factors: Factors,
    /// What is written down besides outcomes.
    pub recording: Option<Arc<Recording>>,
    /// Another body for the function of its last test.
    pub edit: Option<Arc<CodeEdit>>,
    /// Changed code that all of its tests run with, under watch.
    pub mutation: Option<Arc<Mutation>>,
    /// Only the last execution is wanted in the record.
    pub last_only: bool,
    /// When nobody wants the record any more: the lab may drop the run, as if never asked for.
    pub until: Option<Instant>,
}

impl RunRequest {
    /// A first attempt with nothing special about it.
    pub fn new(order: Order, isolation: Isolation, timeout: Timeout) -> Self {
        Self {
            order,
            isolation,
            attempt: 0,
            hash_seed: None,
            timeout,
            experiment: None,
            factors: Factors::default(),
            recording: None,
            edit: None,
            mutation: None,
            last_only: false,
            until: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    pub test: TestIndex,
    pub outcome: Outcome,
    pub micros: u32,
}

/// How a run ended. Only `Lost` means that no outcome was obtained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    Completed,
    /// A test or the whole run exceeded its time.
    TimedOut,
    /// The process died in the middle of a test.
    Crashed,
    /// The suite ended its own session (`pytest.exit`).
    Stopped,
    /// The lab could not execute the order as asked.
    Lost(String),
}

impl Ending {
    /// How the reason of a lost run ends if its tests were not found.
    pub const NOT_COLLECTED: &str = "is not collected again";
}

#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// Position of the request in its batch.
    pub request: usize,
    /// One entry for each position of the order.
    pub executions: Vec<Execution>,
    pub hash_seed: u32,
    pub ending: Ending,
    pub cpu: Duration,
    pub wall: Duration,
    /// Whether the plain command line alone (test ids as arguments) gave this very order.
    pub plain: bool,
    /// Of a run with an experiment.
    pub observation: Option<Observation>,
    /// Of a run with a recording.
    pub trace: Option<Box<Trace>>,
    /// Of a run with a mutation, in place of `executions`: one entry for each execution, in turn.
    pub pursued: Vec<Pursued>,
    /// In a lab whose sources are instrumented.
    pub reached: Option<Box<Reached>>,
}
