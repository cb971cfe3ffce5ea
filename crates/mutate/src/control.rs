//! How tests fail without a mutant: what a kill must not look like.

use std::collections::{BTreeMap, BTreeSet};

use flakelab_model::{Outcome, Polarity, TestIndex};

use crate::subject::Lane;

/// How often each test that is about to kill was run without a mutant, coverage runs included: it has passed those.
const RUNS: u32 = 5;
/// Of these alone, as it is when it kills.
const ALONE: u32 = 1;

/// Runs that are needed after so many coverage runs.
pub(crate) fn controls(coverage_runs: u32) -> u32 {
    RUNS.saturating_sub(coverage_runs).max(ALONE)
}

/// Failures that occur without a mutant, by test.
#[derive(Debug, Default)]
pub(crate) struct Controls {
    asked: BTreeSet<(TestIndex, Lane)>,
    /// How, and in which processes; those of forks if in both.
    failures: BTreeMap<TestIndex, BTreeMap<String, Lane>>,
}

impl Controls {
    /// Whether the test is to be run without a mutant first, in processes like those it kills in; says so once.
    pub(crate) fn ask(&mut self, test: TestIndex, lane: Lane) -> bool {
        self.asked.insert((test, lane))
    }

    /// An execution without the mutant, or that did not reach it.
    pub(crate) fn note(&mut self, test: TestIndex, outcome: &Outcome, lane: Lane) {
        if outcome.polarity() == Polarity::Fail {
            let known = self.failures.entry(test).or_default();
            let at = known.entry(likeness(outcome)).or_insert(lane);
            *at = lane.min(*at);
        }
    }

    /// Whether the test fails like this without any mutant.
    pub(crate) fn explains(&self, test: TestIndex, outcome: &Outcome) -> bool {
        self.failures
            .get(&test)
            .is_some_and(|known| known.contains_key(&likeness(outcome)))
    }

    /// Tests that failed without a mutant, each with how.
    pub(crate) fn unreliable(&self) -> impl Iterator<Item = (TestIndex, String)> {
        self.failures.iter().filter_map(|(test, known)| {
            let (how, lane) = known.iter().min_by_key(|(_, lane)| **lane)?;
            let when = match lane {
                Lane::Swap => "in other orders, or now and then",
                // Nobody but flakelab loads them first: the test may well be without blame.
                Lane::Import => "now and then, or where libraries are loaded before the project",
            };
            Some((*test, format!("fails {when}, without a mutant: {how}")))
        })
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
    fn every_killer_has_run_five_times_without_a_mutant_and_once_alone() {
        assert_eq!([0, 1, 3, 4, 17].map(controls), [5, 4, 2, 1, 1]);
    }

    #[test]
    fn a_failure_that_occurs_without_the_mutant_is_known_by_its_words() {
        let mut controls = Controls::default();
        assert!(controls.ask(TestIndex(1), Lane::Swap));
        assert!(!controls.ask(TestIndex(1), Lane::Swap));
        assert!(controls.ask(TestIndex(1), Lane::Import));
        controls.note(TestIndex(1), &Outcome::Passed, Lane::Swap);
        controls.note(TestIndex(1), &failed("assert 0.25 > 0.5"), Lane::Import);
        assert!(controls.explains(TestIndex(1), &failed("assert 0.123 > 0.5")));
        assert!(!controls.explains(TestIndex(1), &failed("assert None > 0.5")));
        assert!(!controls.explains(TestIndex(2), &failed("assert 0.123 > 0.5")));
        let said = |controls: &Controls| -> Vec<String> {
            controls.unreliable().map(|(_, how)| how).collect()
        };
        let how = "without a mutant: failed: assert #.# > #.#";
        assert_eq!(
            said(&controls),
            [format!(
                "fails now and then, or where libraries are loaded before the project, {how}"
            )]
        );
        controls.note(TestIndex(1), &failed("assert 0.25 > 0.5"), Lane::Swap);
        assert_eq!(
            said(&controls),
            [format!("fails in other orders, or now and then, {how}")]
        );
    }
}
