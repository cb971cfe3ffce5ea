//! Which file each test stands in.

use std::collections::{BTreeMap, BTreeSet};

use flakelab_model::{Place, Suite, TestIndex};

#[derive(Debug)]
pub(crate) struct TestFiles {
    of: Vec<u32>,
    numbers: BTreeMap<String, u32>,
}

impl TestFiles {
    pub(crate) fn new(suite: &Suite) -> Self {
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        let of = suite.ids().iter().map(|id| {
            let id = id.to_string();
            let file = Place::of(&id).map_or(id, |place| place.file);
            let next = numbers.len() as u32;
            *numbers.entry(file).or_insert(next)
        });
        let of = of.collect();
        Self { of, numbers }
    }

    pub(crate) fn of(&self, test: TestIndex) -> u32 {
        self.of[test.at()]
    }

    /// The numbers of those that are named.
    pub(crate) fn numbers(&self, names: &BTreeSet<&str>) -> BTreeSet<u32> {
        let known = names.iter().filter_map(|name| self.numbers.get(*name));
        known.copied().collect()
    }
}
