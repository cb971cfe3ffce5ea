//! The command line. Every option is optional here: configuration files fill in what is not given.

mod history;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use history::{HistoryArgs, IngestArgs};

/// One workbench for flaky tests.
#[derive(Debug, Parser)]
#[command(
    name = "flakelab",
    version,
    about,
    arg_required_else_help = true,
    propagate_version = true
)]
#[command(after_help = "\
First steps:
  flakelab detect                     find the flaky tests of the project you are in
  flakelab detect --budget 5m         the same, in five minutes
  flakelab detect -- tests/unit -x    only what `pytest tests/unit` runs
  flakelab explain                    who causes what was found, and which state carries it
  flakelab fix                        verified patches for what was explained
  flakelab inject -o data             order-dependent tests with known truth, made from stable ones
  flakelab measure --html report.html how much varies, at which layer, and because of which factor
  flakelab filter run                 a gate that passes over what is known to vary, assertion by assertion
  flakelab ingest build/reports       what CI reported, version by version
  flakelab history                    which tests flake, how much, and since when

Exit codes: 0 clean, 1 findings, 2 usage or configuration, 3 the suite is broken,
4 inconclusive, 70 internal error, 130 interrupted (go on with --resume)")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Detect(Box<DetectArgs>),
    Explain(Box<ExplainArgs>),
    Fix(Box<FixArgs>),
    Inject(Box<InjectArgs>),
    Measure(Box<MeasureArgs>),
    Filter(Box<FilterArgs>),
    Ingest(Box<IngestArgs>),
    History(Box<HistoryArgs>),
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
    /// The project: where you would run pytest
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,

    /// Arguments for pytest, e.g. a selection of tests
    #[arg(last = true, value_name = "PYTEST ARGS")]
    pub(crate) pytest_args: Vec<String>,

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

    /// The project: where you would run pytest
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,

    /// Arguments for pytest, e.g. a selection of tests
    #[arg(last = true, value_name = "PYTEST ARGS")]
    pub(crate) pytest_args: Vec<String>,

    #[command(flatten)]
    pub(crate) mutation: MutationArgs,
    #[command(flatten)]
    pub(crate) lab: LabArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Say how much of a suite varies, at which layer, and because of which factor.
///
///   $ flakelab measure
///   $ flakelab measure --factors hash-seed,timezone --runs 20
///   $ flakelab measure --preset gao --html report.html
///
/// A test that always passes can still see other values and run other code; those are the flakes of
/// tomorrow. The suite is run several times with everything under control, with nothing under control,
/// and with one factor varied at a time. Runs that look the same form a group; flakiness is the entropy
/// of the group sizes (0: all alike; ln 10 = 2.3: ten runs, all different), the range is the number of
/// elements that differ. After Gao's dissertation, chapters 3 and 4.
///
///   layers    outcome     class of outcome and failure
///             assertions  what every assertion saw, whether it held, and by how much
///             code        functions that ran; `lines` for lines
///             behaviour   likely invariants of functions, in the way of Daikon
///   factors   hash-seed random-seed date timezone locale state order files addresses network umask
///             cpus load parallel delay python
///
/// Effects of factors come with a permutation test; what cannot be set on this system is said. Named
/// configurations are read from `[measure.configurations.NAME]` of flakelab.toml.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct MeasureArgs {
    /// The project: where you would run pytest
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,

    /// Arguments for pytest, e.g. a selection of tests
    #[arg(last = true, value_name = "PYTEST ARGS")]
    pub(crate) pytest_args: Vec<String>,

    #[command(flatten)]
    pub(crate) what: WhatArgs,
    #[command(flatten)]
    pub(crate) lab: LabArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// Write a page with box plots and a drill-down to every element
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,

    /// Write a table: configuration, layer, test, entropy, range, groups
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) csv: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Measurement")]
pub(crate) struct WhatArgs {
    /// Runs of each configuration [default: 10]
    #[arg(long, value_name = "N")]
    pub(crate) runs: Option<u32>,

    /// What is compared: outcome, assertions, code, lines, behaviour [default: outcome,assertions,code]
    #[arg(long, value_name = "LAYERS", value_delimiter = ',')]
    pub(crate) layers: Option<Vec<String>>,

    /// What is varied, or `none`, or `all` [default: all but delay and python]
    #[arg(
        long,
        value_name = "FACTORS",
        value_delimiter = ',',
        conflicts_with = "preset"
    )]
    pub(crate) factors: Option<Vec<String>>,

    /// The nine configurations of the dissertation instead
    #[arg(long, value_name = "NAME", value_enum)]
    pub(crate) preset: Option<PresetArg>,

    /// Another interpreter with the project's packages, for the factor `python`
    #[arg(long, value_name = "PATH")]
    pub(crate) runtime: Vec<PathBuf>,

    /// Whose code counts: a directory, e.g. of an installed package [default: the project]
    #[arg(long, value_name = "DIR")]
    pub(crate) source: Vec<PathBuf>,

    /// Do not mask in values: address, path, uuid, timestamp
    #[arg(long, value_name = "MASK", value_delimiter = ',')]
    pub(crate) unmask: Option<Vec<String>>,

    /// Seed of whatever is random [default: new each time]
    #[arg(long, value_name = "N", env = "FLAKELAB_SEED")]
    pub(crate) seed: Option<u64>,

    /// Start no further configuration after this time, e.g. 10m
    #[arg(long, value_name = "TIME", env = "FLAKELAB_BUDGET", value_parser = humantime::parse_duration)]
    pub(crate) budget: Option<Duration>,

    /// Go on with the last measurement after Ctrl-C or a kill; nothing that finished is run again
    #[arg(long)]
    pub(crate) resume: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PresetArg {
    /// best, uncontrolled, no-init, delays of 0, 50, 100 and 200 ms, other runtimes
    Gao,
}

#[derive(Debug, Subcommand)]
pub(crate) enum InjectCommand {
    /// Replay the entries of a data set with plain pytest
    Verify(DatasetArgs),
    /// Run `detect` on the injected suites: recall and precision with known truth
    Evaluate(EvaluateArgs),
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

#[derive(Debug, Args)]
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

    /// Seed of hash seeds and random orders [default: new each time]
    #[arg(long, value_name = "N", env = "FLAKELAB_SEED")]
    pub(crate) seed: Option<u64>,

    /// Go on with the last injection after Ctrl-C or a kill; nothing that finished is run again
    #[arg(long)]
    pub(crate) resume: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ScopeArg {
    /// The tests of one class, the functions of one file: the setting of the paper
    Class,
    Module,
    Suite,
}

/// Keep the failures that mean something and drop the flakes, assertion by assertion.
///
///   $ flakelab filter learn              # ten runs of this version: what varies?
///   $ flakelab filter run -- tests/unit  # the gate
///   $ flakelab filter tune --bad v1.2    # where to draw the line, and why
///
/// Products quarantine whole tests by their verdicts. flakelab scores every assertion by the entropy of
/// the values it saw (Gao's dissertation, chapter 5), over versions, and passes over those above a
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
    /// Run the suite several times and score every assertion by what it saw
    Learn(LearnArgs),
    /// Run the suite once; known flakes are passed over, everything else counts
    Run(GateArgs),
    /// Sort the failures of a finished run: JUnit XML of any runner, CTRF, Playwright
    Apply(ApplyArgs),
    /// Draw flaky assertions removed against bug-revealing ones kept, over the threshold
    Tune(TuneArgs),
    /// Write quarantine entries for what is above the threshold
    Suggest(SuggestArgs),
    /// Say why assertions of a test are filtered, or are not
    Explain(WhyArgs),
    /// Say of a failure that it is a bug, or an update
    Label(LabelArgs),
}

// `--version` is that of the project here.
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
pub(crate) struct LearnArgs {
    /// The project: where you would run pytest
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,

    /// Arguments for pytest, e.g. a selection of tests
    #[arg(last = true, value_name = "PYTEST ARGS")]
    pub(crate) pytest_args: Vec<String>,

    /// Runs of the suite
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) runs: u32,

    /// The name of this version [default: the commit that is checked out]
    #[arg(long, value_name = "NAME")]
    pub(crate) version: Option<String>,

    /// Seed of whatever is random [default: new each time]
    #[arg(long, value_name = "N", env = "FLAKELAB_SEED")]
    pub(crate) seed: Option<u64>,

    /// Go on with the last learning after Ctrl-C or a kill
    #[arg(long)]
    pub(crate) resume: bool,

    #[command(flatten)]
    pub(crate) lab: LabArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct GateArgs {
    /// The project: where you would run pytest
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,

    /// Arguments for pytest, e.g. a selection of tests
    #[arg(last = true, value_name = "PYTEST ARGS")]
    pub(crate) pytest_args: Vec<String>,

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

#[derive(Debug, Args)]
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

#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    /// The project: where you would run pytest
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,

    /// Arguments for pytest, e.g. a selection of tests
    #[arg(last = true, value_name = "PYTEST ARGS")]
    pub(crate) pytest_args: Vec<String>,

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

#[derive(Debug, Args)]
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
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
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

#[derive(Debug, Args)]
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

#[derive(Debug, Args)]
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

/// Which tests of which project; what verbs that build on earlier ones share.
#[derive(Debug, Clone, Args)]
pub(crate) struct ChosenArgs {
    /// Tests by id, or all below a file or class [default: all that the verb before found]
    #[arg(value_name = "TEST")]
    pub(crate) tests: Vec<String>,

    /// Arguments for pytest, e.g. a selection of tests
    #[arg(last = true, value_name = "PYTEST ARGS")]
    pub(crate) pytest_args: Vec<String>,

    /// The project: where you would run pytest
    #[arg(short = 'C', long, value_name = "PATH", default_value = ".")]
    pub(crate) project: PathBuf,
}

/// Verified patches for order-dependent tests.
///
///   $ flakelab fix
///   $ flakelab fix tests/test_cart.py::test_total --apply
///
/// Works on the order-dependent tests of the last `flakelab detect`, or those that are named, and
/// explains what is not explained yet. Strategies, the best first:
///
///   isolate  a fixture, class or module set-up that tests share is made one for every test
///   restore  what leaks is put back by the tests that leak it: through `monkeypatch` in place of the raw
///            write, `addCleanup` in unittest classes, or a small fixture
///   reset    the test itself puts the state right before it starts
///   helper   what the cleaner of a victim, or the state-setter of a brittle, does comes first; cut down
///            to the statements that are needed
///
/// Each patch is tried in a private view of the project: the test must pass alone, after every known
/// culprit and after every other test, in the default order and in shuffles; no other test may fail
/// where it passed before, and no assertion may change. What does not hold is not shown. The project
/// is changed by --apply only; `-o DIR` saves the patches as files for `git apply` (with --format json,
/// `-o FILE` the document).
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct FixArgs {
    #[command(flatten)]
    pub(crate) chosen: ChosenArgs,

    /// Write the patches into the project; refuses files that git says are changed
    #[arg(long, help_heading = "Patches")]
    pub(crate) apply: bool,

    /// Write to changed files as well
    #[arg(long, requires = "apply", help_heading = "Patches")]
    pub(crate) force: bool,

    /// Try this strategy only
    #[arg(long, value_name = "NAME", value_enum, help_heading = "Patches")]
    pub(crate) strategy: Option<StrategyArg>,

    /// Change tests of this kind only: the one that fails, or those that leave the state behind
    #[arg(long, value_name = "WHERE", value_enum, help_heading = "Patches")]
    pub(crate) site: Option<SiteArg>,

    /// The first patch that holds, or all of them
    #[arg(
        long,
        value_name = "WHICH",
        value_enum,
        default_value = "first",
        help_heading = "Patches"
    )]
    pub(crate) patch_mode: PatchMode,

    /// Random orders of the whole suite that must pass with the patch [default: 20]
    #[arg(long, value_name = "N", help_heading = "Patches")]
    pub(crate) shuffles: Option<usize>,

    /// Seed of hash seeds and random orders [default: new each time]
    #[arg(
        long,
        value_name = "N",
        env = "FLAKELAB_SEED",
        help_heading = "Patches"
    )]
    pub(crate) seed: Option<u64>,

    /// Go on with the last fix after Ctrl-C or a kill; tests that were done are not tried again
    #[arg(long, help_heading = "Patches")]
    pub(crate) resume: bool,

    #[command(flatten)]
    pub(crate) lab: LabArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SiteArg {
    Victim,
    Polluter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StrategyArg {
    Isolate,
    Restore,
    Reset,
    Helper,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PatchMode {
    First,
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphArg {
    Dot,
    Mermaid,
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

    /// Explain what fails in this order: test ids, JUnit XML or verbose log of a CI failure, replay file
    #[arg(long, value_name = "FILE")]
    pub(crate) order: Vec<PathBuf>,

    /// Random orders to try where none is known that shows the change [default: 100]
    #[arg(long, value_name = "N")]
    pub(crate) orders: Option<usize>,

    /// Fresh interpreters that must agree on everything published [default: 3]
    #[arg(long, value_name = "N")]
    pub(crate) confirmations: Option<u32>,

    /// Seed of hash seeds and random orders [default: new each time]
    #[arg(long, value_name = "N", env = "FLAKELAB_SEED")]
    pub(crate) seed: Option<u64>,

    /// Stop after this time, with what was found, e.g. 10m
    #[arg(long, value_name = "TIME", env = "FLAKELAB_BUDGET", value_parser = humantime::parse_duration)]
    pub(crate) budget: Option<Duration>,

    /// Go on with the last explain after Ctrl-C or a kill; nothing that finished is run again
    #[arg(long)]
    pub(crate) resume: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
pub(crate) struct SearchArgs {
    /// Random orders to run [default: 100]
    #[arg(long, value_name = "N", env = "FLAKELAB_ORDERS")]
    pub(crate) orders: Option<usize>,

    /// Seed of the random orders; the same seed gives the same orders anywhere [default: new each time]
    #[arg(long, value_name = "N", env = "FLAKELAB_SEED")]
    pub(crate) seed: Option<u64>,

    /// Kinds the random orders alternate between: global, nested, classes, tuscan, tuscan-classes
    /// [default: global,nested]
    #[arg(
        long,
        value_name = "KINDS",
        value_delimiter = ',',
        env = "FLAKELAB_MIX"
    )]
    pub(crate) mix: Option<Vec<String>>,

    /// Also run the order in this file: test ids, JUnit XML or verbose log of a CI failure, replay file
    #[arg(long, value_name = "FILE")]
    pub(crate) order: Vec<PathBuf>,

    /// Stop after this time, with an honest statement of what is left, e.g. 10m
    #[arg(long, value_name = "TIME", env = "FLAKELAB_BUDGET", value_parser = humantime::parse_duration)]
    pub(crate) budget: Option<Duration>,

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

    /// Go on with the last campaign after Ctrl-C or a kill; nothing that finished is run again
    #[arg(long)]
    pub(crate) resume: bool,
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

    /// Kill a test that takes longer [default: 20 times the slowest one, 5s to 5m]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub(crate) test_timeout: Option<Duration>,

    /// Kill a run that takes longer [default: 1h]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
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
