//! The history as a person reads it.

use std::fmt::Write as _;

use super::{Document, Ingested, Test};
use crate::style::{BOLD, DIM, GREEN, OFF, RED};
use crate::wording::{count, duration, percent, thousands, visible};

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Versions in a row of bars.
const MOST_BARS: usize = 40;
/// Characters of a version: commits are told apart by ten.
const VERSION: usize = 12;
/// Runs of a test that are listed, the newest.
const MOST_RUNS: usize = 40;

pub fn files(number: u64) -> String {
    count(number, "file", "files")
}

pub fn ingested(summary: &Ingested) -> String {
    let mut out = String::new();
    let version = visible(&summary.version);
    let _ = match summary.reports {
        0 => writeln!(out, "{BOLD}{version}{OFF}: nothing new"),
        reports => writeln!(
            out,
            "{BOLD}{version}{OFF}: {} with {} in {}",
            count(reports, "report", "reports"),
            count(summary.results, "result", "results"),
            count(summary.executions, "execution", "executions"),
        ),
    };
    if summary.flaky > 0 {
        let _ = writeln!(
            out,
            "{RED}{}{OFF} failed first and passed in the end",
            count(summary.flaky, "result", "results")
        );
    }
    for (number, what) in [
        (summary.known, "in already, in the same run"),
        (summary.skipped, "left out, because they cannot be read"),
        (summary.others, "passed over, because they are no reports"),
    ] {
        if number > 0 {
            let _ = writeln!(out, "{} {what}", files(number));
        }
    }
    if summary.reports == 0 {
        return out;
    }
    let rate = summary.executions as f64 / summary.seconds.max(0.001);
    let _ = writeln!(
        out,
        "{DIM}in {}, {} executions a second{OFF}",
        duration(summary.seconds),
        thousands(rate as u64)
    );
    out
}

pub fn terminal(document: &Document) -> String {
    let mut out = String::new();
    let t = &document.totals;
    let _ = writeln!(
        out,
        "{} over {}: {}, {}",
        count(t.tests, "test", "tests"),
        count(t.versions, "version", "versions"),
        count(t.runs, "run", "runs"),
        count(t.executions, "execution", "executions"),
    );
    if t.flaky == 0 {
        let _ = writeln!(
            out,
            "{GREEN}{BOLD}no flaky test{OFF}: none has passed and failed in one version"
        );
    } else {
        let _ = writeln!(
            out,
            "{RED}{BOLD}{} flaky{OFF}: passed and failed in one version",
            thousands(t.flaky)
        );
    }
    if document.tests.is_empty() {
        return out;
    }
    let bars = document.versions.len().min(MOST_BARS);
    let _ = writeln!(
        out,
        "\n{DIM}{:>6} {:>8} {:>6}  {:<17} {:<VERSION$}  {:<width$}  test{OFF}",
        "score",
        "entropy",
        "flips",
        "failed",
        "since",
        "",
        width = bars
    );
    for test in &document.tests {
        line(&mut out, document, test, bars);
        runs(&mut out, test);
    }
    let hidden = t.found.saturating_sub(document.tests.len() as u64);
    if hidden > 0 {
        let more = count(hidden, "more test varies", "more tests vary");
        let _ = writeln!(out, "{DIM}… {more} (--limit 0 shows all){OFF}");
    }
    out
}

fn line(out: &mut String, document: &Document, test: &Test, bars: usize) {
    let failed = format!(
        "{}/{} ({} %)",
        thousands(test.failures),
        thousands(test.decided),
        percent(test.failures as f64 / test.decided.max(1) as f64)
    );
    let since = test
        .first_bad_version
        .as_deref()
        .map_or_else(|| "–".into(), short);
    let _ = writeln!(
        out,
        "{:>6.2} {:>8.2} {:>4} %  {failed:<17} {since:<VERSION$}  {}  {BOLD}{}{OFF}",
        test.transition_score,
        test.entropy,
        percent(test.flip_rate),
        sparkline(document, test, bars),
        visible(&test.id),
    );
}

/// A bar for each of the newest versions: its failure rate; none where the test was not run.
fn sparkline(document: &Document, test: &Test, bars: usize) -> String {
    let shown = &document.versions[document.versions.len() - bars..];
    shown
        .iter()
        .map(|version| test.failure_rate(&version.name).map_or(' ', level))
        .collect()
}

/// The lowest bar for no failure at all, and for nothing else.
fn level(rate: f64) -> char {
    let above = (rate * (BARS.len() - 1) as f64).ceil() as usize;
    BARS[above.min(BARS.len() - 1)]
}

fn runs(out: &mut String, test: &Test) {
    let hidden = test.history.len().saturating_sub(MOST_RUNS);
    if hidden > 0 {
        let _ = writeln!(
            out,
            "    {DIM}… {} before{OFF}",
            count(hidden as u64, "run", "runs")
        );
    }
    for run in &test.history[hidden..] {
        let _ = writeln!(
            out,
            "    {DIM}{:<VERSION$}  {:<VERSION$}{OFF}  {}",
            short(&run.version),
            short(&run.run),
            run.outcomes
        );
    }
}

fn short(name: &str) -> String {
    let name = visible(name);
    if name.chars().count() <= VERSION {
        return name;
    }
    let mut cut: String = name.chars().take(VERSION - 1).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_tell_never_from_seldom() {
        assert_eq!(
            [0.0, 0.001, 0.5, 0.999, 1.0].map(level),
            ['▁', '▂', '▅', '█', '█']
        );
    }

    #[test]
    fn names_of_reports_cannot_drive_the_terminal() {
        assert_eq!(short("\u{1b}[2J\u{7}"), "\u{fffd}[2J\u{fffd}");
        assert_eq!(short("0123456789abcdef"), "0123456789a…");
    }
}
