//! Everything the store knows about assertions and tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use flakelab_filter::{Evidence, Identity, LIFETIME, Seen, of_test, renamed_test};
use flakelab_runners::process::git::{self, Edits};
use flakelab_store::{Label, Location, Store};
use serde::{Deserialize, Serialize};

use crate::error::CliError;
use crate::workbench::existing_store;

/// An assertion as it is kept: its identity, and where a recorder sees it from the start of its statement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Kept {
    #[serde(flatten)]
    pub(super) identity: Identity,
    pub(super) offset: (u32, i64),
}

#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) number: i64,
    pub(super) kept: Kept,
    pub(super) evidence: Evidence,
}

/// What one version taught about a test.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TestLesson {
    pub(super) runs: u64,
    pub(super) failed: u64,
    /// How it failed, with how often.
    pub(super) signatures: BTreeMap<String, u64>,
    /// Functions it ran, as `file:name`.
    pub(super) functions: Vec<String>,
}

impl TestLesson {
    /// Whether it both passed and failed on one version.
    pub(super) fn wavers(&self) -> bool {
        self.failed > 0 && self.failed < self.runs
    }

    /// Further runs of the same version.
    pub(super) fn join(&mut self, other: &Self) {
        self.runs += other.runs;
        self.failed += other.failed;
        for (signature, count) in &other.signatures {
            *self.signatures.entry(signature.clone()).or_default() += count;
        }
        let functions = self.functions.iter().chain(&other.functions);
        let functions: BTreeSet<&String> = functions.collect();
        self.functions = functions.into_iter().cloned().collect();
    }
}

#[derive(Debug, Default)]
pub(super) struct Knowledge {
    /// The oldest first.
    pub(super) versions: Vec<String>,
    pub(super) assertions: Vec<Known>,
    /// By test, the newest first: (age in versions, lesson).
    pub(super) tests: BTreeMap<String, Vec<(usize, TestLesson)>>,
    pub(super) labels: Vec<Label>,
}

impl Knowledge {
    /// Nothing, where there is no store.
    pub(super) fn at(location: &Location) -> Result<Self, CliError> {
        existing_store(location)?.map_or_else(|| Ok(Self::default()), |store| Self::load(&store))
    }

    pub(super) fn load(store: &Store) -> Result<Self, CliError> {
        let unreadable = |what: &str| {
            CliError::usage(format!("the store has {what} that makes no sense"))
                .hint("choose another place with --store, or move that file away")
        };
        let lessons = store.lessons().map_err(CliError::store)?;
        let labels = store.labels().map_err(CliError::store)?;
        let ages: BTreeMap<i64, usize> = lessons
            .versions
            .iter()
            .rev()
            .enumerate()
            .map(|(age, (id, _))| (*id, age))
            .collect();
        let mut assertions: BTreeMap<i64, Known> = BTreeMap::new();
        for (number, identity) in lessons.assertions {
            let kept = serde_json::from_str(&identity).map_err(|_| unreadable("an assertion"))?;
            let known = Known {
                number,
                kept,
                evidence: Evidence::default(),
            };
            assertions.insert(number, known);
        }
        for (assertion, version, seen) in lessons.seen {
            let seen: Seen = serde_json::from_str(&seen).map_err(|_| unreadable("evidence"))?;
            if let (Some(known), Some(age)) = (assertions.get_mut(&assertion), ages.get(&version)) {
                known.evidence.versions.push((*age, seen));
            }
        }
        let mut tests: BTreeMap<String, Vec<(usize, TestLesson)>> = BTreeMap::new();
        for (test, version, lesson) in lessons.tests {
            let lesson = serde_json::from_str(&lesson).map_err(|_| unreadable("a lesson"))?;
            if let Some(age) = ages.get(&version) {
                tests.entry(test).or_default().push((*age, lesson));
            }
        }
        for known in assertions.values_mut() {
            known.evidence.versions.sort_by_key(|(age, _)| *age);
        }
        for lessons in tests.values_mut() {
            lessons.sort_by_key(|(age, _)| *age);
        }
        Ok(Self {
            versions: lessons.versions.into_iter().map(|(_, name)| name).collect(),
            assertions: assertions.into_values().collect(),
            tests,
            labels,
        })
    }

    /// What was edited since the newest version, as far as git can tell; everything is called what it is called now.
    pub(super) fn catch_up(&mut self, project: &Path) -> Edits {
        let newest = self.versions.last();
        let edits = newest.and_then(|version| git::edits_since(project, version));
        let edits = edits.unwrap_or_default();
        self.rename(&edits.renamed);
        edits
    }

    /// Calls everything what it is called after files were renamed.
    fn rename(&mut self, files: &BTreeMap<String, String>) {
        if files.is_empty() {
            return;
        }
        for known in &mut self.assertions {
            known.kept.identity = known.kept.identity.renamed(files);
        }
        for (test, lessons) in std::mem::take(&mut self.tests) {
            let name = renamed_test(&test, files).unwrap_or(test);
            self.tests.entry(name).or_default().extend(lessons);
        }
        for label in &mut self.labels {
            if let Some(test) = renamed_test(&label.test, files) {
                label.test = test;
            }
        }
    }

    /// What versions that still count taught about a test.
    pub(super) fn living(&self, test: &str) -> Vec<&TestLesson> {
        let lessons = self.tests.get(test).into_iter().flatten();
        lessons
            .filter(|(age, _)| *age < LIFETIME)
            .map(|(_, lesson)| lesson)
            .collect()
    }

    /// How many versions ago one was learned.
    pub(super) fn age(&self, version: &str) -> Option<usize> {
        self.versions
            .iter()
            .rev()
            .position(|known| known == version)
    }

    pub(super) fn assertion(&self, identity: &Identity) -> Option<&Known> {
        self.assertions
            .iter()
            .find(|known| known.kept.identity == *identity)
    }

    /// Equation 5.2.
    pub(super) fn test_score(&self, test: &str) -> f64 {
        let own = self
            .assertions
            .iter()
            .filter(|a| a.kept.identity.test == test);
        of_test(own.map(|a| a.evidence.score()))
    }

    /// What was said of an assertion, or else of its test.
    pub(super) fn label(&self, test: &str, assertion: &str) -> Option<&Label> {
        let exact = |l: &&Label| l.test == test && l.assertion == assertion;
        let whole = |l: &&Label| l.test == test && l.assertion.is_empty();
        self.labels
            .iter()
            .find(exact)
            .or_else(|| self.labels.iter().find(whole))
    }

    /// What was said of this very assertion.
    pub(super) fn label_of(&self, identity: &Identity) -> Option<&Label> {
        self.labels
            .iter()
            .find(|l| l.test == identity.test && l.assertion == identity.text)
    }

    pub(super) fn nothing_learned(&self) -> Option<CliError> {
        self.versions.is_empty().then(|| {
            CliError::usage("nothing was learned yet")
                .hint("`flakelab filter learn` runs the suite and scores its assertions")
        })
    }
}
