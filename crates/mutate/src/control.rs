//! How tests fail without a mutant: what a kill must not look like.

use std::collections::{BTreeMap, BTreeSet};

use flakelab_model::{Outcome, Polarity, TestIndex};

/// Runs without a mutant of each test that is about to kill one.
pub(crate) const CONTROLS: u32 = 5;

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
fn likeness(outcome: &Outcome) -> String {
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
