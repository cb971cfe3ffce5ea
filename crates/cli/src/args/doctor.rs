//! The command line of `doctor`.

use clap::Args;

use super::{LabArgs, OutputArgs, ProjectArgs};

/// Check what flakelab needs and can use here, and say what each missing thing costs.
///
///   $ flakelab doctor
///   $ flakelab doctor --python .venv -- tests/unit
///
/// Collects the suite, and tries forks, the private view of files, a shifted clock, a network of
/// one's own and what else a verb may ask for. Nothing is written, and no test is run. Exit code 0 if
/// everything necessary is there, else 3.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,

    #[command(flatten)]
    pub(crate) lab: LabArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
