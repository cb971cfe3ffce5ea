//! Explanations as a person reads them.

use std::fmt::Write as _;

use super::{Document, Explanation, Leak};
use crate::style::{BOLD, DIM, GREEN, OFF, RED, YELLOW};
use crate::terminal::rate_words;
use crate::wording::{count, duration, first_line, percent, visible};

/// Cleaners and leaks listed without `verbose`.
const MOST_CLEANERS: usize = 3;
const MOST_SETS: usize = 5;

pub fn terminal(document: &Document, verbose: bool) -> String {
    let mut out = String::new();
    for explanation in &document.explanations {
        describe(&mut out, explanation, verbose);
    }
    summary(&mut out, document);
    out
}

fn describe(out: &mut String, e: &Explanation, verbose: bool) {
    let colour = if e.has_cause() { RED } else { YELLOW };
    let _ = writeln!(
        out,
        "{colour}{BOLD}{}{OFF} {BOLD}{}{OFF}",
        e.class.words(),
        visible(&e.test)
    );
    let most = if verbose { usize::MAX } else { MOST_SETS };
    sets(out, "fails after", &e.polluters, most);
    sets(out, "passes after", &e.state_setters, most);
    for sometimes in &e.intermittent {
        let rate = &sometimes.failure_rate;
        line(
            out,
            "sometimes",
            &format!(
                "after {} it fails {}",
                names(&sometimes.tests),
                rate_words(rate, "runs")
            ),
        );
    }
    causes(out, e);
    // One that cures the work of several culprits is told once.
    let mut cleaners: Vec<String> = Vec::new();
    for cleaner in e.cleaners.iter().map(|c| names(&c.cleaners)) {
        if !cleaners.contains(&cleaner) {
            cleaners.push(cleaner);
        }
    }
    let shown = if verbose {
        cleaners.len()
    } else {
        MOST_CLEANERS
    };
    for (at, cleaner) in cleaners.iter().take(shown).enumerate() {
        let label = if at == 0 { "cured by" } else { "" };
        line(out, label, &format!("{cleaner} in between"));
    }
    if cleaners.len() > shown {
        line(out, "", &format!("… and {} more", cleaners.len() - shown));
    }
    for factor in e.factors.iter().filter(|f| f.decides || verbose) {
        let levels: Vec<String> = factor
            .levels
            .iter()
            .map(|l| {
                let rate = &l.failure_rate;
                format!("{} fails {}/{}", l.setting, rate.failed, rate.of)
            })
            .collect();
        let label = if factor.decides { "decided by" } else { "" };
        let words = factor.factor.replace('_', " ");
        line(out, label, &format!("{words}: {}", levels.join(", ")));
    }
    if verbose {
        for leak in e.leaks.iter().filter(|l| !l.causal) {
            line(
                out,
                "also left",
                &format!("{DIM}{}{OFF}", visible(&state(leak))),
            );
        }
    }
    if let Some(failure) = &e.failure {
        line(out, "message", &first_line(&failure.message, 160));
    }
    for note in &e.notes {
        line(out, "note", &visible(note));
    }
    if let Some(command) = &e.reproduce {
        line(out, "reproduce", &visible(command));
    }
    out.push('\n');
}

fn line(out: &mut String, label: &str, text: &str) {
    let _ = writeln!(out, "  {label:<13}{text}");
}

fn names(tests: &[String]) -> String {
    let shown: Vec<String> = tests.iter().map(|test| visible(test)).collect();
    shown.join(" + ")
}

fn sets(out: &mut String, label: &str, sets: &[Vec<String>], most: usize) {
    for (at, set) in sets.iter().take(most).enumerate() {
        line(out, if at == 0 { label } else { "or" }, &names(set));
    }
    if sets.len() > most {
        line(out, "", &format!("… and {} more", sets.len() - most));
    }
}

/// `shop.RATES["default"] stays 0.5 (was 0.1), written at tests/test_pricing.py:30`.
fn state(leak: &Leak) -> String {
    if leak.kind == "fixture" {
        return format!(
            "{} is shared with the tests before it; set up anew, the verdict changes back",
            leak.name
        );
    }
    let change = match (leak.before.as_str(), leak.after.as_str()) {
        ("", "") => format!("{} changed", leak.name),
        (before, after) if before == after => format!("{} changed ({after})", leak.name),
        (before, after) => format!("{} stays {after} (was {before})", leak.name),
    };
    match &leak.at {
        Some(at) => format!("{change}, written at {at}"),
        None => change,
    }
}

fn causes(out: &mut String, e: &Explanation) {
    let causal: Vec<&Leak> = e.leaks.iter().filter(|l| l.causal).collect();
    let Some(first) = causal.first() else {
        return;
    };
    for (at, leak) in causal.iter().enumerate() {
        let label = match at {
            0 => "because",
            _ if leak.group == causal[at - 1].group => "and",
            _ if leak.left_by == first.left_by => "equally",
            _ => "or because",
        };
        line(out, label, &visible(&state(leak)));
    }
}

fn summary(out: &mut String, document: &Document) {
    let all = document.explanations.len() as u64;
    let known = document
        .explanations
        .iter()
        .filter(|e| e.has_cause())
        .count() as u64;
    let state = document
        .explanations
        .iter()
        .filter(|e| e.leaks.iter().any(|l| l.causal))
        .count() as u64;
    let campaign = &document.campaign;
    if all == 0 {
        let _ = writeln!(out, "{GREEN}{BOLD}nothing to explain{OFF}");
    } else {
        let share = if known == 0 {
            String::new()
        } else {
            format!(
                ", the state that leaks named for {} ({} %)",
                state,
                percent(state as f64 / all as f64)
            )
        };
        let _ = writeln!(
            out,
            "{BOLD}{}: cause found for {known}{share}{OFF}",
            count(all, "test", "tests")
        );
    }
    let _ = writeln!(
        out,
        "{} in {} ({} CPU), seed {}",
        count(campaign.executions, "execution", "executions"),
        duration(campaign.wall_seconds),
        duration(campaign.cpu_seconds),
        campaign.seed
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cleaner_of_several_culprits_is_told_once() {
        let cleaning =
            |polluter: &str| serde_json::json!({"polluters": [polluter], "cleaners": ["c"]});
        let explanation: Explanation = serde_json::from_value(serde_json::json!({
            "test": "v", "class": "victim", "polluters": [["a"], ["b"]], "state_setters": [],
            "cleaners": [cleaning("a"), cleaning("b")], "leaks": [], "reproduce_verified": true,
        }))
        .expect("an explanation");
        let mut out = String::new();
        describe(&mut out, &explanation, true);
        assert_eq!(out.matches("in between").count(), 1, "{out}");
    }
}
