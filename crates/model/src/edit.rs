//! A function with another body, without a file being written.

use serde::Serialize;

/// Swapped in right before the last test of a run, or before the first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct CodeEdit {
    /// As in the ids of tests.
    pub file: String,
    /// The classes it stands in, from the outside in.
    pub classes: Vec<String>,
    pub name: String,
    /// The line it starts at, from 1, decorators included.
    pub first_line: u32,
    /// The line of its `def`.
    pub line: u32,
    /// From the start of that line to its end.
    pub text: String,
    /// For a function that tests before the last one run as well.
    #[serde(skip)]
    pub from_start: bool,
    /// Whether only the defaults of its parameters are taken over, evaluated anew, and not its body.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub defaults: bool,
}
