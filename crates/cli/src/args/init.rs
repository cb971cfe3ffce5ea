//! The command line of `init`.

use std::path::PathBuf;

use clap::Args;

/// Write a flakelab.toml with every setting at its default, commented out.
///
///   $ flakelab init
///   $ flakelab init --stdout
///
/// No setting is necessary: flakelab works without a configuration. A file that is there is not
/// touched.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct InitArgs {
    /// The project: where you would run pytest
    #[arg(default_value = ".")]
    pub(crate) path: PathBuf,

    /// Print it, and write nothing
    #[arg(long)]
    pub(crate) stdout: bool,
}
