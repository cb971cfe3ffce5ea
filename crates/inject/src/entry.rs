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

/// What differs from run to run must not be in a data set: addresses, identities, where a run had its files.
fn masked(message: &str) -> String {
    let message = without_number(message, "0x", |c| c.is_ascii_hexdigit());
    let message = without_number(&message, "id='", |c| c.is_ascii_digit());
    without_scratch(&message).chars().take(500).collect()
}

/// Numbers of more than four digits behind `lead` are left out.
fn without_number(message: &str, lead: &str, digit: fn(char) -> bool) -> String {
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find(lead) {
        let (before, number) = rest.split_at(at + lead.len());
        let behind = number.trim_start_matches(digit);
        let number = &number[..number.len() - behind.len()];
        out.push_str(before);
        out.push_str(if number.len() > 4 { "…" } else { number });
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Paths below HOME and TMPDIR of a run, `…/flakelab-PID-X/NEST/tmp/file`, begin there.
fn without_scratch(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find("/flakelab-") {
        let outside = |c: char| c.is_whitespace() || "'\"(<=".contains(c);
        let start = rest[..at].trim_end_matches(|c| !outside(c)).len();
        match state_of(&rest[at + 1..]).filter(|inside| !inside.contains(outside)) {
            Some(inside) => {
                out.push_str(&rest[..start]);
                out.push('…');
                rest = &rest[at + 1 + inside.len()..];
            }
            None => {
                out.push_str(&rest[..=at]);
                rest = &rest[at + 1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// `flakelab-PID-X/NEST`, if HOME or TMPDIR comes next.
fn state_of(path: &str) -> Option<&str> {
    let (area, below) = path.split_once('/')?;
    let (nest, place) = below.split_once('/')?;
    let place = place.strip_prefix("tmp").or(place.strip_prefix("home"))?;
    let ends = !place.starts_with(|c: char| c.is_alphanumeric() || "_-.".contains(c));
    ends.then(|| &path[..area.len() + 1 + nest.len()])
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
    /// Other tests of the same mutant that vary with the order as well: sets of parameters, heirs, users of a
    /// fixture.
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
        assert_eq!(
            masked("<Mock name='a' id='140457185226384'> id='12'"),
            "<Mock name='a' id='…'> id='12'"
        );
    }

    #[test]
    fn where_a_run_had_its_files_is_masked_and_other_paths_are_not() {
        for (message, said) in [
            (
                "[Errno 2] No such file: '/var/tmp/flakelab-72-edR/l00001/tmp/x'",
                "[Errno 2] No such file: '…/tmp/x'",
            ),
            ("/é/flakelab-1-a/c00002/home", "…/home"),
            (
                "/flakelab-1-a/c00002/homes/x",
                "/flakelab-1-a/c00002/homes/x",
            ),
            ("in /src/flakelab-1.0/a.py", "in /src/flakelab-1.0/a.py"),
            ("/flakelab-1 b/c/tmp/", "/flakelab-1 b/c/tmp/"),
        ] {
            assert_eq!(masked(message), said);
        }
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
