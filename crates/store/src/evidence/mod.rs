//! History: rows of reports by version and run, and what they add up to.
//!
//! Owns how rows are packed, added up and written so that a report is in with all its rows or not at all.
//! Knows nothing of formats of reports or of scores.

mod ingest;
mod keys;
mod pack;
mod query;
mod report;
mod tallies;

pub use ingest::Ingest;
pub use query::{HistoryTotals, RunRows, Version};
pub use report::{Begun, FileTotals};
