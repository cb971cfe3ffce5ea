//! The command line of `explain`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{BudgetArgs, ChosenArgs, LabArgs, OutputArgs};

/// Say which tests cause a flaky test, which tests cure it, and which state carries it.
///
///   $ flakelab explain
///   $ flakelab explain tests/test_cart.py::test_total
///   $ flakelab explain --order ci-junit.xml
///
/// Explains the flaky tests of the last `flakelab detect`, the tests that are named, or those that
/// fail in an order from CI and pass alone.
///
///   victim             the tests it fails after, the tests that cure it in between
///   brittle            the tests it passes after
///   non-deterministic  the surroundings that decide it: hash seed, random seed, time zone, date, load,
///                      order of files
///
/// What the culprits leave behind (module globals, class attributes, environment, files, caches,
/// fixtures …) is compared, and what matters is found by experiment: it is put back, and the test
/// run again. Culprits, cleaners and causes were confirmed in fresh interpreters.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) chosen: ChosenArgs,

    #[command(flatten)]
    pub(crate) causes: CauseArgs,
    #[command(flatten)]
    pub(crate) lab: LabArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// Print who pollutes whom as a graph instead
    #[arg(long, value_name = "FORMAT", value_enum, help_heading = "Output")]
    pub(crate) graph: Option<GraphArg>,
}

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Causes")]
pub(crate) struct CauseArgs {
    /// How to look for the tests that cause it [default: probe]
    #[arg(long, value_name = "HOW", value_enum)]
    pub(crate) mode: Option<ModeArg>,

    /// Find every culprit and every cleaner of the suite, not only the first
    #[arg(long)]
    pub(crate) all: bool,

    /// Do not look for the state that leaks
    #[arg(long)]
    pub(crate) no_state: bool,

    /// Explain what fails in this order: test ids, JUnit XML or verbose log of a CI failure, or `flakelab.order` JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) order: Vec<PathBuf>,

    /// Random orders to try where none is known that shows the change [default: 100]
    #[arg(long, value_name = "N")]
    pub(crate) orders: Option<usize>,

    /// Fresh interpreters that must agree on everything published [default: 3]
    #[arg(long, value_name = "N")]
    pub(crate) confirmations: Option<u32>,

    #[command(flatten)]
    pub(crate) campaign: BudgetArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// Run an order that shows the change, and ask the test after every test of it
    Probe,
    /// Run every test of the suite before it
    Pairs,
    /// Delta debugging of an order that shows the change
    Delta,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphArg {
    Dot,
    Mermaid,
}
