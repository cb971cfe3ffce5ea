//! `flakelab filter`: learn what varies, gate with it, say why.

mod apply;
mod assertions;
mod bugs;
mod edited;
mod gate;
mod knowledge;
mod label;
mod learn;
mod learned;
mod present;
mod suggest;
mod taught;
mod tune;
mod why;

use std::path::Path;

use flakelab_filter::Quarantine;

pub(super) use learned::learned;

use crate::args::{FilterArgs, FilterCommand};
use crate::error::CliError;
use crate::project;
use crate::workbench::Workbench;

/// Where the curves of `filter tune` on the example of ten versions leave every bug, and remove most flakes.
const THRESHOLD: f64 = 0.4;
const QUARANTINE: &str = "flakelab-quarantine.toml";

pub(crate) fn run(args: &FilterArgs) -> crate::Outcome {
    match &args.command {
        FilterCommand::Learn(args) => learn::run(args),
        FilterCommand::Run(args) => gate::run(args),
        FilterCommand::Apply(args) => apply::run(args),
        FilterCommand::Tune(args) => tune::run(args),
        FilterCommand::Suggest(args) => suggest::run(args),
        FilterCommand::Explain(args) => why::run(args),
        FilterCommand::Label(args) => label::run(args),
    }
}

/// What a version is called: as the user says, or the commit.
fn version_of(given: Option<&str>, bench: &Workbench) -> Result<String, CliError> {
    let commit = || project::commit(&project::tree(&bench.project));
    given.map(str::to_owned).or_else(commit).ok_or_else(|| {
        CliError::usage("this version has no name: there is no git commit")
            .hint("give it one with --version")
    })
}

/// The quarantine file; none is an empty one, unless it was asked for by name.
fn quarantine(given: Option<&Path>, bench: &Workbench) -> Result<Quarantine, CliError> {
    read_quarantine(&bench.project, given)
}

fn read_quarantine(project: &Path, given: Option<&Path>) -> Result<Quarantine, CliError> {
    let path = given.map_or_else(|| project.join(QUARANTINE), Path::to_owned);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && given.is_none() => {
            return Ok(Quarantine::default());
        }
        Err(error) => {
            return Err(
                CliError::usage(format!("`{}`: {error}", path.display())).hint(
                    "--quarantine takes a file as `flakelab filter suggest --owner NAME` prints it",
                ),
            );
        }
    };
    Quarantine::parse(&text).map_err(|error| {
        CliError::usage(format!("`{}`: {}", path.display(), error.0))
            .hint("an entry has test, reason, owner, expires, and may have assertion and score")
    })
}
