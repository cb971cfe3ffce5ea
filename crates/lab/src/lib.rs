//! The seam: algorithms ask a [`Lab`] to run orders, and never start a process themselves.
//!
//! Owns the trait, the trie that merges orders, the generators of orders and their import from CI
//! results, delta debugging, how fresh interpreters are asked, and a [`fake::FakeLab`] with planted truth for the
//! tests of algorithms. Knows nothing of Python, processes or the store.

pub mod delta;
pub mod fake;
pub mod import;
pub mod orders;
pub mod patience;
pub mod pristine;
mod spent;
pub mod trie;
mod within;

use std::ops::ControlFlow;

use flakelab_model::{RunRecord, RunRequest, Suite};

pub use spent::Spent;
pub use within::run_within;

/// Receives each record as its run finishes; `Break` ends the batch early.
pub type Sink<'a> = dyn FnMut(RunRecord) -> ControlFlow<()> + 'a;

/// Executes orders. Records arrive in the order in which runs finish.
pub trait Lab {
    /// The tests in their original order.
    fn suite(&self) -> &Suite;

    fn run(&mut self, batch: &[RunRequest], sink: &mut Sink<'_>) -> Result<(), LabError>;
}

/// A lab and what it borrows from.
pub type BorrowedLab<'a> = Box<dyn Lab + 'a>;

/// Opens labs of the same project with some files changed; nothing of the project itself is written.
pub trait Variants {
    /// Paths as in ids, with their new texts. `None` if the suite does not collect with them.
    fn open(&mut self, files: &[(String, String)]) -> Result<Option<BorrowedLab<'_>>, LabError>;
}

/// Keeps what a campaign has finished, so that nothing is done twice after an interruption.
pub trait Journal {
    fn get(&self, key: &str) -> Option<String>;
    fn put(&mut self, key: &str, value: &str) -> Result<(), LabError>;

    /// All of them or, should something end this process, none.
    fn put_all(&mut self, entries: &[(&str, String)]) -> Result<(), LabError>;
}

/// No outcome could be obtained. A failing test is an outcome, never an error.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    #[error("interrupted")]
    Interrupted,
    #[error("{message}")]
    Broken {
        message: String,
        hint: Option<String>,
    },
}

impl LabError {
    pub fn broken(message: impl Into<String>) -> Self {
        LabError::Broken {
            message: message.into(),
            hint: None,
        }
    }
}
