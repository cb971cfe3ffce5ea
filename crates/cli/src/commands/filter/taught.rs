//! What `flakelab filter learn` tells of a version.

use flakelab_filter::{Seen, shown};
use flakelab_report::{drives_a_terminal, visible};
use serde_json::{Value, json};

use super::knowledge::Kept;
use super::learn::Taught;

/// Assertions that a person is shown.
const MOST_SHOWN: usize = 10;

/// Those that vary, with their scores, the largest first.
fn varying(taught: &Taught) -> Vec<(f64, &Kept, &Seen)> {
    let mut varying: Vec<(f64, &Kept, &Seen)> = taught
        .assertions
        .iter()
        .map(|(_, kept, seen)| (seen.score(), kept, seen))
        .filter(|(score, _, _)| *score > 0.0)
        .collect();
    varying.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    varying
}

pub(super) fn document(taught: &Taught, version: &str, runs: usize) -> Value {
    let varying: Vec<Value> = varying(taught)
        .into_iter()
        .map(|(score, kept, seen)| {
            json!({
                "test": kept.identity.test,
                "assertion": kept.identity.text,
                "score": score,
                "values": seen.values.len(),
            })
        })
        .collect();
    json!({
        "schema": {"name": "flakelab.filter.learn", "version": "1.0"},
        "flakelab": env!("CARGO_PKG_VERSION"),
        "version": version,
        "runs": runs,
        "tests": taught.tests.len(),
        "assertions": taught.assertions.len(),
        "varying": varying,
    })
}

pub(super) fn text(taught: &Taught, version: &str, runs: usize) -> String {
    let flaky = varying(taught);
    let mut out = format!(
        "learned {}: {} assertions of {} tests in {runs} runs, {} of them vary\n",
        visible(version),
        taught.assertions.len(),
        taught.tests.len(),
        flaky.len()
    );
    for (score, kept, seen) in flaky.iter().take(MOST_SHOWN) {
        let values: Vec<String> = seen
            .values
            .iter()
            .take(3)
            .map(|(value, times)| format!("{times}× {}", brief(&shown(value))))
            .collect();
        let more = seen.values.len().saturating_sub(3);
        let more = if more > 0 {
            format!(" | {more} more")
        } else {
            String::new()
        };
        out.push_str(&format!(
            "  {score:.2}  {}\n        {}  {}{more}\n",
            visible(&kept.identity.test),
            brief(&kept.identity.text),
            values.join(" | ")
        ));
    }
    if flaky.len() > MOST_SHOWN {
        out.push_str(&format!("  … and {} more\n", flaky.len() - MOST_SHOWN));
    }
    out
}

pub(super) fn brief(text: &str) -> String {
    let clean: String = text
        .chars()
        .map(|c| if drives_a_terminal(c) { ' ' } else { c })
        .collect();
    if clean.chars().count() <= 60 {
        return clean;
    }
    let head: String = clean.chars().take(59).collect();
    format!("{head}…")
}
