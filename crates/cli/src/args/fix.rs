//! The command line of `fix`.

use clap::{Args, ValueEnum};

use super::{CampaignArgs, ChosenArgs, LabArgs, OutputArgs};

/// Verified patches for order-dependent tests.
///
///   $ flakelab fix
///   $ flakelab fix tests/test_cart.py::test_total --apply
///
/// Works on the order-dependent tests of the last `flakelab detect`, or those that are named, and
/// explains what is not explained yet. Strategies, the best first:
///
///   isolate  a fixture, set-up or object that tests share is made one for every test
///   restore  what leaks is put back by the tests or classes that leak it: through `monkeypatch` in
///            place of the raw write, `addCleanup` in unittest classes, or a small fixture
///   reset    the test, its set-up or a fixture puts the state right before it starts
///   helper   what the cleaner of a victim, or the state-setter of a brittle, does comes first; cut
///            down to the statements that are needed
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

    /// Fresh interpreters that must agree that the test passes with the patch [default: 3]
    #[arg(long, value_name = "N", help_heading = "Patches")]
    pub(crate) confirmations: Option<u32>,

    #[command(flatten)]
    pub(crate) campaign: CampaignArgs,

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
