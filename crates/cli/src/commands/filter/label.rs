//! `flakelab filter label`: what a person says of a failure is kept.

use flakelab_store::Label;

use super::knowledge::Knowledge;
use crate::args::{LabelArg, LabelArgs};
use crate::error::{self, CliError};
use crate::printer::{Printer, Volume};
use crate::project;
use crate::workbench::Place;

pub(super) fn run(args: &LabelArgs) -> crate::Outcome {
    let place = Place::settle(&args.project, args.store.as_deref())?;
    let store = place.open_store()?;
    let knowledge = Knowledge::load(&store)?;
    if !knowledge.versions.is_empty() && !knowledge.tests.contains_key(&args.test) {
        return Err(CliError::usage(format!(
            "no version that was learned has the test `{}`",
            args.test
        ))
        .hint("labels take the id of a test as pytest prints it"));
    }
    let assertion = args.assertion.as_deref().unwrap_or_default();
    let words: Vec<&str> = assertion.split_whitespace().collect();
    let label = Label {
        test: args.test.clone(),
        assertion: words.join(" "),
        label: match args.label {
            LabelArg::Bug => "bug".into(),
            LabelArg::Update => "update".into(),
        },
        version: project::commit(&project::tree(&place.project)).unwrap_or_default(),
    };
    store.label(&label).map_err(CliError::store)?;
    let printer = Printer {
        volume: Volume::Normal,
    };
    printer.data(&format!(
        "{} is called {} from now on\n",
        label.test, label.label
    ));
    Ok(error::CLEAN)
}
