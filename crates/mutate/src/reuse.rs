//! When a verdict of an earlier campaign still holds: the function is the same, and so is everything its tests execute.
//!
//! A test is the same if its file, the `conftest.py` files above it, every function of the project it executes, and all code
//! that runs at import are the same. What else verdicts depend on (interpreter, packages, other files) is in
//! [`Settings::environment`](crate::Settings).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use flakelab_model::{Place, Suite, TestIndex};
use flakelab_source::Tree;
use serde::Serialize;

use crate::coverage::Coverage;

/// Where points lie, and what stands there.
#[derive(Debug, Default)]
pub(crate) struct Units {
    /// The unit of each point.
    pub(crate) of_point: Vec<u32>,
    /// A digest of the text of each unit.
    pub(crate) digests: Vec<u128>,
    /// Of everything outside functions.
    pub(crate) outside: u128,
}

/// A number for anything: equal for what is equal, in every process and build.
pub fn digest(thing: &impl Serialize) -> u128 {
    let mut hasher = blake3::Hasher::new();
    // Writing to a hasher does not fail, and neither do the tuples, lists and texts that are given.
    let _ = serde_json::to_writer(&mut hasher, thing);
    let mut number = [0; 16];
    number.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    u128::from_le_bytes(number)
}

/// Digests of tests, each worked out once.
pub(crate) struct Tests<'a> {
    suite: &'a Suite,
    coverage: &'a Coverage,
    units: &'a Units,
    tree: &'a dyn Tree,
    environment: u128,
    known: HashMap<TestIndex, u128>,
    files: BTreeMap<String, u128>,
}

impl<'a> Tests<'a> {
    pub(crate) fn new(
        suite: &'a Suite,
        coverage: &'a Coverage,
        units: &'a Units,
        tree: &'a dyn Tree,
        environment: &str,
    ) -> Self {
        Self {
            suite,
            coverage,
            units,
            tree,
            environment: digest(&(environment, env!("CARGO_PKG_VERSION"), units.outside)),
            known: HashMap::new(),
            files: BTreeMap::new(),
        }
    }

    /// What a verdict is kept under: the changed text and the tests that decide about it.
    pub(crate) fn key(&mut self, change: u128, tests: &[TestIndex]) -> String {
        let mut tests: Vec<(String, u128)> = tests
            .iter()
            .map(|test| (self.suite.id(*test).to_string(), self.digest(*test)))
            .collect();
        tests.sort_unstable();
        format!(
            "verdict/{:032x}",
            digest(&(change, self.environment, tests))
        )
    }

    fn digest(&mut self, test: TestIndex) -> u128 {
        if let Some(known) = self.known.get(&test) {
            return *known;
        }
        let id = self.suite.id(test).to_string();
        let file = Place::of(&id).map_or(id, |place| place.file);
        let imported = self.coverage.by_file.get(&file);
        let covered = &self.coverage.tests[test.at()];
        let units: BTreeSet<u128> = covered
            .runs
            .iter()
            .chain(imported)
            .flatten()
            .flat_map(|(first, length)| *first..first.saturating_add(*length))
            .filter_map(|point| self.units.of_point.get(point as usize))
            .filter_map(|unit| self.units.digests.get(*unit as usize).copied())
            .collect();
        let around = self.around(&file);
        let found = digest(&(around, units));
        self.known.insert(test, found);
        found
    }

    /// The file of a test and what is above it.
    fn around(&mut self, file: &str) -> u128 {
        if let Some(known) = self.files.get(file) {
            return *known;
        }
        let mut texts = vec![self.tree.read(file)];
        let mut folder = file;
        while let Some((above, _)) = folder.rsplit_once('/') {
            texts.push(self.tree.read(&format!("{above}/conftest.py")));
            folder = above;
        }
        texts.push(self.tree.read("conftest.py"));
        let found = digest(&texts);
        self.files.insert(file.to_owned(), found);
        found
    }
}
