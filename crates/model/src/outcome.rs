//! What one execution of one test came to.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Setup,
    Call,
    Teardown,
}

/// How an execution failed. Shared, because the same failure recurs in hundreds of runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Failure {
    pub phase: Phase,
    pub message: String,
    /// `file:line` of the raising statement, where known.
    pub at: String,
}

impl Failure {
    /// The first line of the message with addresses masked: equal for repeats of one failure.
    pub fn signature(&self) -> String {
        let line = self.message.lines().next().unwrap_or_default();
        let mut out = String::with_capacity(line.len());
        let mut rest = line;
        while let Some(at) = rest.find("0x") {
            out.push_str(&rest[..at]);
            let digits = rest[at + 2..]
                .find(|c: char| !c.is_ascii_hexdigit())
                .unwrap_or(rest.len() - at - 2);
            out.push_str(if digits == 0 { "0x" } else { "0x…" });
            rest = &rest[at + 2 + digits..];
        }
        out.push_str(rest);
        without_shortened_addresses(&out)
    }
}

/// pytest cuts the middle out of long values, and with it the `0x` of an address: `<test_a....7ffff67a8f90>`.
fn without_shortened_addresses(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("...") {
        let after = rest[at..].trim_start_matches('.');
        let digits = after
            .find(|c: char| !c.is_ascii_hexdigit())
            .unwrap_or(after.len());
        out.push_str(&rest[..rest.len() - after.len()]);
        if digits >= 6 && after[digits..].starts_with('>') {
            out.push('…');
            rest = &after[digits..];
        } else {
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Outcome {
    Passed,
    /// The test itself failed.
    Failed(Arc<Failure>),
    /// Its setup or teardown failed.
    Errored(Arc<Failure>),
    Skipped,
    Xfailed,
    Xpassed,
    TimedOut(Arc<Failure>),
    /// The process ended in the middle of the test.
    Crashed(Arc<Failure>),
    /// The run ended before its turn came.
    NotRun,
}

/// What an outcome says about "passes or fails".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Polarity {
    Pass,
    Fail,
    /// Skipped or not run: says nothing either way.
    Neutral,
}

impl Outcome {
    /// An expected failure counts as a pass, as it does for the exit code of the test runner.
    pub fn polarity(&self) -> Polarity {
        match self {
            Outcome::Passed | Outcome::Xfailed | Outcome::Xpassed => Polarity::Pass,
            Outcome::Failed(_)
            | Outcome::Errored(_)
            | Outcome::TimedOut(_)
            | Outcome::Crashed(_) => Polarity::Fail,
            Outcome::Skipped | Outcome::NotRun => Polarity::Neutral,
        }
    }

    pub fn failure(&self) -> Option<&Arc<Failure>> {
        match self {
            Outcome::Failed(f)
            | Outcome::Errored(f)
            | Outcome::TimedOut(f)
            | Outcome::Crashed(f) => Some(f),
            _ => None,
        }
    }

    /// The word used in documents and in the store.
    pub fn word(&self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Failed(_) => "failed",
            Outcome::Errored(_) => "errored",
            Outcome::Skipped => "skipped",
            Outcome::Xfailed => "xfailed",
            Outcome::Xpassed => "xpassed",
            Outcome::TimedOut(_) => "timed_out",
            Outcome::Crashed(_) => "crashed",
            Outcome::NotRun => "not_run",
        }
    }

    /// The inverse of [`Outcome::word`]; a failing outcome needs its failure.
    pub fn from_word(word: &str, failure: Option<Arc<Failure>>) -> Option<Self> {
        Some(match (word, failure) {
            ("passed", _) => Outcome::Passed,
            ("skipped", _) => Outcome::Skipped,
            ("xfailed", _) => Outcome::Xfailed,
            ("xpassed", _) => Outcome::Xpassed,
            ("not_run", _) => Outcome::NotRun,
            ("failed", Some(f)) => Outcome::Failed(f),
            ("errored", Some(f)) => Outcome::Errored(f),
            ("timed_out", Some(f)) => Outcome::TimedOut(f),
            ("crashed", Some(f)) => Outcome::Crashed(f),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(message: &str) -> Arc<Failure> {
        Arc::new(Failure {
            phase: Phase::Call,
            message: message.into(),
            at: String::new(),
        })
    }

    #[test]
    fn signatures_mask_addresses_and_keep_the_rest() {
        let f = failure("got <X at 0x7f00ab> and 0x (é)\nsecond line");
        assert_eq!(f.signature(), "got <X at 0x…> and 0x (é)");
        let f = failure("assert [<test_a....7ffff67a8f90>] == [<a...b>, ....]");
        assert_eq!(f.signature(), "assert [<test_a....…>] == [<a...b>, ....]");
    }

    #[test]
    fn words_round_trip() {
        let f = failure("m");
        for outcome in [
            Outcome::Passed,
            Outcome::Failed(f.clone()),
            Outcome::Errored(f.clone()),
            Outcome::Skipped,
            Outcome::Xfailed,
            Outcome::Xpassed,
            Outcome::TimedOut(f.clone()),
            Outcome::Crashed(f),
            Outcome::NotRun,
        ] {
            let back = Outcome::from_word(outcome.word(), outcome.failure().cloned());
            assert_eq!(back, Some(outcome));
        }
        assert_eq!(Outcome::from_word("failed", None), None);
    }
}
