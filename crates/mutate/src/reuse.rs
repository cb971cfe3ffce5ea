//! When a verdict of an earlier campaign still holds: the function is the same, and so is everything its tests execute.
//!
//! A test is the same if its file, the `conftest.py` files above it, the files of tests that any of those import, every
//! function of the project it executes, and all code that runs at import are the same. What else verdicts depend on (interpreter, packages, other files) is in
//! [`Settings::environment`](crate::Settings).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use flakelab_model::{Place, Suite, TestIndex};
use flakelab_source::Tree;
use serde::Serialize;

use crate::coverage::Coverage;
use crate::mentions::Modules;

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
    modules: Modules,
}

impl<'a> Tests<'a> {
    pub(crate) fn new(
        suite: &'a Suite,
        coverage: &'a Coverage,
        units: &'a Units,
        tree: &'a dyn Tree,
        environment: &str,
    ) -> Self {
        let ids = suite.ids().iter();
        let files: BTreeSet<String> = ids
            .filter_map(|id| Some(Place::of(id.as_str())?.file))
            .collect();
        Self {
            modules: Modules::new(files.iter().map(String::as_str)),
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

    /// The file of a test and what is above it; and the same of each file of tests that these import, and those import.
    fn around(&mut self, file: &str) -> u128 {
        if let Some(known) = self.files.get(file) {
            return *known;
        }
        let mut texts: BTreeMap<String, Option<String>> = BTreeMap::new();
        let mut waiting = vec![file.to_owned()];
        while let Some(next) = waiting.pop() {
            for path in with_conftests(&next) {
                if texts.contains_key(&path) {
                    continue;
                }
                let text = self.tree.read(&path);
                let imported = self.modules.in_text(text.as_deref().unwrap_or_default());
                waiting.extend(imported.into_iter().map(str::to_owned));
                texts.insert(path, text);
            }
        }
        let found = digest(&texts);
        self.files.insert(file.to_owned(), found);
        found
    }
}

/// A file of tests, and what pytest reads with it.
fn with_conftests(file: &str) -> Vec<String> {
    let mut all = vec![file.to_owned()];
    let mut folder = file;
    while let Some((above, _)) = folder.rsplit_once('/') {
        all.push(format!("{above}/conftest.py"));
        folder = above;
    }
    all.push("conftest.py".into());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Texts(BTreeMap<&'static str, &'static str>);

    impl Tree for Texts {
        fn read(&self, path: &str) -> Option<String> {
            self.0.get(path).map(|text| (*text).to_owned())
        }
    }

    const FILES: [(&str, &str); 5] = [
        ("t/test_a.py", "def check(): assert 1"),
        ("t/test_b.py", "from .test_a import check"),
        ("t/test_c.py", "from t import test_b"),
        ("test_d.py", "x = 1"),
        ("conftest.py", "import shop"),
    ];

    /// The key of a mutant that the test of each file decides about.
    fn keys(texts: &[(&'static str, &'static str)]) -> Vec<String> {
        let files = ["t/test_a.py", "t/test_b.py", "t/test_c.py", "test_d.py"];
        let suite = Suite::new(files.map(|file| format!("{file}::test_it")));
        let coverage = Coverage {
            tests: vec![Default::default(); 4],
            ..Coverage::default()
        };
        let (units, tree) = (Units::default(), Texts(texts.iter().copied().collect()));
        let mut tests = Tests::new(&suite, &coverage, &units, &tree, "");
        suite.indices().map(|test| tests.key(1, &[test])).collect()
    }

    fn changed(file: &str, text: &'static str) -> Vec<bool> {
        let mut files = FILES;
        for known in &mut files {
            if known.0 == file {
                known.1 = text;
            }
        }
        let (before, after) = (keys(&FILES), keys(&files));
        before.iter().zip(after).map(|(a, b)| *a != b).collect()
    }

    #[test]
    fn a_verdict_holds_as_long_as_nothing_that_its_tests_import_is_edited() {
        // One that two others import, one of them through the other.
        assert_eq!(
            changed("t/test_a.py", "def check(): pass"),
            [true, true, true, false]
        );
        assert_eq!(changed("t/test_c.py", ""), [false, false, true, false]);
        assert_eq!(changed("test_d.py", "x = 2"), [false, false, false, true]);
        assert_eq!(changed("conftest.py", "import test_d"), [true; 4]);
    }
}
