//! What a person reads at the end of an injection.

use std::fmt::Write as _;

use super::{Document, rows, sayings};
use crate::style::{BOLD, DIM, OFF};
use crate::wording::{count, duration, visible};

/// Tests that were left out, shown at most.
const MOST_EXCLUDED: usize = 10;

pub fn terminal(document: &Document) -> String {
    let mut out = String::new();
    for (name, value) in rows(document) {
        let _ = writeln!(out, "{name:<46} {BOLD}{value:>9}{OFF}");
    }
    out.push('\n');
    for line in sayings(document) {
        let _ = writeln!(out, "{DIM}{line}{OFF}");
    }
    if !document.excluded.is_empty() {
        let _ = writeln!(
            out,
            "\n{} left out, because they are not stable:",
            count(document.excluded.len() as u64, "test", "tests")
        );
        for excluded in document.excluded.iter().take(MOST_EXCLUDED) {
            let _ = writeln!(
                out,
                "  {}  {DIM}{}{OFF}",
                visible(&excluded.test),
                visible(&excluded.why)
            );
        }
        if document.excluded.len() > MOST_EXCLUDED {
            let _ = writeln!(
                out,
                "  … and {} more",
                document.excluded.len() - MOST_EXCLUDED
            );
        }
    }
    let _ = writeln!(
        out,
        "\n{BOLD}{} of {} order-dependent{OFF}, in {}, seed {}",
        document.totals.order_dependent,
        count(document.totals.valid, "valid mutant", "valid mutants"),
        duration(document.campaign.wall_seconds),
        document.campaign.seed
    );
    out
}

/// How many entries still show with plain pytest; (id, what went wrong) of the others.
pub fn verified(shown: u64, of: u64, wrong: &[(String, String)]) -> String {
    let mut out = String::new();
    for (id, why) in wrong {
        let _ = writeln!(out, "{}  {DIM}{}{OFF}", visible(id), visible(why));
    }
    let _ = writeln!(
        out,
        "{BOLD}{shown} of {} still show with plain pytest{OFF}",
        count(of, "entry", "entries")
    );
    out
}

/// How well detection does on suites whose truth is known.
pub fn evaluated(found: u64, right: u64, of: u64, others: u64) -> String {
    let share = |part: u64, whole: u64| {
        if whole == 0 {
            "–".to_owned()
        } else {
            format!("{:.1} %", part as f64 * 100.0 / whole as f64)
        }
    };
    format!(
        "{BOLD}recall {}{OFF}: {found} of {} found, {right} in the right class\n\
         {BOLD}precision {}{OFF}: {others} further reported that were not injected\n",
        share(found, of),
        count(of, "injected test", "injected tests"),
        share(found, found + others),
    )
}
