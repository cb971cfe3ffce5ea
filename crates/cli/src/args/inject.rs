//! The command line of `inject`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{CampaignArgs, LabArgs, OutputArgs, ProjectArgs};

/// Make order-dependent tests by deleting helper statements, as a data set with known truth.
///
///   $ flakelab inject -o data
///   $ flakelab inject verify data
///   $ flakelab inject evaluate data
///
/// Follows FLAKER. Tests that pass alone every time and in every order are stable; each statement of
/// theirs that is no assertion is deleted in turn, and the same random orders tell whether the test
/// depends on the order without it:
///
///   victim             passes alone, fails after a polluter it was protected from
///   brittle            fails alone, passes after a state-setter
///   non_deterministic  varies without the order's doing
///   stable             the same in every order
///   invalid            would not compile: a name is left without a value
///
/// Entries were confirmed in fresh interpreters on the written file, where the unchanged test passes
/// in the very order; their polluters, state-setters and cleaners are found. `-o DIR` writes the data
/// set: manifest, mutants and orders as JSON lines, patches for `git apply`, a table, a page with
/// plots. The same seed gives the same set.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
pub(crate) struct InjectArgs {
    #[command(subcommand)]
    pub(crate) command: Option<InjectCommand>,

    #[command(flatten)]
    pub(crate) project: ProjectArgs,

    #[command(flatten)]
    pub(crate) mutation: MutationArgs,
    #[command(flatten)]
    pub(crate) lab: LabArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum InjectCommand {
    Verify(VerifyArgs),
    Evaluate(EvaluateArgs),
}

/// Replay the entries of a data set with plain pytest.
///
///   $ flakelab inject verify data --sample 20
///
/// Each patch is applied to a copy of the project; the printed orders must pass and fail as the data
/// set says.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) dataset: DatasetArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DatasetArgs {
    /// The data set
    #[arg(value_name = "DIR")]
    pub(crate) dataset: PathBuf,

    /// The project it was made from
    #[arg(short = 'C', long, value_name = "PATH", default_value = ".")]
    pub(crate) project: PathBuf,

    /// At most so many entries, spread over the data set [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) sample: Option<usize>,

    #[command(flatten)]
    pub(crate) lab: LabArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Run `detect` on the injected suites: recall and precision with known truth.
///
///   $ flakelab inject evaluate data --sample 20 --orders 100
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct EvaluateArgs {
    #[command(flatten)]
    pub(crate) dataset: DatasetArgs,

    /// Random orders of each `detect`
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) orders: usize,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Injection")]
pub(crate) struct MutationArgs {
    /// Runs of each test alone [default: 100]
    #[arg(long, value_name = "N")]
    pub(crate) reruns: Option<u32>,

    /// Random orders [default: 20]
    #[arg(long, value_name = "N")]
    pub(crate) orders: Option<usize>,

    /// Which tests are shuffled together [default: suite]
    #[arg(long, value_name = "WHICH", value_enum)]
    pub(crate) scope: Option<ScopeArg>,

    /// Delete from fixtures, setUp and tearDown as well
    #[arg(long)]
    pub(crate) include_fixtures: bool,

    /// A further name of assertions: `check`, `page.expect`, `verify*`
    #[arg(long, value_name = "NAME")]
    pub(crate) assertion: Vec<String>,

    #[command(flatten)]
    pub(crate) campaign: CampaignArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ScopeArg {
    /// The tests of one class, the functions of one file: the setting of the paper
    Class,
    Module,
    Suite,
}
