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

/// How well detection does on suites whose truth is known; intervals at 95 %.
#[derive(Debug)]
pub struct Evaluated {
    pub found: u64,
    pub right: u64,
    pub of: u64,
    pub recall: Option<(f64, f64)>,
    /// Reported, and injected.
    pub injected: u64,
    /// Reported, neither injected nor there before.
    pub others: u64,
    /// Reported, and there before.
    pub before: u64,
    pub precision: Option<(f64, f64)>,
}

pub fn evaluated(said: &Evaluated) -> String {
    let share = |part: u64, whole: u64, interval: Option<(f64, f64)>| match interval {
        Some((low, high)) if whole > 0 => format!(
            "{:.1} %{OFF} ({:.1} % – {:.1} %)",
            part as f64 * 100.0 / whole as f64,
            low * 100.0,
            high * 100.0
        ),
        _ => format!("–{OFF}"),
    };
    let Evaluated {
        found,
        right,
        of,
        injected,
        others,
        before,
        ..
    } = said;
    format!(
        "{BOLD}recall {}: {found} of {} found, {right} in the right class\n\
         {BOLD}precision at least {}: {others} further reported, which the deletion may have brought about; {before} that \
         depend on the order without it are left out\n",
        share(*found, *of, said.recall),
        count(*of, "injected test", "injected tests"),
        share(*injected, injected + others, said.precision),
    )
}
