//! Which file and which function each test stands in.

use std::collections::{BTreeMap, BTreeSet};

use flakelab_model::{Place, Suite, TestIndex};

#[derive(Debug)]
pub(crate) struct TestFiles {
    of: Vec<u32>,
    numbers: BTreeMap<String, u32>,
    functions: Vec<u32>,
}

impl TestFiles {
    pub(crate) fn new(suite: &Suite) -> Self {
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        let mut bases: BTreeMap<String, u32> = BTreeMap::new();
        let number = |numbers: &mut BTreeMap<String, u32>, name: String| {
            let next = numbers.len() as u32;
            *numbers.entry(name).or_insert(next)
        };
        let places = suite.ids().iter().map(|id| {
            let id = id.to_string();
            let (file, base) = match Place::of(&id) {
                Some(place) => (place.file.clone(), place.base()),
                None => (id.clone(), id),
            };
            (number(&mut numbers, file), number(&mut bases, base))
        });
        let (of, functions) = places.unzip();
        Self {
            of,
            numbers,
            functions,
        }
    }

    pub(crate) fn of(&self, test: TestIndex) -> u32 {
        self.of[test.at()]
    }

    /// The same for all parameters of a test.
    pub(crate) fn function(&self, test: TestIndex) -> u32 {
        self.functions[test.at()]
    }

    /// The numbers of those that are named.
    pub(crate) fn numbers(&self, names: &BTreeSet<&str>) -> BTreeSet<u32> {
        let known = names.iter().filter_map(|name| self.numbers.get(*name));
        known.copied().collect()
    }
}
