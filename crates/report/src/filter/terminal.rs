//! What a gated run came to, for people.

use std::fmt::Write as _;

use super::{Document, Failure};
use crate::style::{BOLD, DIM, GREEN, OFF, RED, YELLOW};
use crate::uncollected::{self, Wrong};
use crate::wording::{count, duration, first_line, visible};

/// Failures of one test that are told; the rest is counted.
const MOST_FAILURES: usize = 5;

pub fn terminal(document: &Document, verbose: bool) -> String {
    let mut out = String::new();
    let mut failed: Vec<&super::Test> = document.failed().collect();
    failed.sort_by_key(|test| rank(test));
    for test in failed {
        let _ = writeln!(
            out,
            "{BOLD}{RED}failed{OFF} {BOLD}{}{OFF}",
            visible(&test.id)
        );
        let (open, rest): (Vec<&Failure>, Vec<&Failure>) =
            test.failures.iter().partition(|f| !f.filtered);
        let most = if verbose { usize::MAX } else { MOST_FAILURES };
        for failure in open.iter().take(most) {
            tell(&mut out, failure);
        }
        if open.len() > most {
            let _ = writeln!(out, "  … and {} more", open.len() - most);
        }
        if !rest.is_empty() {
            let what = count(rest.len() as u64, "further failure", "further failures");
            let _ = writeln!(out, "  {DIM}{what} filtered{OFF}");
        }
    }
    let only_filtered = |test: &&super::Test| test.verdict == "filtered";
    for test in document.filtered().filter(only_filtered) {
        let _ = writeln!(out, "{BOLD}{YELLOW}filtered{OFF} {}", visible(&test.id));
        for failure in test
            .failures
            .iter()
            .take(if verbose { usize::MAX } else { 1 })
        {
            tell(&mut out, failure);
        }
    }
    uncollected::terminal(&mut out, Wrong::DoesNotCollect, &document.collection_errors);
    uncollected::terminal(&mut out, Wrong::Unread, &document.unread);
    for entry in &document.expired {
        let _ = writeln!(
            out,
            "{BOLD}{RED}expired{OFF} {BOLD}{}{OFF}\n  quarantine ended on {}; {} decides whether it is fixed, extended or \
             removed ({})",
            visible(&entry.test),
            entry.expires,
            visible(&entry.owner),
            visible(&entry.reason)
        );
    }
    if let Some(first) = document.not_run().next() {
        let many = document.not_run().count() as u64;
        let _ = writeln!(
            out,
            "{BOLD}{RED}not run{OFF} {}, {}{}\n  the run ended before: a test that takes too long or ends its process takes those \
             behind it along",
            count(many, "test", "tests"),
            if many > 1 { "beginning with " } else { "" },
            visible(&first.id),
        );
    }
    if !out.is_empty() {
        out.push('\n');
    }
    let colour = if document.passed { GREEN } else { RED };
    let verdict = format!("{BOLD}{colour}{}{OFF}", document.verdict());
    let _ = writeln!(out, "{verdict}: {}", document.counts());
    let _ = writeln!(
        out,
        "{} filtered above a score of {} or by quarantine, learned from {}; {}",
        count(
            document.filtered_assertions as u64,
            "assertion is",
            "assertions are"
        ),
        document.threshold,
        count(document.learned.len() as u64, "version", "versions"),
        duration(document.seconds)
    );
    out
}

/// What is most likely a bug first: something changed, and the test did not.
fn rank(test: &super::Test) -> usize {
    let of = |failure: &Failure| match (failure.kind, failure.edited) {
        ("changed", Some("code")) => 0,
        ("changed", Some("imports")) => 1,
        ("changed", Some("nothing")) => 2,
        ("changed", Some("data")) => 3,
        ("changed", _) => 4,
        ("new", _) => 5,
        _ => 6,
    };
    let open = test.failures.iter().filter(|failure| !failure.filtered);
    open.map(of).min().unwrap_or(usize::MAX)
}

fn tell(out: &mut String, failure: &Failure) {
    let _ = writeln!(out, "  {:<11}{}", failure.kind, visible(&failure.evidence));
    if let Some(assertion) = &failure.assertion {
        let _ = writeln!(
            out,
            "  {:<11}{} ({})",
            "assertion",
            first_line(assertion, 100),
            visible(&failure.at)
        );
    }
    if !failure.message.is_empty() {
        let message = first_line(&failure.message, 160);
        let _ = writeln!(out, "  {:<11}{message}", "message");
    }
    if let Some(because) = &failure.because {
        let _ = writeln!(out, "  {:<11}{}", "filtered", visible(because));
    }
    if let Some(edited) = failure.edited {
        let saying = match edited {
            "test" => "the test was edited since the last version that was learned",
            "data" => "data beside the test was edited since",
            "code" => "code that the test runs was edited since",
            "imports" => {
                "code that runs when it is imported was edited since; whether the test uses it is not known"
            }
            _ => "neither the test nor the code it runs was edited since",
        };
        let _ = writeln!(out, "  {:<11}{saying}", "edited");
    }
    if let Some(label) = &failure.label {
        let _ = writeln!(out, "  {:<11}called {} before", "label", visible(label));
    }
}
