//! `flakelab filter suggest`: entries for the quarantine file, never silently for a test that catches bugs.

use std::collections::BTreeSet;

use flakelab_filter::{Entry, today};

use super::knowledge::Knowledge;
use super::{QUARANTINE, THRESHOLD, read_quarantine};
use crate::args::SuggestArgs;
use crate::error::{self, CliError};
use crate::printer::{Printer, Volume};
use crate::workbench::{Place, deliver};

pub(super) fn run(args: &SuggestArgs) -> crate::Outcome {
    let place = Place::settle(&args.path, args.store.as_deref())?;
    let threshold = args
        .threshold
        .or(place.config.filter.threshold)
        .unwrap_or(THRESHOLD);
    let printer = Printer {
        volume: Volume::Normal,
    };
    if args.owner.trim().is_empty() {
        return Err(CliError::usage("--owner is empty").hint("name a person or a team"));
    }
    let quarantine = read_quarantine(&place.project, None)?;
    let mut knowledge = Knowledge::at(&place.location)?;
    if let Some(error) = knowledge.nothing_learned() {
        return Err(error);
    }
    knowledge.catch_up(&place.project);
    let catchers: BTreeSet<&str> = knowledge
        .labels
        .iter()
        .filter(|label| label.label == "bug")
        .map(|label| label.test.as_str())
        .collect();
    let expires = today(args.days);
    let (mut text, mut count) = (String::new(), 0);
    for known in &knowledge.assertions {
        let identity = &known.kept.identity;
        let score = known.evidence.score();
        if score <= threshold
            || quarantine
                .covering(&identity.test, Some(&identity.text))
                .is_some()
        {
            continue;
        }
        let catches = catchers.contains(identity.test.as_str());
        if catches && !args.include_bug_catchers {
            printer.note(&format!(
                "{} is left out, because it has caught a bug; --include-bug-catchers adds it",
                identity.test
            ));
            continue;
        }
        let values = known.evidence.values().len();
        let entry = Entry {
            test: identity.test.clone(),
            assertion: Some(identity.text.clone()),
            reason: format!("{values} values in {} runs", known.evidence.runs()),
            score: Some((score * 100.0).round() / 100.0),
            owner: args.owner.clone(),
            expires: expires.clone(),
        };
        let remark = if catches {
            "This test has caught a bug."
        } else {
            ""
        };
        text.push_str(&entry.render(remark));
        count += 1;
    }
    if !args.write {
        printer.data(&text);
    } else if count > 0 {
        let path = place.project.join(QUARANTINE);
        let before = match std::fs::read_to_string(&path) {
            Ok(before) if before.is_empty() || before.ends_with("\n\n") => before,
            Ok(before) => format!("{}\n\n", before.trim_end()),
            Err(_) => String::new(),
        };
        deliver::write(&path, format!("{before}{text}"))?;
        printer.data(&format!(
            "{count} entries were added to {QUARANTINE}; review them\n"
        ));
    }
    if count == 0 {
        printer.note(&format!(
            "nothing above a score of {threshold} is left to suggest"
        ));
    }
    Ok(error::CLEAN)
}
