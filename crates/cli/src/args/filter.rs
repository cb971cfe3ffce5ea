//! The command line of `filter`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{CampaignArgs, LabArgs, OutputArgs, ProjectArgs};

/// Keep the failures that mean something and drop the flakes, assertion by assertion.
///
///   $ flakelab filter learn              # ten runs of this version: what varies?
///   $ flakelab filter run -- tests/unit  # the gate
///   $ flakelab filter tune --bad v1.2    # where to draw the line, and why
///
/// Products quarantine whole tests by their verdicts. flakelab scores every assertion by the entropy of
/// what it saw and said (Gao's dissertation, chapter 5), over versions, and passes over those above a
/// threshold while the rest of the test still counts. Failures come sorted:
///
///   flaky    the assertion is known to vary, and this value is among or like those seen
///   changed  always the same before, different now: a bug, or an update
///   new      nobody has seen it before
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct FilterArgs {
    #[command(subcommand)]
    pub(crate) command: FilterCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FilterCommand {
    Learn(LearnArgs),
    Run(GateArgs),
    Apply(ApplyArgs),
    Tune(TuneArgs),
    Suggest(SuggestArgs),
    Explain(WhyArgs),
    Label(LabelArgs),
}

/// Run the suite several times and score every assertion by what it saw.
///
///   $ flakelab filter learn --runs 10
///
/// Evidence adds up over versions: learn once for each, e.g. every night. What is learned is kept in
/// the store.
// `--version` is that of the project here.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, disable_version_flag = true)]
pub(crate) struct LearnArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,

    /// Runs of the suite
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) runs: u32,

    /// The name of this version [default: the commit that is checked out]
    #[arg(long, value_name = "NAME")]
    pub(crate) version: Option<String>,

    #[command(flatten)]
    pub(crate) campaign: CampaignArgs,

    #[command(flatten)]
    pub(crate) lab: LabArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Run the suite once; known flakes are passed over, everything else counts.
///
///   $ flakelab filter run --junit results.xml -- tests/unit
///
/// Exit code 1 if something failed that is no known flake. An assertion that is passed over is
/// recorded and its test goes on, so that what follows in it still counts.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct GateArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,

    /// Pass over assertions whose score is above this [default: 0.4]
    #[arg(long, value_name = "SCORE")]
    pub(crate) threshold: Option<f64>,

    /// The reviewed list of what is passed over [default: flakelab-quarantine.toml in the project]
    #[arg(long, value_name = "FILE")]
    pub(crate) quarantine: Option<PathBuf>,

    /// How often a failure that is no known flake is run again
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) reruns: u32,

    /// Write JUnit XML to a file; filtered failures are flaky ones there
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) junit: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) lab: LabArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Sort the failures of a finished run: JUnit XML of any runner, CTRF, Playwright.
///
///   $ flakelab filter apply results.xml
///
/// Reports know tests and no assertions, so whole tests are passed over, by their score.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ApplyArgs {
    /// Reports of the run
    #[arg(value_name = "RESULTS", required = true)]
    pub(crate) results: Vec<PathBuf>,

    /// The project
    #[arg(short = 'C', long, value_name = "PATH", default_value = ".")]
    pub(crate) project: PathBuf,

    /// Pass over flaky tests whose score is above this [default: 0.4]
    #[arg(long, value_name = "SCORE")]
    pub(crate) threshold: Option<f64>,

    /// Write JUnit XML to a file; filtered failures are flaky ones there
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) junit: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Draw flaky assertions removed against bug-revealing ones kept, over the threshold.
///
///   $ flakelab filter tune --bad v1.2 --mutants 20 --html curves.html
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,

    /// A commit with a bug: assertions that fail there, and hold here, reveal it
    #[arg(long, value_name = "COMMIT")]
    pub(crate) bad: Vec<String>,

    /// So many mutants of the code under test: assertions that fail with one reveal it
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) mutants: usize,

    /// Write the curves as a page
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) lab: LabArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Write quarantine entries for what is above the threshold.
///
///   $ flakelab filter suggest --owner payments --write
///
/// Each entry has an owner, a reason and a last day, after which it fails the gate.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct SuggestArgs {
    /// The project
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,

    /// Suggest assertions whose score is above this [default: 0.4]
    #[arg(long, value_name = "SCORE")]
    pub(crate) threshold: Option<f64>,

    /// Who looks after them
    #[arg(long, value_name = "NAME")]
    pub(crate) owner: String,

    /// For how long they count
    #[arg(long, value_name = "DAYS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(..=3_650))]
    pub(crate) days: u64,

    /// Also those of tests that have caught bugs
    #[arg(long)]
    pub(crate) include_bug_catchers: bool,

    /// Add them to flakelab-quarantine.toml; without it they are printed
    #[arg(long)]
    pub(crate) write: bool,

    /// Where campaigns are kept [default: .flakelab in the project]
    #[arg(long, value_name = "PATH", env = "FLAKELAB_STORE")]
    pub(crate) store: Option<PathBuf>,
}

/// Say why assertions of a test are filtered, or are not.
///
///   $ flakelab filter explain tests/test_cart.py::test_total
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WhyArgs {
    /// A test by id, or all below a file or class
    #[arg(value_name = "TEST")]
    pub(crate) test: String,

    /// The project
    #[arg(short = 'C', long, value_name = "PATH", default_value = ".")]
    pub(crate) project: PathBuf,

    /// Pass over assertions whose score is above this [default: 0.4]
    #[arg(long, value_name = "SCORE")]
    pub(crate) threshold: Option<f64>,

    /// Where campaigns are kept [default: .flakelab in the project]
    #[arg(long, value_name = "PATH", env = "FLAKELAB_STORE")]
    pub(crate) store: Option<PathBuf>,
}

/// Say of a failure that it is a bug, or an update.
///
///   $ flakelab filter label tests/test_cart.py::test_total bug
///
/// Tests that caught bugs are not suggested for quarantine.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct LabelArgs {
    /// The test that failed, by id
    #[arg(value_name = "TEST")]
    pub(crate) test: String,

    /// What it was
    #[arg(value_enum)]
    pub(crate) label: LabelArg,

    /// The assertion that failed, as it stands in the code [default: the whole test]
    #[arg(long, value_name = "TEXT")]
    pub(crate) assertion: Option<String>,

    /// The project
    #[arg(short = 'C', long, value_name = "PATH", default_value = ".")]
    pub(crate) project: PathBuf,

    /// Where campaigns are kept [default: .flakelab in the project]
    #[arg(long, value_name = "PATH", env = "FLAKELAB_STORE")]
    pub(crate) store: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LabelArg {
    /// The code was wrong
    Bug,
    /// The test was out of date
    Update,
}
