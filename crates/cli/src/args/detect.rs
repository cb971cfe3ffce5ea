//! The command line of `detect`.

use std::path::PathBuf;

use clap::Args;

use super::{BudgetArgs, LabArgs, OutputArgs, ProjectArgs};

/// Find and classify the flaky tests of a pytest project.
///
///   $ flakelab detect
///
/// Runs the suite in many orders (by forking one collected interpreter), reruns what varies, and
/// confirms every class in fresh interpreters:
///
///   victim               passes alone, fails after certain other tests
///   brittle              fails alone, passes after certain other tests
///   non-deterministic    differs although nothing did
///   non-idempotent       fails when run twice in one process
///   position-dependent   a class or module teardown fails on whichever test runs last
///   collection-dependent fails when certain other files are collected with it, in any order
///
/// Every finding comes with the shortest known plain pytest command that shows the failure. Nothing
/// is installed into the project, and nothing is written to it but `.flakelab/`.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DetectArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,

    #[command(flatten)]
    pub(crate) search: SearchArgs,
    #[command(flatten)]
    pub(crate) lab: LabArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// Write JUnit XML to a file, flaky tests marked as such
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) junit: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
pub(crate) struct SearchArgs {
    /// Random orders to run [default: 100]
    #[arg(long, value_name = "N", env = "FLAKELAB_ORDERS")]
    pub(crate) orders: Option<usize>,

    /// Kinds the random orders alternate between: global, nested, classes, tuscan, tuscan-classes
    /// [default: global,nested]
    #[arg(
        long,
        value_name = "KINDS",
        value_delimiter = ',',
        env = "FLAKELAB_MIX"
    )]
    pub(crate) mix: Option<Vec<String>>,

    /// Also run the order in this file: test ids, JUnit XML or verbose log of a CI failure, or `flakelab.order` JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) order: Vec<PathBuf>,

    /// Passing and failing orders of a suspect to rerun, each [default: 3]
    #[arg(long, value_name = "N")]
    pub(crate) rerun_orders: Option<usize>,

    /// How often each of them is rerun [default: 3]
    #[arg(long, value_name = "N")]
    pub(crate) reruns: Option<u32>,

    /// Fresh interpreters that run a suspect alone [default: 10]
    #[arg(long, value_name = "N")]
    pub(crate) isolated_runs: Option<u32>,

    /// Fresh interpreters that must agree on the other side of a verdict [default: 3]
    #[arg(long, value_name = "N")]
    pub(crate) confirmations: Option<u32>,

    #[command(flatten)]
    pub(crate) campaign: BudgetArgs,
}
