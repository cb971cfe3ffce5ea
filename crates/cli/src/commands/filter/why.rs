//! `flakelab filter explain`: why assertions of a test are filtered, or are not.

use std::fmt::Write as _;

use flakelab_filter::{LIFETIME, shown, today};
use flakelab_report::visible;

use super::knowledge::{Knowledge, Known};
use super::taught::brief;
use super::{THRESHOLD, read_quarantine};
use crate::args::WhyArgs;
use crate::error::{self, CliError};
use crate::printer::{Printer, Volume};
use crate::workbench::{Place, means};

pub(super) fn run(args: &WhyArgs) -> crate::Outcome {
    let place = Place::settle(&args.project, args.store.as_deref())?;
    let threshold = args
        .threshold
        .or(place.config.filter.threshold)
        .unwrap_or(THRESHOLD);
    let quarantine = read_quarantine(&place.project, None)?;
    let mut knowledge = Knowledge::at(&place.location)?;
    if let Some(error) = knowledge.nothing_learned() {
        return Err(error);
    }
    let named = |knowledge: &Knowledge| -> Vec<String> {
        let ids = knowledge.tests.keys().filter(|id| means(&args.test, id));
        let mut ids: Vec<String> = ids.cloned().collect();
        ids.sort();
        ids
    };
    let mut tests = named(&knowledge);
    // By the name that it was learned with, or by the one that it has now.
    if tests.is_empty() {
        knowledge.catch_up(&place.project);
        tests = named(&knowledge);
    }
    if tests.is_empty() {
        return Err(
            CliError::usage(format!("no version that was learned has `{}`", args.test))
                .hint("give the id of a test as pytest prints it, or its file"),
        );
    }
    let mut out = String::new();
    for test in &tests {
        let _ = writeln!(
            out,
            "\x1b[1m{}\x1b[0m  score {:.2} (the largest of its assertions)",
            visible(test),
            knowledge.test_score(test)
        );
        if let Some(entry) = quarantine.covering(test, None) {
            let _ = writeln!(
                out,
                "  in quarantine until {}: {}",
                visible(&entry.expires),
                visible(&entry.reason)
            );
        }
        let mut own: Vec<&Known> = knowledge
            .assertions
            .iter()
            .filter(|known| known.kept.identity.test == **test)
            .collect();
        own.sort_by(|a, b| b.evidence.score().total_cmp(&a.evidence.score()));
        for known in own {
            let identity = &known.kept.identity;
            let score = known.evidence.score();
            let entry = quarantine.covering(test, Some(&identity.text));
            let verdict = match entry {
                Some(entry) if entry.is_expired(&today(0)) => {
                    format!("quarantine ended on {}", entry.expires)
                }
                Some(entry) => format!("filtered: in quarantine until {}", entry.expires),
                None if score > threshold => format!("filtered: {score:.2} is above {threshold}"),
                None => format!("counts: {score:.2} is not above {threshold}"),
            };
            let _ = writeln!(out, "  {}\n    {verdict}", brief(&identity.text));
            for (age, seen) in &known.evidence.versions {
                let at = knowledge.versions.len().saturating_sub(age + 1);
                let version = knowledge.versions.get(at).map_or("?", String::as_str);
                let counts = if *age < LIFETIME {
                    ""
                } else {
                    ", too old to count"
                };
                let values: Vec<String> = seen
                    .values
                    .iter()
                    .take(4)
                    .map(|(value, times)| format!("{times}× {}", brief(&shown(value))))
                    .collect();
                let _ = writeln!(
                    out,
                    "    {}  score {:.2} in {} runs, failed {}{counts}: {}",
                    version.chars().take(12).collect::<String>(),
                    seen.score(),
                    seen.runs(),
                    seen.failed,
                    values.join(" | ")
                );
            }
            if let Some(label) = knowledge.label(test, &identity.text) {
                let _ = writeln!(out, "    called {} before", label.label);
            }
        }
    }
    let printer = Printer {
        volume: Volume::Normal,
    };
    printer.data(&out);
    Ok(error::CLEAN)
}
