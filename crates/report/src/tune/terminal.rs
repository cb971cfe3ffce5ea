//! The curves as a table with bars.

use std::fmt::Write as _;

use super::{Curves, Document};
use crate::style::{BOLD, DIM, OFF};
use crate::wording::{count, percent, visible};

const WIDTH: usize = 20;
/// Rows beyond which every second is left out.
const MOST_ROWS: usize = 30;

pub fn terminal(document: &Document) -> String {
    let mut out = format!(
        "{}, learned from {}\n",
        visible(&document.project),
        count(document.learned.len() as u64, "version", "versions")
    );
    for (name, curves) in [
        ("assertions", &document.assertions),
        ("tests", &document.tests),
    ] {
        table(&mut out, name, curves, document.threshold);
    }
    if document.assertions.revealing == 0 {
        out.push_str(
            "\nNo assertion is known to reveal a bug: label failures, or give --bad COMMIT or --mutants N.\n",
        );
    }
    out
}

fn table(out: &mut String, name: &str, curves: &Curves, threshold: f64) {
    let _ = writeln!(
        out,
        "\n{BOLD}{} {name}{OFF}, {} flaky, {} reveal a bug",
        curves.all, curves.flaky, curves.revealing
    );
    if curves.flaky == 0 {
        let _ = writeln!(
            out,
            "  nothing varies, so nothing is removed at any threshold"
        );
        return;
    }
    let _ = writeln!(
        out,
        "  {DIM}above    flaky removed                  bug-revealing kept{OFF}"
    );
    let step = curves.points.len().div_ceil(MOST_ROWS).max(1);
    for point in curves.points.iter().step_by(step) {
        let here = if (point.threshold - threshold).abs() < 0.01 {
            "  default"
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "  {:<7.1}  {}  {}{here}",
            point.threshold,
            bar(point.removed),
            bar(point.kept)
        );
    }
    if let Some(balance) = &curves.balance {
        let _ = writeln!(
            out,
            "  the curves meet at {:.2}: {} % removed, {} % kept",
            balance.threshold,
            percent(balance.share),
            percent(balance.share)
        );
    }
    if let Some(lossless) = curves.lossless {
        let _ = writeln!(out, "  {lossless:.1} removes most without losing a bug");
    }
}

fn bar(share: Option<f64>) -> String {
    let Some(share) = share else {
        return format!("{:<width$}", "–", width = WIDTH + 9);
    };
    let filled = (share * WIDTH as f64).round() as usize;
    format!(
        "{}{} {:>5} % ",
        "█".repeat(filled),
        "·".repeat(WIDTH - filled.min(WIDTH)),
        percent(share)
    )
}
