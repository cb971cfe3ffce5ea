//! The command line of `mutate`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{CampaignArgs, Format, LabArgs, OutputArgs, ProjectArgs};

/// Change the code in small ways and see which tests notice, in spite of flaky tests.
///
///   $ flakelab mutate
///   $ flakelab mutate --diff main --fail-under 80
///   $ flakelab mutate --html mutants.html -- tests/unit
///
/// After Shi, Bell and Marinov. The suite is run on instrumented code to see which test reaches which
/// expression, more than once because that varies. Each mutant then runs with the tests that reach it,
/// and a probe tells whether the changed expression was executed:
///
///   killed       a test executed the change and failed, alone as well, as it never does without it
///   survived     every test that reaches it executed it, and passed
///   unknown      some test that should execute it never did, and none killed it
///   timeout      the change makes a test go on without end
///   not covered  no test reaches it
///
/// Tests that miss the change run again: in the same process, in a process of the mutant, of the pair,
/// in a fresh interpreter. The score is a range, from all unknown ones survived to all killed. Changed
/// code never touches the disk. A later run repeats only what an edit can have changed.
///
/// `# pragma: no mutate` on a line, or on the first line of a block, leaves that alone.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
pub(crate) struct MutateArgs {
    #[command(subcommand)]
    pub(crate) command: Option<MutateCommand>,

    #[command(flatten)]
    pub(crate) project: ProjectArgs,

    #[command(flatten)]
    pub(crate) which: WhichArgs,
    #[command(flatten)]
    pub(crate) how: HowArgs,
    #[command(flatten)]
    pub(crate) campaign: CampaignArgs,
    #[command(flatten)]
    pub(crate) lab: LabArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) views: ViewArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MutateCommand {
    Simulate(SimulateArgs),
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Which mutants")]
pub(crate) struct WhichArgs {
    /// Change only these files, as patterns: `src/shop/*.py` [default: all that are no tests]
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Vec<String>,

    /// Leave these files alone
    #[arg(long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,

    /// Change only lines that differ from this commit
    #[arg(long, value_name = "BASE")]
    pub(crate) diff: Option<String>,

    /// At most so many mutants, spread over the code that tests reach
    #[arg(long, value_name = "N")]
    pub(crate) sample: Option<usize>,

    /// Only this mutant, by its id in an earlier result, decided anew; may be given more than once
    #[arg(long, value_name = "ID")]
    pub(crate) mutant: Vec<String>,

    /// Do without an operator, e.g. `string` (all are listed with `--without help`)
    #[arg(long, value_name = "OPERATOR", value_delimiter = ',')]
    pub(crate) without: Vec<String>,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "How they run")]
pub(crate) struct HowArgs {
    /// Coverage of all tests in one process, or of each in its own [default: default]
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) coverage: Option<CoverageArg>,

    /// Coverage runs after the first; the paper has 16 [default: 3]
    #[arg(long, value_name = "N")]
    pub(crate) coverage_reruns: Option<u32>,

    /// Reruns of a test that misses the change, on each rung of the ladder, or four numbers: same process, process of
    /// the mutant, process of the pair, fresh interpreter [default: 5]
    #[arg(long, value_name = "N[,N,N,N]", value_delimiter = ',')]
    pub(crate) reruns: Option<Vec<u32>>,

    /// When a test that missed runs again: at once, or when all others had their turn [default: immediate]
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) rerun: Option<RerunArg>,

    /// Run every test with every mutant it reaches, also after a kill; with a file, write the matrix to it
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(crate) matrix: Option<Option<PathBuf>>,

    /// Executions of changed code by one test after which it is taken for endless, and compared with how
    /// many there are without the change [default: 100000]
    #[arg(long, value_name = "N")]
    pub(crate) hits: Option<u64>,

    /// Decide about every mutant anew, whatever is known from earlier runs
    #[arg(long)]
    pub(crate) fresh: bool,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ViewArgs {
    /// Write a page with the source and the mutants of each line
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Write JUnit XML: a mutant that survived is a failure
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// Print annotations for GitHub [default: where GitHub Actions runs it]
    #[arg(long)]
    pub(crate) annotations: bool,

    /// Exit with 1 only if the score, with all unknown mutants taken for survived, is lower: percent
    #[arg(long, value_name = "PERCENT")]
    pub(crate) fail_under: Option<f64>,
}

/// What other orders of tests would have cost, on recorded matrices: table 6 of the paper.
///
///   $ flakelab mutate simulate matrix.json
///
/// `flakelab mutate --matrix=matrix.json` writes the matrix.
/// Random orders, the most frequent hits first, the fastest first, and the best and worst that knowing
/// all verdicts allows; each with reruns at once and later. Times are those of the coverage runs.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct SimulateArgs {
    /// Matrices that `mutate --matrix=FILE` wrote
    #[arg(value_name = "FILE", required = true)]
    pub(crate) matrices: Vec<PathBuf>,

    /// Seed of the random orders
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// What to print: text for people, json for scripts
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CoverageArg {
    /// All tests in one process
    Default,
    /// Each test in a process of its own
    Isolated,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RerunArg {
    Immediate,
    Later,
}
