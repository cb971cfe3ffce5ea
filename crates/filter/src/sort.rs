//! What kind of failure one is: known to vary, different from what always was, or never seen.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::score::{Evidence, Seen};

/// Between the operands of an assertion's value.
const BETWEEN: char = '\u{1f}';

/// The operands of an assertion as one value.
pub fn joined<'a>(operands: impl IntoIterator<Item = &'a str>) -> String {
    let operands: Vec<&str> = operands.into_iter().collect();
    operands.join(&BETWEEN.to_string())
}

/// A value for people.
pub fn shown(value: &str) -> String {
    value.replace(BETWEEN, " | ")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Nobody has seen it before.
    New,
    /// Always the same before, and now something else: a bug, or an update.
    Changed,
    /// Known to vary, and this is among or like what was seen.
    Flaky,
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Kind::New => "new",
            Kind::Changed => "changed",
            Kind::Flaky => "flaky",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sorted {
    pub kind: Kind,
    /// One line.
    pub evidence: String,
}

/// A failing assertion by the value it failed with, what was seen of it in earlier versions, and what reruns of this
/// version saw.
pub fn sort(value: &str, evidence: Option<&Evidence>, reruns: Option<&Seen>) -> Sorted {
    let sorted = |kind, evidence: String| Sorted { kind, evidence };
    if let Some(reruns) = reruns.filter(|r| r.passed > 0) {
        return sorted(
            Kind::Flaky,
            format!(
                "held in {} of {} reruns on this very version",
                reruns.passed,
                reruns.runs()
            ),
        );
    }
    let Some(evidence) = evidence.filter(|e| e.runs() > 0) else {
        return sorted(
            Kind::New,
            "no version that was learned has this assertion".into(),
        );
    };
    let (score, runs, values) = (evidence.score(), evidence.runs(), evidence.values());
    let (held, failed) = evidence.with(value);
    if score == 0.0 {
        let before = evidence.usual().unwrap_or_default();
        let saying = match (held, failed) {
            (0, 0) => format!("always {} before, in {runs} runs", brief(before)),
            (_, 0) => format!("it held {held} of {held} times with the very values it fails with"),
            (0, _) => format!(
                "it failed {failed} of {failed} times with these values before, and never held"
            ),
            _ => format!(
                "with these values it always held or always failed on one version: {held} times, and {failed}"
            ),
        };
        return sorted(Kind::Changed, saying);
    }
    let failures = match evidence.failures() {
        0 => String::new(),
        1 => ", 1 failure".to_owned(),
        failures => format!(", {failures} failures"),
    };
    let seen = match values.len() {
        1 => "1 value".to_owned(),
        seen => format!("{seen} values"),
    };
    let known = format!("{seen} in {runs} runs{failures}, score {score:.2}");
    if let Some(times) = values.get(value) {
        let with = match failed {
            0 => String::new(),
            failed => format!(", of which it failed {failed}"),
        };
        return sorted(
            Kind::Flaky,
            format!("{known}; this one {times} times{with}"),
        );
    }
    match alike(value, &values) {
        Some(how) => sorted(Kind::Flaky, format!("{known}; {how}")),
        None => sorted(
            Kind::Changed,
            format!("{known}, but never anything like this"),
        ),
    }
}

fn brief(value: &str) -> String {
    let shown = shown(value);
    let mut text: String = shown.chars().take(60).collect();
    if text.len() < shown.len() {
        text.push('…');
    }
    text
}

/// How a value is like those that were seen, operand by operand.
fn alike(value: &str, seen: &BTreeMap<&str, u64>) -> Option<String> {
    let operands: Vec<&str> = value.split(BETWEEN).collect();
    let known: Vec<Vec<&str>> = seen
        .keys()
        .map(|value| value.split(BETWEEN).collect::<Vec<_>>())
        .filter(|known| known.len() == operands.len())
        .collect();
    if known.is_empty() {
        return None;
    }
    let mut how = None;
    for (at, operand) in operands.iter().enumerate() {
        let column: Vec<&str> = known.iter().map(|value| value[at]).collect();
        if column.contains(operand) {
            continue;
        }
        how = Some(like_one_of(operand, &column)?);
    }
    Some(how.unwrap_or_else(|| "each operand was seen".into()))
}

/// Numbers within the spread of those seen; texts that differ in digits alone.
fn like_one_of(operand: &str, column: &[&str]) -> Option<String> {
    let numbers: Option<Vec<f64>> = column.iter().map(|text| text.parse().ok()).collect();
    if let (Ok(number), Some(numbers)) = (operand.parse::<f64>(), numbers) {
        let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // One value alone has no spread that a new one could lie in.
        let reach = high - low;
        let within = reach > 0.0 && number >= low - reach && number <= high + reach;
        return within.then(|| format!("near the {low} to {high} that were seen"));
    }
    let varies = column.iter().any(|text| *text != column[0]);
    let skeleton = skeleton(operand);
    let same = varies && column.iter().any(|text| self::skeleton(text) == skeleton);
    same.then(|| "differs from those in digits alone".into())
}

fn skeleton(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let c = if c.is_ascii_digit() { '0' } else { c };
        // However many digits.
        if c != '0' || !out.ends_with('0') {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(values: &[&str]) -> Evidence {
        let mut seen = Seen::default();
        for value in values {
            seen.add(value, true);
        }
        Evidence {
            versions: vec![(0, seen)],
        }
    }

    fn kind(value: &str, values: &[&str]) -> Kind {
        sort(value, Some(&evidence(values)), None).kind
    }

    #[test]
    fn what_was_seen_or_is_like_it_is_flaky() {
        assert_eq!(kind("348", &["358", "348", "338"]), Kind::Flaky);
        assert_eq!(kind("350", &["358", "348", "338"]), Kind::Flaky);
        assert_eq!(kind("'id-77'", &["'id-1'", "'id-205'"]), Kind::Flaky);
        assert_eq!(
            kind(
                &joined(["1", "b"]),
                &[&joined(["1", "a"]), &joined(["2", "b"])]
            ),
            Kind::Flaky
        );
    }

    #[test]
    fn what_held_and_failed_with_the_same_value_is_flaky_and_described_as_it_was() {
        let of = |verdicts: &[bool]| {
            let mut seen = Seen::default();
            for held in verdicts {
                seen.add("<shop.Basket>", *held);
            }
            let versions = vec![(0, seen)];
            sort("<shop.Basket>", Some(&Evidence { versions }), None)
        };
        let flaky = of(&[true, false, true, true]);
        assert_eq!(flaky.kind, Kind::Flaky);
        assert_eq!(
            flaky.evidence,
            "1 value in 4 runs, 1 failure, score 0.56; this one 4 times, of which it failed 1"
        );
        let held = of(&[true, true]);
        assert_eq!(held.kind, Kind::Changed);
        assert!(held.evidence.starts_with("it held 2 of 2 times"));
        let broken = of(&[false, false]);
        assert_eq!(broken.kind, Kind::Changed);
        assert!(broken.evidence.starts_with("it failed 2 of 2 times"));
    }

    #[test]
    fn what_is_unlike_anything_seen_has_changed() {
        assert_eq!(kind("9000", &["358", "348", "338"]), Kind::Changed);
        assert_eq!(kind("None", &["358", "348"]), Kind::Changed);
        assert_eq!(kind("2", &["1", "1"]), Kind::Changed);
        assert_eq!(kind("1", &["1", "1"]), Kind::Changed);
        assert_eq!(kind("'x1'", &["'y1'", "'y2'"]), Kind::Changed);
    }

    #[test]
    fn what_nobody_knows_is_new_and_what_holds_in_a_rerun_is_flaky() {
        assert_eq!(sort("1", None, None).kind, Kind::New);
        let mut reruns = Seen::default();
        reruns.add("1", false);
        assert_eq!(sort("1", None, Some(&reruns)).kind, Kind::New);
        reruns.add("2", true);
        assert_eq!(sort("1", None, Some(&reruns)).kind, Kind::Flaky);
    }
}
