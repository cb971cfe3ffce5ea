//! A summary for a CI page (GitHub step summary).

use std::fmt::Write as _;

use flakelab_model::Class;

use crate::detect::Document;
use crate::terminal::{classes, headline, label, rate, rate_matters};
use crate::wording::first_line;

/// CI pages are read, not scrolled.
const MOST_ROWS: usize = 50;

pub fn markdown(document: &Document) -> String {
    let mut out = format!("## flakelab detect\n\n{}\n\n", headline(classes(document)));
    let shown: Vec<_> = document
        .tests
        .iter()
        .filter(|t| t.class.varies() || t.class == Class::AlwaysFailing)
        .collect();
    if !shown.is_empty() {
        out.push_str("| test | class | fails | reproduce |\n|---|---|---|---|\n");
    }
    for test in shown.iter().take(MOST_ROWS) {
        let command = test.reproduce.as_ref().map_or("", |r| r.command.as_str());
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            code(&test.id),
            label(test),
            if rate_matters(test) {
                rate(&test.failure_rate)
            } else {
                String::new()
            },
            code(&first_line(command, 300))
        );
    }
    if shown.len() > MOST_ROWS {
        let _ = writeln!(out, "\n… and {} more.", shown.len() - MOST_ROWS);
    }
    let _ = writeln!(out, "\nConfidence: {}.", document.confidence.statement);
    for note in &document.campaign.notes {
        let _ = writeln!(out, "\n> {}", note.replace('\n', " "));
    }
    out
}

/// An inline code span in a table cell; ids are hostile text.
pub(crate) fn code(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let safe: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect::<String>()
        .replace('|', "\\|");
    let longest = safe.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    if longest == 0 {
        format!("{fence}{safe}{fence}")
    } else {
        format!("{fence} {safe} {fence}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_cannot_break_out_of_their_cell() {
        assert_eq!(code("a|b"), "`a\\|b`");
        assert_eq!(code("a`b\n"), "`` a`b  ``");
    }
}
