//! The command line of `measure`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{BudgetArgs, LabArgs, OutputArgs, ProjectArgs};

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
    #[command(flatten)]
    pub(crate) project: ProjectArgs,

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

    #[command(flatten)]
    pub(crate) campaign: BudgetArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PresetArg {
    /// best, uncontrolled, no-init, delays of 0, 50, 100 and 200 ms, other runtimes
    Gao,
}
