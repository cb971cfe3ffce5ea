//! The command line of `ingest` and `history`.

use std::path::PathBuf;

use clap::Args;

use super::OutputArgs;

/// Take reports of test runs into the history.
///
///   $ flakelab ingest report.xml
///   $ flakelab ingest build/test-results --version 1.4.2 --run nightly-17
///
/// Reads JUnit XML as pytest, surefire, gradle, nextest, jest-junit and others write it, CTRF, and the
/// JSON of Playwright; what a file is, its content tells. Directories are searched for *.xml and
/// *.json. Every attempt counts: retries, reruns, and tests that are listed twice.
///
/// A report that cannot be read to its end is named and left out; of each report all rows are taken or
/// none. The same report in the same run of the same version counts once, so that an ingest that was
/// killed can simply be repeated. `flakelab history` shows what it comes to.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, disable_version_flag = true)]
pub(crate) struct IngestArgs {
    /// Reports, or directories with reports
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// What was tested; versions are ordered as they come in [default: the commit that is checked out]
    #[arg(long, value_name = "NAME")]
    pub(crate) version: Option<String>,

    /// The run that the reports are of [default: each is a run of its own, named after its content]
    #[arg(long, value_name = "NAME")]
    pub(crate) run: Option<String>,

    /// The project, for the commit and the store
    #[arg(short = 'C', long, value_name = "PATH", default_value = ".")]
    pub(crate) project: PathBuf,

    /// Where the history is kept [default: .flakelab in the project]
    #[arg(
        long,
        value_name = "PATH",
        env = "FLAKELAB_STORE",
        help_heading = "Output"
    )]
    pub(crate) store: Option<PathBuf>,

    /// Print nothing but errors
    #[arg(short, long, conflicts_with = "verbose", help_heading = "Output")]
    pub(crate) quiet: bool,

    /// Name every file
    #[arg(short, long, help_heading = "Output")]
    pub(crate) verbose: bool,
}

/// Show which tests flake, how much, and since when.
///
///   $ flakelab history
///   $ flakelab history tests/test_cart.py::test_total
///
/// The tests whose verdicts varied, over all reports that `flakelab ingest` took, the worst first:
///
///   score    share of consecutive executions whose verdicts differ; from one version to the next,
///            where a change may explain it, a difference counts half
///   entropy  of the verdicts within versions: 0 where each has one verdict, 0.69 where both are as
///            often
///   flips    share of consecutive executions whose verdicts differ, versions aside
///   since    the first version with both verdicts
///
/// The bars are failure rates, one for each version, the newest last. Tests that are named are shown
/// with every run.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct HistoryArgs {
    /// Tests by id, or by a part of it [default: those that vary]
    #[arg(value_name = "TEST")]
    pub(crate) tests: Vec<String>,

    /// At most so many tests; 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,

    /// The project whose history it is
    #[arg(short = 'C', long, value_name = "PATH", default_value = ".")]
    pub(crate) project: PathBuf,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
