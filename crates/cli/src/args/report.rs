//! The command line of `report`.

use std::path::PathBuf;

use clap::Args;

/// Write everything that is known of a suite as one page.
///
///   $ flakelab report
///   $ flakelab report -o flaky.html
///
/// One HTML file that needs nothing else: no network, no server. It has what was run and what that is
/// worth, what to fix first, every flaky test with its evidence, causes, leaked state and patch, a
/// drawing of who pollutes whom, and what measure, filter, mutate, inject and history found. Every
/// claim comes with the command that shows it again. What was never run says how to run it.
///
/// Nothing is run: it shows what is in the store. The page goes beside the store unless -o says where;
/// its path is printed.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ReportArgs {
    /// The project whose store it is
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,

    /// Write the page here [default: report.html beside the store]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Where campaigns are kept [default: .flakelab in the project]
    #[arg(long, value_name = "PATH", env = "FLAKELAB_STORE")]
    pub(crate) store: Option<PathBuf>,

    /// Print nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
