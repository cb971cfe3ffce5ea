//! A run with changed code: which executions reached it.

use std::sync::Arc;

use flakelab_model::{Ending, Failure, Outcome, Phase, Pursued, TestIndex};

/// Executions that are kept.
const MOST: usize = 1_000_000;

#[derive(Debug, Default)]
pub(super) struct Chase {
    done: Vec<Pursued>,
    /// Whether the change was executed since the last execution began, and how often.
    pub(super) hit: bool,
    pub(super) hits: u64,
    /// Whether it was executed before that.
    pub(super) earlier: bool,
    pub(super) circles: bool,
    /// Whether it was executed before the first execution, that is at import: then every test has it.
    imported: bool,
    begun: bool,
}

impl Chase {
    /// An execution begins.
    pub(super) fn start(&mut self) {
        let was_hit = std::mem::take(&mut self.hit);
        self.earlier |= was_hit;
        self.imported |= was_hit && !self.begun;
        self.begun = true;
        self.hits = 0;
    }

    pub(super) fn put(&mut self, test: TestIndex, place: u32, outcome: Outcome, micros: u32) {
        if self.done.len() < MOST {
            self.done.push(Pursued {
                test,
                place,
                outcome,
                micros,
                hit: self.hit || self.imported,
                hits: self.hits,
                earlier: self.earlier,
            });
        }
    }

    /// Whether the change was executed at all.
    pub(super) fn was_hit(&self) -> bool {
        self.hit || self.earlier || self.imported
    }

    /// Whether nothing was executed yet.
    pub(super) fn is_new(&self) -> bool {
        self.done.is_empty()
    }

    /// How the run ended and what was executed. Tests that are not even collected with the change have failed.
    pub(super) fn come_to(
        &self,
        lost: Option<&str>,
        not_found: bool,
        first: Option<TestIndex>,
    ) -> (Ending, Vec<Pursued>) {
        if let Some(test) = first.filter(|_| not_found && self.hit) {
            return (Ending::Stopped, vec![not_collected(test)]);
        }
        let ending = match (lost, self.done.last().map(|last| &last.outcome)) {
            (Some(why), _) => Ending::Lost(why.to_owned()),
            (None, Some(Outcome::TimedOut(_))) => Ending::TimedOut,
            (None, Some(Outcome::Crashed(_))) => Ending::Crashed,
            _ => Ending::Completed,
        };
        (ending, self.done.clone())
    }
}

fn not_collected(test: TestIndex) -> Pursued {
    let failure = Failure {
        phase: Phase::Setup,
        message: "the test is not collected with it".into(),
        at: String::new(),
    };
    Pursued {
        test,
        place: 0,
        outcome: Outcome::Errored(Arc::new(failure)),
        micros: 0,
        hit: true,
        hits: 1,
        earlier: false,
    }
}
