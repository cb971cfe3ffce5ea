//! The command line. Every option is optional here: configuration files fill in what is not given.

mod detect;
mod doctor;
#[cfg(test)]
mod documented;
mod explain;
mod filter;
mod fix;
mod history;
mod init;
mod inject;
mod measure;
mod mutate;
mod report;
mod shell;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use detect::DetectArgs;
pub(crate) use doctor::DoctorArgs;
pub(crate) use explain::{CauseArgs, ExplainArgs, GraphArg, ModeArg};
pub(crate) use filter::{
    ApplyArgs, FilterArgs, FilterCommand, GateArgs, LabelArg, LabelArgs, LearnArgs, SuggestArgs,
    TuneArgs, WhyArgs,
};
pub(crate) use fix::{FixArgs, PatchMode, SiteArg, StrategyArg};
pub(crate) use history::{HistoryArgs, IngestArgs};
pub(crate) use init::InitArgs;
pub(crate) use inject::{DatasetArgs, EvaluateArgs, InjectArgs, InjectCommand, ScopeArg};
pub(crate) use measure::{MeasureArgs, PresetArg};
pub(crate) use mutate::{
    CoverageArg, MutateArgs, MutateCommand, RerunArg, SimulateArgs, WhichArgs,
};
pub(crate) use report::ReportArgs;
pub(crate) use shell::{CompletionsArgs, ManArgs};

/// One workbench for flaky tests.
///
///   $ flakelab detect
#[derive(Debug, Parser)]
#[command(name = "flakelab", version, about, propagate_version = true)]
#[command(after_help = "\
First steps:
  flakelab doctor                     is everything there to run its tests?
  flakelab detect                     find the flaky tests of the project you are in
  flakelab detect --budget 5m         the same, in five minutes
  flakelab detect -- tests/unit -x    only what `pytest tests/unit` runs
  flakelab explain                    who causes what was found, and which state carries it
  flakelab fix                        verified patches for what was explained
  flakelab inject -o data             order-dependent tests with known truth, made from stable ones
  flakelab measure --html report.html how much varies, at which layer, and because of which factor
  flakelab mutate                     which small changes of the code no test notices
  flakelab filter run                 a gate that passes over what is known to vary, assertion by assertion
  flakelab ingest build/reports       what CI reported, version by version
  flakelab history                    which tests flake, how much, and since when
  flakelab report                     all of it as one page: what to fix first, who pollutes whom, patches

Exit codes: 0 clean, 1 findings, 2 usage or configuration, 3 the suite is broken,
4 inconclusive, 70 internal error, 130 interrupted (go on with --resume)")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Detect(Box<DetectArgs>),
    Explain(Box<ExplainArgs>),
    Fix(Box<FixArgs>),
    Inject(Box<InjectArgs>),
    Measure(Box<MeasureArgs>),
    Mutate(Box<MutateArgs>),
    Filter(Box<FilterArgs>),
    Ingest(Box<IngestArgs>),
    History(Box<HistoryArgs>),
    Report(ReportArgs),
    Doctor(Box<DoctorArgs>),
    Init(InitArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SandboxArg {
    Auto,
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum IsolationArg {
    Auto,
    Cold,
}

/// Which tests of which project; what verbs that build on earlier ones share.
#[derive(Debug, Clone, Args)]
pub(crate) struct ChosenArgs {
    /// Tests by id, or all below a file or class [default: all that the verb before found]
    #[arg(value_name = "TEST")]
    pub(crate) tests: Vec<String>,

    /// Arguments for pytest, e.g. a selection of tests [default: those of the last `flakelab detect`]
    #[arg(last = true, value_name = "PYTEST ARGS")]
    pub(crate) pytest_args: Vec<String>,

    /// The project: where you would run pytest
    #[arg(short = 'C', long, value_name = "PATH", default_value = ".")]
    pub(crate) project: PathBuf,
}

/// What every verb with campaigns takes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Campaign")]
pub(crate) struct CampaignArgs {
    /// Seed of hash seeds, random orders and whatever else is random; the same seed gives the same orders
    /// anywhere [default: new each time]
    #[arg(long, value_name = "N", env = "FLAKELAB_SEED")]
    pub(crate) seed: Option<u64>,

    /// Go on with the last campaign of this verb after Ctrl-C or a kill; nothing that finished is run again
    #[arg(long)]
    pub(crate) resume: bool,
}

/// Longer than any campaign. What is waited for is a moment, and clocks end somewhere.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 86_400);

/// A duration as people write it: `90s`, `10m`.
pub(crate) fn time(text: &str) -> Result<Duration, humantime::DurationError> {
    humantime::parse_duration(text).map(|time| time.min(LONGEST))
}

/// The same for verbs that can end early.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Campaign")]
pub(crate) struct BudgetArgs {
    #[command(flatten)]
    pub(crate) repeat: CampaignArgs,

    /// Stop after this time, with what was found and an honest statement of what is left, e.g. 10m
    #[arg(long, value_name = "TIME", env = "FLAKELAB_BUDGET", value_parser = time)]
    pub(crate) budget: Option<Duration>,
}

/// Which project, and which of its tests.
#[derive(Debug, Clone, Args)]
pub(crate) struct ProjectArgs {
    /// The project: where you would run pytest
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,

    /// Arguments for pytest, e.g. a selection of tests
    #[arg(last = true, value_name = "PYTEST ARGS")]
    pub(crate) pytest_args: Vec<String>,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Running tests")]
pub(crate) struct LabArgs {
    /// Interpreter (or environment) of the project [default: the active or project-local environment]
    #[arg(long, value_name = "PATH", env = "FLAKELAB_PYTHON")]
    pub(crate) python: Option<PathBuf>,

    /// Runs at the same time [default: the number of processors]
    #[arg(short, long, value_name = "N", env = "FLAKELAB_JOBS")]
    pub(crate) jobs: Option<usize>,

    /// Give each run a private view of the project's files, where the system allows it [default: auto]
    #[arg(long, value_name = "WHEN", env = "FLAKELAB_SANDBOX")]
    pub(crate) sandbox: Option<SandboxArg>,

    /// `cold` starts an interpreter for every run; `auto` forks where that tells the truth
    /// [default: auto]
    #[arg(long, value_name = "HOW", env = "FLAKELAB_ISOLATION")]
    pub(crate) isolation: Option<IsolationArg>,

    /// Kill a test that takes longer [default: some times the slowest one, 5m at the most]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) test_timeout: Option<Duration>,

    /// Kill a run that takes longer [default: 1h]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) run_timeout: Option<Duration>,

    /// Memory one run may take, in MiB [default: all the machine has]
    #[arg(long, value_name = "MIB")]
    pub(crate) memory: Option<u64>,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// What to print: text for people, json for scripts
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: Format,

    /// Write the document to a file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Where campaigns are kept [default: .flakelab in the project]
    #[arg(long, value_name = "PATH", env = "FLAKELAB_STORE")]
    pub(crate) store: Option<PathBuf>,

    /// Print the result only
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Print evidence and what goes on
    #[arg(short, long)]
    pub(crate) verbose: bool,
}
