//! Reports as rows. What a report is, its content tells, not its name.
//!
//! Everything is read as a stream: no event of more than 16 MiB, nothing nested deeper than 100 levels, no entity
//! that a file declares itself. A report is read to its end or is broken.

mod ctrf;
mod input;
mod json;
mod junit;
mod playwright;

use std::io::Read;

use flakelab_model::{Reported, Sequel};

/// Attempts of one test in one report; more of them are not what a runner writes.
const MOST_ATTEMPTS: usize = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Junit,
    Ctrf,
    Playwright,
}

/// One execution.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// The name of the test (see `identity`).
    pub test: &'a str,
    pub outcome: Reported,
    /// Rows with the same number are of one suite of the report.
    pub suite: u32,
    pub sequel: Sequel,
}

pub trait Sink {
    type Error;

    fn row(&mut self, row: Row<'_>) -> Result<(), Self::Error>;
}

/// Why a report is not read.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    #[error("it is empty")]
    Empty,
    #[error("it is no report: {0}")]
    NoReport(String),
    #[error(transparent)]
    Io(std::io::Error),
    #[error("{0}")]
    Encoding(String),
    #[error("XML that cannot be read, at byte {at}: {why}")]
    Xml { at: u64, why: String },
    #[error("it ends in the middle of {0}")]
    Truncated(&'static str),
    #[error("it declares entities of its own, which no report needs")]
    Entities,
    #[error("JSON that cannot be read: {0}")]
    Json(String),
    #[error("it has {0} larger than 16 MiB")]
    Large(&'static str),
    #[error("it is nested too deeply")]
    Deep,
    #[error("it has a test with more than 1,000 attempts")]
    Attempts,
}

#[derive(Debug)]
pub enum ReadError<E> {
    Broken(Broken),
    Sink(E),
}

impl<E> From<Broken> for ReadError<E> {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

/// Hands every row of a report to the sink.
pub fn read<S: Sink>(source: impl Read, sink: &mut S) -> Result<Format, ReadError<S::Error>> {
    let (start, source) = input::open(source)?;
    match start {
        b'<' => junit::read(source, sink).map(|()| Format::Junit),
        b'{' => json::read(source, sink),
        _ => Err(Broken::NoReport("neither XML nor a JSON object".into()).into()),
    }
}
