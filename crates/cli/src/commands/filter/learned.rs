//! What was learned, for the report.

use flakelab_report::whole::{Assertion, Filter};
use flakelab_store::Store;

use super::knowledge::{Knowledge, Known};
use super::tune;
use crate::error::CliError;

/// The curves, and the assertions that vary, the highest score first; `None` if nothing was learned.
pub(in crate::commands) fn learned(
    store: &Store,
    project: &str,
) -> Result<Option<Filter>, CliError> {
    let knowledge = Knowledge::load(store)?;
    if knowledge.versions.is_empty() {
        return Ok(None);
    }
    let mut assertions: Vec<Assertion> = knowledge
        .assertions
        .iter()
        .filter(|known| known.evidence.score() > 0.0)
        .map(described)
        .collect();
    assertions.sort_by(|a, b| {
        let names = || (&a.test, &a.text).cmp(&(&b.test, &b.text));
        b.score.total_cmp(&a.score).then_with(names)
    });
    Ok(Some(Filter {
        curves: tune::document(&knowledge, project.to_owned()),
        assertions,
    }))
}

fn described(known: &Known) -> Assertion {
    let identity = &known.kept.identity;
    Assertion {
        test: identity.test.clone(),
        file: identity.file.clone(),
        text: identity.text.clone(),
        score: known.evidence.score(),
        runs: known.evidence.runs(),
        failed: known.evidence.failures(),
        values: known.evidence.values().len(),
    }
}
