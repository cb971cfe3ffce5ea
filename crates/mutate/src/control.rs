//! How tests fail without a mutant: what a kill must not look like.

use std::collections::{BTreeMap, BTreeSet};

use flakelab_model::{Isolation, Outcome, Polarity, Suite, TestIndex};
use serde::{Deserialize, Serialize};

/// How often each test that is about to kill was run without a mutant, coverage runs included: it has passed those.
const RUNS: u32 = 5;
/// Of these alone, as it is when it kills: in two interpreters, with different hash seeds.
const ALONE: u32 = 2;

/// Runs that are needed after so many coverage runs.
pub(crate) fn controls(coverage_runs: u32) -> u32 {
    RUNS.saturating_sub(coverage_runs).max(ALONE)
}

/// One failure, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kept {
    test: String,
    how: String,
    process: Process,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Process {
    /// Of the whole suite, or a fork of it.
    Suite,
    /// Of the files that were asked for.
    Pristine,
}

impl From<Isolation> for Process {
    fn from(isolation: Isolation) -> Self {
        if isolation.is_pristine() {
            Self::Pristine
        } else {
            Self::Suite
        }
    }
}

impl From<Process> for Isolation {
    fn from(process: Process) -> Self {
        match process {
            Process::Suite => Self::Fork,
            Process::Pristine => Self::Fresh,
        }
    }
}

/// Failures that occur without a mutant, by test.
#[derive(Debug, Default)]
pub(crate) struct Controls {
    asked: BTreeSet<(TestIndex, Isolation)>,
    /// Each with the process that shares most of those it was seen in.
    failures: BTreeMap<TestIndex, BTreeMap<String, Isolation>>,
}

impl Controls {
    /// As they were kept; tests that are no longer there are forgotten.
    pub(crate) fn again(suite: &Suite, kept: Vec<Kept>) -> Self {
        let mut controls = Self::default();
        for one in kept {
            if let Some(test) = suite.find(&one.test) {
                controls.fails(test, one.how, one.process.into());
            }
        }
        controls
    }

    /// To be kept, so that a campaign that goes on knows what it knew.
    pub(crate) fn kept(&self, suite: &Suite) -> Vec<Kept> {
        let all = self.failures.iter().flat_map(|(test, known)| {
            known.iter().map(|(how, isolation)| Kept {
                test: suite.id(*test).to_string(),
                how: how.clone(),
                process: (*isolation).into(),
            })
        });
        all.collect()
    }

    /// Whether the test is to be run without a mutant first, in a process of this kind; says so once. A test that passes
    /// in forks of the whole suite may need what only the files of others import.
    pub(crate) fn ask(&mut self, test: TestIndex, isolation: Isolation) -> bool {
        self.asked.insert((test, isolation))
    }

    /// An execution without the mutant, or that did not reach it.
    pub(crate) fn note(&mut self, test: TestIndex, outcome: &Outcome, isolation: Isolation) {
        if outcome.polarity() == Polarity::Fail {
            self.fails(test, likeness(outcome), isolation);
        }
    }

    /// It was seen to fail like this.
    pub(crate) fn fails(&mut self, test: TestIndex, likeness: String, isolation: Isolation) {
        let known = self.failures.entry(test).or_default();
        let least = known.entry(likeness).or_insert(isolation);
        *least = isolation.min(*least);
    }

    /// Whether the test fails like this without any mutant. In whatever process it was seen: what happens by chance in one
    /// happens in another, and a kill that is missed leaves the score open, while a false one makes it wrong.
    pub(crate) fn explains(&self, test: TestIndex, outcome: &Outcome) -> bool {
        self.failures
            .get(&test)
            .is_some_and(|known| known.contains_key(&likeness(outcome)))
    }

    /// Tests that failed without a mutant, each with how, and the process that shares most of those it was seen in.
    pub(crate) fn unreliable(&self) -> impl Iterator<Item = (TestIndex, &str, Isolation)> {
        self.failures.iter().filter_map(|(test, known)| {
            let (how, isolation) = known.iter().min_by_key(|(_, isolation)| **isolation)?;
            Some((*test, how.as_str(), *isolation))
        })
    }
}

/// The signature without its numbers: a flaky value is another one each time.
pub(crate) fn likeness(outcome: &Outcome) -> String {
    let signature = outcome.failure().map(|f| f.signature()).unwrap_or_default();
    let mut out = String::with_capacity(signature.len());
    for c in signature.chars() {
        if !c.is_ascii_digit() {
            out.push(c);
        } else if !out.ends_with('#') {
            out.push('#');
        }
    }
    format!("{}: {out}", outcome.word())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use flakelab_model::{Failure, Phase};

    use super::*;

    fn failed(message: &str) -> Outcome {
        Outcome::Failed(Arc::new(Failure {
            phase: Phase::Call,
            message: message.into(),
            at: String::new(),
        }))
    }

    #[test]
    fn every_killer_has_run_five_times_without_a_mutant_and_twice_alone() {
        assert_eq!([0, 1, 3, 4, 17].map(controls), [5, 4, 2, 2, 2]);
    }

    #[test]
    fn a_failure_that_occurs_without_the_mutant_is_known_by_its_words() {
        let mut controls = Controls::default();
        assert!(controls.ask(TestIndex(1), Isolation::Fork));
        assert!(!controls.ask(TestIndex(1), Isolation::Fork));
        assert!(controls.ask(TestIndex(1), Isolation::Fresh));
        controls.note(TestIndex(1), &Outcome::Passed, Isolation::Fork);
        controls.note(TestIndex(1), &failed("assert 0.25 > 0.5"), Isolation::Cold);
        controls.note(TestIndex(1), &failed("assert 0.75 > 0.5"), Isolation::Fork);
        assert!(controls.explains(TestIndex(1), &failed("assert 0.123 > 0.5")));
        assert!(!controls.explains(TestIndex(1), &failed("assert None > 0.5")));
        assert!(!controls.explains(TestIndex(2), &failed("assert 0.123 > 0.5")));
        let all: Vec<_> = controls.unreliable().collect();
        assert_eq!(
            all,
            [(TestIndex(1), "failed: assert #.# > #.#", Isolation::Fork)]
        );
    }

    #[test]
    fn what_was_known_before_an_interruption_is_known_after_it() {
        let suite = Suite::new(["t.py::a", "t.py::b"].map(String::from));
        let mut controls = Controls::default();
        controls.note(TestIndex(1), &failed("assert 1 > 2"), Isolation::Fork);
        controls.note(TestIndex(0), &failed("KeyError"), Isolation::Cold);
        let text = serde_json::to_string(&controls.kept(&suite)).expect("kept");
        // Collected in another order, and without one of them.
        let later = Suite::new(["t.py::b".to_owned()]);
        let again = Controls::again(&later, serde_json::from_str(&text).expect("read"));
        assert!(again.explains(TestIndex(0), &failed("assert 3 > 2")));
        let known: Vec<_> = again.unreliable().collect();
        assert_eq!(
            known,
            [(TestIndex(0), "failed: assert # > #", Isolation::Fork)]
        );
    }
}
