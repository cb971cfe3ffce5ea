//! A summary for a CI page (GitHub step summary).

use std::fmt::Write as _;

use flakelab_model::Class;

use crate::detect::Document;
use crate::terminal::{classes, headline, label, rate, rate_matters};
use crate::uncollected::{self, Wrong};
use crate::wording::first_line;

/// CI pages are read, not scrolled.
const MOST_ROWS: usize = 50;
/// GitHub drops a summary of more than 1 MiB as a whole; with [`MOST_ROWS`] rows of a few cells there is room for all of them.
const MOST_CHARS: usize = 400;

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
    uncollected::markdown(
        &mut out,
        Wrong::DoesNotCollect,
        &document.campaign.collection_errors,
    );
    for note in &document.campaign.notes {
        let _ = writeln!(out, "\n> {}", prose(note));
    }
    out
}

/// A text on one line, cut where it is too long for a page.
fn short(text: &str) -> String {
    let mut out: String = text
        .chars()
        .take(MOST_CHARS)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(MOST_CHARS).is_some() {
        out.push('…');
    }
    out
}

/// Prose in which nothing is markup, wherever it came from.
fn prose(text: &str) -> String {
    let mut out = String::new();
    for c in short(text).chars() {
        if c.is_ascii_punctuation() && !".,:;()/-'\"%".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// An inline code span in a table cell; ids are hostile text.
pub(crate) fn code(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let safe = short(text).replace('|', "\\|");
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
        assert_eq!(code(&"x".repeat(1 << 20)).chars().count(), MOST_CHARS + 3);
    }

    #[test]
    fn prose_has_no_markup() {
        assert_eq!(
            prose("`a`[x](http://y) <img>\n# no, 5 %"),
            "\\`a\\`\\[x\\](http://y) \\<img\\> \\# no, 5 %"
        );
    }
}
