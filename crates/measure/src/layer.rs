//! The layers: each turns an execution into a snapshot.
//!
//! A layer of user interfaces would be one more here: (widget and property, value), from a driver that reads the
//! state of windows or pages after each test.

use flakelab_model::{Execution, Outcome, TestTrace, Trace};

use crate::invariants;
use crate::pool::{Pool, SnapshotId, Text};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// Class of outcome and signature of the failure.
    Outcome,
    /// What assertions saw.
    Assertions,
    /// Whether each assertion held.
    Verdicts,
    /// Which functions ran.
    Code,
    /// Which lines ran.
    Lines,
    /// Which likely invariants held.
    Behaviour,
}

impl Layer {
    pub const ALL: [Layer; 6] = [
        Layer::Outcome,
        Layer::Assertions,
        Layer::Verdicts,
        Layer::Code,
        Layer::Lines,
        Layer::Behaviour,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Layer::Outcome => "outcome",
            Layer::Assertions => "assertions",
            Layer::Verdicts => "verdicts",
            Layer::Code => "code",
            Layer::Lines => "lines",
            Layer::Behaviour => "behaviour",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Layer::ALL.into_iter().find(|layer| layer.word() == word)
    }

    /// Whether an element is the same thing whichever test meets it.
    pub fn is_shared(self) -> bool {
        matches!(self, Layer::Code | Layer::Lines | Layer::Behaviour)
    }

    /// `None` if this execution says nothing at this layer.
    pub(crate) fn snapshot(
        self,
        pool: &mut Pool,
        execution: &Execution,
        trace: &Trace,
        seen: Option<&TestTrace>,
    ) -> Option<SnapshotId> {
        if self == Layer::Outcome {
            return outcome(pool, &execution.outcome);
        }
        let seen = seen?;
        let text = |pool: &mut Pool, number: Text| pool.text(&trace.texts[number as usize]);
        let pairs = |pool: &mut Pool, pairs: &[(u32, u32)]| -> Vec<(Text, Text)> {
            pairs
                .iter()
                .map(|(element, value)| (text(pool, *element), text(pool, *value)))
                .collect()
        };
        let found = match self {
            Layer::Outcome => return None,
            Layer::Assertions => pairs(pool, &seen.values),
            Layer::Verdicts => pairs(pool, &seen.verdicts),
            Layer::Code => {
                let ran = pool.text("ran");
                seen.functions
                    .iter()
                    .map(|function| (text(pool, *function), ran))
                    .collect()
            }
            Layer::Lines => {
                let ran = pool.text("ran");
                seen.lines
                    .iter()
                    .map(|(file, line)| {
                        let name = format!("{}:{line}", trace.texts[*file as usize]);
                        (pool.text(&name), ran)
                    })
                    .collect()
            }
            Layer::Behaviour => invariants::infer(trace, &seen.samples)
                .iter()
                .map(|(element, value)| (pool.text(element), pool.text(value)))
                .collect(),
        };
        Some(pool.snapshot(found))
    }
}

fn outcome(pool: &mut Pool, outcome: &Outcome) -> Option<SnapshotId> {
    if *outcome == Outcome::NotRun {
        return None;
    }
    let mut pairs = vec![(pool.text("outcome"), pool.text(outcome.word()))];
    if let Some(failure) = outcome.failure() {
        pairs.push((pool.text("failure"), pool.text(&failure.signature())));
    }
    Some(pool.snapshot(pairs))
}
