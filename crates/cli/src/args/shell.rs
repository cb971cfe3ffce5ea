//! The command lines of `completions` and `man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Print completions for a shell.
///
///   $ source <(flakelab completions bash)
///
/// To keep them: for bash in ~/.local/share/bash-completion/completions/flakelab, for zsh as _flakelab
/// in a folder of $fpath, for fish in ~/.config/fish/completions/flakelab.fish.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// Print the manual page of flakelab, or of a verb.
///
///   $ flakelab man detect | man -l -
///   $ flakelab man --dir ~/.local/share/man/man1
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ManArgs {
    /// The verb, and its subcommand [default: flakelab itself]
    #[arg(value_name = "VERB")]
    pub(crate) verb: Vec<String>,

    /// Write the pages of all verbs into this directory instead
    #[arg(long, value_name = "DIR", conflicts_with = "verb")]
    pub(crate) dir: Option<PathBuf>,
}
