//! A summary for a CI page (GitHub step summary).

use std::fmt::Write as _;

use super::{Document, Failure, Test};
use crate::markdown::code;
use crate::uncollected::{self, Wrong};
use crate::wording::first_line;

const MOST_ROWS: usize = 50;

pub fn markdown(document: &Document) -> String {
    let mut out = format!(
        "## flakelab filter: {}\n\n{}.\n",
        document.verdict(),
        document.counts()
    );
    let rows: Vec<(&Test, &Failure)> = document
        .tests
        .iter()
        .flat_map(|test| test.failures.iter().map(move |failure| (test, failure)))
        .collect();
    if !rows.is_empty() {
        out.push_str("\n| test | kind | gate | evidence | assertion |\n|---|---|---|---|---|\n");
    }
    for (test, failure) in rows.iter().take(MOST_ROWS) {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} |",
            code(&test.id),
            failure.kind,
            if failure.filtered {
                "filtered"
            } else {
                "failed"
            },
            code(&first_line(&failure.evidence, 200)),
            code(&first_line(
                failure.assertion.as_deref().unwrap_or(&failure.message),
                200
            )),
        );
    }
    if rows.len() > MOST_ROWS {
        let _ = writeln!(out, "\n… and {} more.", rows.len() - MOST_ROWS);
    }
    uncollected::markdown(&mut out, Wrong::DoesNotCollect, &document.collection_errors);
    uncollected::markdown(&mut out, Wrong::Unread, &document.unread);
    for entry in &document.expired {
        let _ = writeln!(
            out,
            "\n> quarantine of {} ended on {}; owner: {}",
            code(&entry.test),
            code(&entry.expires),
            code(&entry.owner)
        );
    }
    out
}
