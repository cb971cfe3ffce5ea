//! What a run wrote down about the insides of its tests.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// What is to be written down. Such a run takes an interpreter of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recording {
    /// What every assertion saw.
    pub assertions: bool,
    pub functions: bool,
    pub lines: bool,
    /// Arguments and results of functions, and operands of assertions, as typed samples.
    pub behaviour: bool,
    /// Of assertions only the values and verdicts of those that fail.
    pub failing_only: bool,
    /// Assertions that are passed over when they fail, by test: file, line and column of each, named as in elements.
    pub filtered: BTreeMap<String, Vec<(String, u32, u32)>>,
    /// Masks that are switched off.
    pub unmasked: Vec<String>,
    /// Fields of objects that count as part of a value, by class.
    pub fields: BTreeMap<String, Vec<String>>,
    /// Whose code is written down: files below these directories.
    pub sources: Vec<PathBuf>,
    /// Files are named relative to it.
    pub names: PathBuf,
    /// Where later runs find the bytecode of rewritten tests, if there will be any: a directory outside of the tree
    /// that runs must not change.
    pub bytecode: Option<PathBuf>,
}

/// A value as a sample carries it: typed, bounded, never the object itself.
#[derive(Debug, Clone, PartialEq)]
pub enum Datum {
    /// The variable was not there.
    Missing,
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// A string: the number of its masked, digested text, and its true length.
    Text {
        text: u32,
        length: u64,
    },
    /// A list or tuple of numbers: its true length, and the first of them.
    Numbers {
        length: u64,
        items: Vec<f64>,
    },
    /// Any other thing with a length, by type.
    Sized {
        kind: u32,
        length: u64,
    },
    /// Anything else, by type.
    Other {
        kind: u32,
    },
}

/// A place where variables are seen: entry or exit of a function, or an assertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    pub name: u32,
    pub variables: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub point: u32,
    /// One for each variable of the point.
    pub values: Vec<Datum>,
}

/// Of one execution. Numbers without a name of their own are those of texts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TestTrace {
    /// In the order of the run.
    pub position: u32,
    /// (element, value) of what assertions saw.
    pub values: Vec<(u32, u32)>,
    /// (element, verdict) of assertions.
    pub verdicts: Vec<(u32, u32)>,
    /// (element, message) of assertions that failed and were passed over.
    pub filtered: Vec<(u32, u32)>,
    /// (element, distance to the bound) of numeric comparisons.
    pub margins: Vec<(u32, f64)>,
    pub functions: Vec<u32>,
    /// (file, line number).
    pub lines: Vec<(u32, u32)>,
    pub samples: Vec<Sample>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trace {
    pub texts: Vec<String>,
    pub points: Vec<Point>,
    pub tests: Vec<TestTrace>,
    /// What was not recorded, and why.
    pub notes: Vec<String>,
}
