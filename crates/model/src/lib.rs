//! The nouns of flakelab: tests, outcomes, orders, runs and verdicts.
//!
//! Owns the words of the field and nothing else: no process, no file, no randomness, no printing.
//! Every other crate may use this one; this one uses none of them.

mod edit;
mod experiment;
mod factors;
mod mutation;
mod outcome;
mod place;
mod reported;
mod run;
mod shell;
mod suite;
mod trace;
mod verdict;

pub use edit::CodeEdit;
pub use experiment::{Experiment, Leak, Observation};
pub use factors::{Factors, FileOrder, ProcessFactors};
pub use mutation::{Changed, Mutation, Pursued, Pursuit, Ranges, Reached};
pub use outcome::{Failure, Outcome, Phase, Polarity};
pub use place::Place;
pub use reported::{Reported, Sequel, Tally};
pub use run::{Ending, Execution, Isolation, Order, RunRecord, RunRequest, Timeout};
pub use shell::shell_word;
pub use suite::{Suite, TestId, TestIndex};
pub use trace::{Datum, Point, Recording, Sample, TestTrace, Trace};
pub use verdict::Class;
