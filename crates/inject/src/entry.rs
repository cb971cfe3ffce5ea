//! One mutant in the data set.

use flakelab_model::Outcome;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    Victim,
    Brittle,
    /// Varies without the order's doing.
    NonDeterministic,
    /// The same in every order: it passes or fails in all of them.
    Stable,
    /// Would not compile.
    Invalid,
}

impl Class {
    pub fn is_order_dependent(self) -> bool {
        matches!(self, Class::Victim | Class::Brittle)
    }

    pub fn word(self) -> &'static str {
        match self {
            Class::Victim => "victim",
            Class::Brittle => "brittle",
            Class::NonDeterministic => "non_deterministic",
            Class::Stable => "stable",
            Class::Invalid => "invalid",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    Assertion,
    Exception,
    /// It took too long.
    Timeout,
    /// Its process died.
    Crash,
}

/// How a mutant fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    pub kind: FailureKind,
    pub message: String,
}

impl Shown {
    pub(crate) fn of(outcome: &Outcome) -> Option<Self> {
        let message = masked(&outcome.failure()?.message);
        let kind = match outcome {
            Outcome::TimedOut(_) => FailureKind::Timeout,
            Outcome::Crashed(_) => FailureKind::Crash,
            _ if is_assertion(&message) => FailureKind::Assertion,
            _ => FailureKind::Exception,
        };
        // How long it was waited for differs from run to run.
        let message = match kind {
            FailureKind::Timeout => "no end within its time".into(),
            _ => message,
        };
        Some(Self { kind, message })
    }
}

fn is_assertion(message: &str) -> bool {
    ["AssertionError", "assert ", "Failed: DID NOT"]
        .iter()
        .any(|start| message.starts_with(start))
}

/// Addresses differ from run to run, and a data set must not.
fn masked(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find("0x") {
        let end = rest[at + 2..]
            .find(|c: char| !c.is_ascii_hexdigit())
            .map_or(rest.len(), |n| at + 2 + n);
        out.push_str(&rest[..at]);
        out.push_str(if end - at > 6 {
            "0x…"
        } else {
            &rest[at..end]
        });
        rest = &rest[end..];
    }
    out.push_str(rest);
    out.chars().take(500).collect()
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cleaning {
    pub polluters: Vec<String>,
    pub cleaners: Vec<String>,
}

/// A line of `mutants.jsonl`. Orders are numbers into the data set's `orders.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub id: String,
    pub test: String,
    /// Other tests of the same mutant with the same class: sets of parameters, heirs, users of a fixture.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    pub file: String,
    pub line: usize,
    pub statement: String,
    pub valid: bool,
    pub class: Class,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_invalid: Option<String>,
    /// What is to be known about the class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The patch, relative to the data set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passing_orders: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failing_orders: Vec<usize>,
    /// Passed, of how many, alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<(u32, u32)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Shown>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub polluters: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub state_setters: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cleaners: Vec<Cleaning>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_masked_and_small_numbers_are_not() {
        assert_eq!(
            masked("<X object at 0x7f00deadbeef> is 0x1f, 0xabcdef0"),
            "<X object at 0x…> is 0x1f, 0x…"
        );
    }

    #[test]
    fn assertions_are_told_from_exceptions() {
        for (message, is) in [
            ("assert 1 == 2", true),
            ("AssertionError: no", true),
            ("Failed: DID NOT RAISE <class 'ValueError'>", true),
            ("ValueError: assert", false),
        ] {
            assert_eq!(is_assertion(message), is, "{message}");
        }
    }
}
