//! Tests and the suite they were collected into.

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::{Deserialize, Serialize};

/// The name of one collected test, e.g. a pytest node id with its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TestId(String);

impl TestId {
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The file (or first component) the test lives in.
    pub fn module(&self) -> &str {
        self.0.split_once("::").map_or(&self.0, |(file, _)| file)
    }

    /// File and enclosing classes: everything but the test's own name. Parameters may contain `::`
    /// and `/`, so the search for the last separator ends at the first bracket of the name.
    pub fn class_scope(&self) -> &str {
        let Some(file_end) = self.0.find("::") else {
            return &self.0;
        };
        let name_start = file_end + 2;
        let bracket = self.0[name_start..]
            .find('[')
            .map_or(self.0.len(), |at| name_start + at);
        self.0[..bracket]
            .rfind("::")
            .map_or(&self.0, |at| &self.0[..at])
    }

    /// The id without its parameters: what the instances of one parametrised test have in common.
    pub fn function(&self) -> &str {
        let from = self.0.find("::").map_or(0, |at| at + 2);
        self.0[from..]
            .find('[')
            .map_or(&self.0, |at| &self.0[..from + at])
    }
}

impl fmt::Display for TestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A test's position in its suite's original order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TestIndex(pub u32);

impl TestIndex {
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// The collected tests, in their original order, each under a name of its own.
#[derive(Debug, Clone, Default)]
pub struct Suite {
    tests: Vec<TestId>,
    by_id: HashMap<TestId, TestIndex>,
    /// Tests whose name got a number.
    repeats: HashSet<TestIndex>,
}

impl Suite {
    /// Ids that occur more than once are told apart by a number: `a.py::t`, `a.py::t#2`.
    pub fn new(ids: impl IntoIterator<Item = String>) -> Self {
        let mut suite = Self::default();
        let mut seen: HashMap<String, u32> = HashMap::new();
        for id in ids {
            let number = seen.entry(id.clone()).or_insert(0);
            *number += 1;
            if *number == 1 {
                suite.push(TestId(id), false);
            } else {
                suite.push(TestId(format!("{id}#{number}")), true);
            }
        }
        suite
    }

    fn push(&mut self, id: TestId, repeat: bool) {
        let index = TestIndex(u32::try_from(self.tests.len()).unwrap_or(u32::MAX));
        self.by_id.insert(id.clone(), index);
        self.tests.push(id);
        if repeat {
            self.repeats.insert(index);
        }
    }

    /// The tests whose id is wanted, under the names they have here.
    pub fn filtered(&self, wanted: impl Fn(&TestId) -> bool) -> Self {
        let mut suite = Self::default();
        for index in self.indices().filter(|index| wanted(self.id(*index))) {
            suite.push(self.id(index).clone(), self.is_repeat(index));
        }
        suite
    }

    /// Whether this is the second or a later test of one id, which no command line can name.
    pub fn is_repeat(&self, test: TestIndex) -> bool {
        self.repeats.contains(&test)
    }

    pub fn len(&self) -> usize {
        self.tests.len()
    }

    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    pub fn id(&self, test: TestIndex) -> &TestId {
        &self.tests[test.at()]
    }

    pub fn ids(&self) -> &[TestId] {
        &self.tests
    }

    pub fn find(&self, id: &str) -> Option<TestIndex> {
        self.by_id.get(&TestId(id.to_owned())).copied()
    }

    pub fn indices(&self) -> impl DoubleEndedIterator<Item = TestIndex> + use<> {
        (0..self.tests.len() as u32).map(TestIndex)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_survive_hostile_parameters() {
        let id = TestId::new("a/b.py::TestX::test_y[p::q/[z]]");
        assert_eq!(id.module(), "a/b.py");
        assert_eq!(id.class_scope(), "a/b.py::TestX");
        assert_eq!(id.function(), "a/b.py::TestX::test_y");
        let plain = TestId::new("a[1]/b.py::test_y");
        assert_eq!(plain.class_scope(), "a[1]/b.py");
        assert_eq!(plain.function(), "a[1]/b.py::test_y");
        assert_eq!(TestId::new("doc.txt").class_scope(), "doc.txt");
    }

    #[test]
    fn duplicate_ids_get_numbers() {
        let suite = Suite::new(["a::t", "a::t", "b::t", "a::t"].map(String::from));
        let names: Vec<_> = suite.ids().iter().map(TestId::as_str).collect();
        assert_eq!(names, ["a::t", "a::t#2", "b::t", "a::t#3"]);
        assert_eq!(suite.find("a::t#3"), Some(TestIndex(3)));
        let fewer = suite.filtered(|id| id.as_str() != "a::t");
        let repeats: Vec<_> = fewer.indices().map(|t| fewer.is_repeat(t)).collect();
        assert_eq!(repeats, [true, false, true]);
    }
}
