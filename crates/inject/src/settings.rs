//! What an injection is asked to do, and who follows it.

use flakelab_model::{Place, Suite, TestIndex, Timeout};
use serde::{Deserialize, Serialize};

/// Which tests are shuffled together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Those of one class, or the functions of one file: the setting of the paper.
    Class,
    Module,
    Suite,
}

impl Scope {
    pub fn word(self) -> &'static str {
        match self {
            Scope::Class => "class",
            Scope::Module => "module",
            Scope::Suite => "suite",
        }
    }

    /// The tests in groups that are each shuffled on their own; groups and tests in the suite's order.
    pub(crate) fn groups(self, suite: &Suite, tests: &[TestIndex]) -> Vec<Vec<TestIndex>> {
        let mut groups: Vec<(String, Vec<TestIndex>)> = Vec::new();
        for test in tests {
            let key = match self {
                Scope::Suite => String::new(),
                Scope::Module | Scope::Class => {
                    let id = suite.id(*test).to_string();
                    match Place::of(&id) {
                        Some(place) if self == Scope::Class => class_of(&place),
                        Some(place) => place.file,
                        None => id,
                    }
                }
            };
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, group)) => group.push(*test),
                None => groups.push((key, vec![*test])),
            }
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }
}

/// The class of a test; functions of a file count as one.
pub(crate) fn class_of(place: &Place) -> String {
    let mut name = place.file.clone();
    for class in &place.classes {
        name.push_str("::");
        name.push_str(class);
    }
    name
}

#[derive(Debug, Clone)]
pub struct Settings {
    pub seed: u64,
    /// How often a test runs alone.
    pub reruns: u32,
    pub orders: usize,
    pub scope: Scope,
    /// Whether statements of fixtures and set-ups are deleted too.
    pub include_fixtures: bool,
    /// Further names of assertions.
    pub assertions: Vec<String>,
    /// Fresh interpreters that must agree.
    pub confirmations: u32,
    pub timeout: Timeout,
    /// Whether tests that take far longer than any did so far may be ended earlier.
    pub impatient: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Select,
    Evaluate,
}

/// Sees a campaign go by.
pub trait Watch {
    fn stage(&mut self, stage: Stage, steps: usize);
    fn step(&mut self);
}
