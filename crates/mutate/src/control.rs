//! How tests fail without a mutant: what a kill must not look like.

use std::collections::{BTreeMap, BTreeSet};

use flakelab_model::{Outcome, Polarity, TestIndex};

/// How often each test that is about to kill was run without a mutant, coverage runs included: it has passed those.
const RUNS: u32 = 5;
/// Of these alone, as it is when it kills: in two interpreters, with different hash seeds.
const ALONE: u32 = 2;

/// Runs that are needed after so many coverage runs.
pub(crate) fn controls(coverage_runs: u32) -> u32 {
    RUNS.saturating_sub(coverage_runs).max(ALONE)
}

/// Failures that occur without a mutant, by test.
#[derive(Debug, Default)]
pub(crate) struct Controls {
    asked: BTreeSet<TestIndex>,
    failures: BTreeMap<TestIndex, BTreeSet<String>>,
}

impl Controls {
    /// Whether the test is to be run without a mutant first; says so once.
    pub(crate) fn ask(&mut self, test: TestIndex) -> bool {
        self.asked.insert(test)
    }

    /// An execution without the mutant, or that did not reach it.
    pub(crate) fn note(&mut self, test: TestIndex, outcome: &Outcome) {
        if outcome.polarity() == Polarity::Fail {
            let known = self.failures.entry(test).or_default();
            known.insert(likeness(outcome));
        }
    }

    /// Whether the test fails like this without any mutant.
    pub(crate) fn explains(&self, test: TestIndex, outcome: &Outcome) -> bool {
        self.failures
            .get(&test)
            .is_some_and(|known| known.contains(&likeness(outcome)))
    }

    /// Tests that failed without a mutant, each with how.
    pub(crate) fn unreliable(&self) -> impl Iterator<Item = (TestIndex, &str)> {
        self.failures
            .iter()
            .filter_map(|(test, known)| Some((*test, known.first()?.as_str())))
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
        assert!(controls.ask(TestIndex(1)));
        assert!(!controls.ask(TestIndex(1)));
        controls.note(TestIndex(1), &Outcome::Passed);
        controls.note(TestIndex(1), &failed("assert 0.25 > 0.5"));
        assert!(controls.explains(TestIndex(1), &failed("assert 0.123 > 0.5")));
        assert!(!controls.explains(TestIndex(1), &failed("assert None > 0.5")));
        assert!(!controls.explains(TestIndex(2), &failed("assert 0.123 > 0.5")));
        assert_eq!(controls.unreliable().count(), 1);
    }
}
