//! What is known of a test that is to be fixed.

use flakelab_model::{Class, Place};

/// One order-dependent test with its causes; tests by id.
#[derive(Debug, Clone)]
pub struct Case {
    pub test: String,
    pub class: Class,
    /// Polluters of a victim, state-setters of a brittle.
    pub culprits: Vec<Vec<String>>,
    /// Cleaners of a victim.
    pub cleaners: Vec<Vec<String>>,
    /// Groups of leaks that carry it; the members of one only work together.
    pub causes: Vec<Vec<Leak>>,
    /// What else the culprits leave changed.
    pub idle: Vec<Leak>,
}

impl Case {
    /// The files its culprits stand in.
    pub(crate) fn culprit_files(&self) -> Vec<String> {
        let ids = self.culprits.iter().flatten();
        let mut files: Vec<String> = ids
            .filter_map(|id| Place::of(id))
            .map(|place| place.file)
            .collect();
        files.sort();
        files.dedup();
        files
    }
}

/// What a test leaves changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leak {
    pub kind: String,
    pub name: String,
    pub before: String,
    pub after: String,
    /// The line that writes it: file and number from 1.
    pub at: Option<(String, usize)>,
    /// The tests that leave it.
    pub left_by: Vec<String>,
    /// The module that the name starts with, where `explain` has said so.
    pub module: Option<String>,
}
