//! What a campaign is asked to do, what it works with, and who follows it.

use std::collections::{BTreeMap, BTreeSet};

use flakelab_lab::{BorrowedLab, Journal, LabError};
use flakelab_model::Timeout;

/// How coverage is collected (section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collecting {
    /// All tests in one process.
    Together,
    /// Each test in a process of its own.
    Isolated,
}

impl Collecting {
    pub fn word(self) -> &'static str {
        match self {
            Collecting::Together => "default",
            Collecting::Isolated => "isolated",
        }
    }
}

/// Reruns of a pair that does not reach its mutant, on each rung of the ladder (section 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reruns {
    pub same_process: u32,
    pub process_per_mutant: u32,
    pub process_per_pair: u32,
    pub fresh_interpreter: u32,
}

#[derive(Debug, Clone)]
pub struct Settings {
    pub seed: u64,
    pub collecting: Collecting,
    /// Coverage runs after the first.
    pub coverage_reruns: u32,
    pub reruns: Reruns,
    /// Whether a test that missed is executed again at once, or after all others (section 3.3).
    pub immediate: bool,
    /// Run every pair, also after a kill.
    pub matrix: bool,
    /// At most so many mutants, spread over all.
    pub sample: Option<usize>,
    /// Mutants by their ids; none for all.
    pub mutants: BTreeSet<String>,
    /// Lines of files that may be changed; `None` for all.
    pub lines: Option<BTreeMap<String, Vec<(usize, usize)>>>,
    /// Operators, by their words, that are not used.
    pub without: Vec<String>,
    /// Executions of changed code by one test after which it is taken for endless.
    pub most_hits: u64,
    pub timeout: Timeout,
    /// Whether bodies can be swapped in forks; otherwise everything takes fresh interpreters.
    pub forks: bool,
    /// Anything else that verdicts depend on: interpreter, packages, options. A verdict of before is used again
    /// only if this is the same.
    pub environment: String,
}

/// A file of the project that may be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// For people, relative to the project.
    pub path: String,
    /// Where interpreters import it from.
    pub absolute: String,
    pub text: String,
}

/// Code that stands in classes, from the start of its line.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Code {
    pub classes: Vec<String>,
    pub text: String,
}

/// What the project's interpreter does besides running tests.
pub trait Toolchain {
    /// A lab whose files are instrumented: for each absolute path its text.
    fn instrumented(
        &mut self,
        texts: &[(String, String)],
        points: usize,
    ) -> Result<BorrowedLab<'_>, LabError>;

    /// A digest of what each compiles to; `None` if it does not.
    fn digests(&mut self, codes: &[Code]) -> Result<Vec<Option<String>>, LabError>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Coverage,
    Mutants,
}

/// Sees a campaign go by.
pub trait Watch {
    fn stage(&mut self, stage: Stage, steps: usize);
    fn step(&mut self);
    /// Mutants killed and not killed so far.
    fn tally(&mut self, killed: u64, of: u64);
}

/// What a campaign works with, beside the lab of the project as it is.
#[allow(missing_debug_implementations)]
pub struct Surroundings<'a> {
    pub tools: &'a mut dyn Toolchain,
    /// Text of a test's file, for verdicts that may be used again.
    pub tree: &'a dyn flakelab_source::Tree,
    pub journal: &'a mut dyn Journal,
    /// Verdicts of earlier campaigns.
    pub earlier: &'a dyn Journal,
    pub watch: &'a mut dyn Watch,
}
