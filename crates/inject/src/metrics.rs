//! Table I of the paper: effectiveness, characteristics, and what makes classes receptive.

use std::collections::{BTreeMap, BTreeSet};

use flakelab_model::{Place, Suite};
use flakelab_source::{Source, Tree};
use flakelab_stats::{CliffDelta, MannWhitney, Spearman, cliff_delta, mann_whitney, spearman};

use crate::entry::{Class, Entry, FailureKind};
use crate::inject::Injection;
use crate::settings::class_of;

/// Confidence of every interval here.
const CONFIDENCE: f64 = 0.95;

/// Counts over the whole project, or one class.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Totals {
    pub stable_tests: u64,
    pub mutants: u64,
    pub valid: u64,
    pub order_dependent: u64,
    pub victims: u64,
    pub brittles: u64,
    pub non_deterministic: u64,
    pub assertion_failures: u64,
    pub other_failures: u64,
    /// Stable tests that a mutant makes depend on the order: that of its entry, and those that vary with it.
    pub tests_affected: u64,
}

impl Totals {
    pub(crate) fn add(&mut self, entry: &Entry) {
        self.mutants += 1;
        self.valid += u64::from(entry.valid);
        match entry.class {
            Class::Victim => self.victims += 1,
            Class::Brittle => self.brittles += 1,
            Class::NonDeterministic => self.non_deterministic += 1,
            Class::Stable | Class::Invalid => {}
        }
        if entry.class.is_order_dependent() {
            self.order_dependent += 1;
            let kind = entry.failure.as_ref().map(|shown| shown.kind);
            if kind == Some(FailureKind::Assertion) {
                self.assertion_failures += 1;
            } else {
                self.other_failures += 1;
            }
        }
    }

    /// Those of one more test.
    fn join(&mut self, test: &Totals) {
        self.mutants += test.mutants;
        self.valid += test.valid;
        self.order_dependent += test.order_dependent;
        self.victims += test.victims;
        self.brittles += test.brittles;
        self.non_deterministic += test.non_deterministic;
        self.assertion_failures += test.assertion_failures;
        self.other_failures += test.other_failures;
    }
}

/// What mutants came to.
#[derive(Debug, Clone, Default)]
pub struct Counted {
    /// By the test of their entries.
    by_test: BTreeMap<String, Totals>,
    /// Tests that any of them makes depend on the order: a mutant has one entry, and may do so to many tests.
    affected: BTreeSet<String>,
}

impl Counted {
    pub(crate) fn take(&mut self, entry: &Entry) {
        self.by_test
            .entry(entry.test.clone())
            .or_default()
            .add(entry);
        if entry.class.is_order_dependent() {
            self.affected.insert(entry.test.clone());
            self.affected.extend(entry.also.iter().cloned());
        }
    }
}

/// One test class; the functions of a file count as one.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassRow {
    pub class: String,
    /// Tests, stable or not.
    pub size: u64,
    pub shared_fields: u64,
    pub fixture: bool,
    /// How long its tests take, alone, in seconds.
    pub seconds: f64,
    pub totals: Totals,
}

/// What goes with order-dependent mutants, over classes.
#[derive(Debug, Clone)]
pub struct Relations {
    pub size: Option<Spearman>,
    pub shared_fields: Option<Spearman>,
    /// Classes with a fixture against those without.
    pub fixture: Option<MannWhitney>,
    pub fixture_effect: Option<CliffDelta>,
}

#[derive(Debug, Clone)]
pub struct Metrics {
    pub totals: Totals,
    pub classes: Vec<ClassRow>,
    pub classes_affected: u64,
    pub relations: Relations,
}

impl Metrics {
    pub fn new(injection: &Injection, suite: &Suite, tree: &dyn Tree) -> Self {
        let mut rows: BTreeMap<String, ClassRow> = BTreeMap::new();
        let mut totals = Totals {
            stable_tests: injection.selection.stable.len() as u64,
            ..Totals::default()
        };
        for test in suite.indices() {
            let id = suite.id(test).to_string();
            let stable = injection.selection.stable.contains(&test);
            let affected = stable && injection.counted.affected.contains(&id);
            totals.tests_affected += u64::from(affected);
            let Some(place) = Place::of(&id) else {
                continue;
            };
            let name = class_of(&place);
            let row = rows
                .entry(name.clone())
                .or_insert_with(|| described(name, &place, tree));
            row.size += 1;
            let micros = injection.selection.micros.get(&test).copied();
            row.seconds += f64::from(micros.unwrap_or_default()) / 1e6;
            row.totals.stable_tests += u64::from(stable);
            row.totals.tests_affected += u64::from(affected);
        }
        for (test, found) in &injection.counted.by_test {
            totals.join(found);
            if let Some(row) = Place::of(test).and_then(|place| rows.get_mut(&class_of(&place))) {
                row.totals.join(found);
            }
        }
        let classes: Vec<ClassRow> = rows.into_values().collect();
        Self {
            totals,
            classes_affected: classes
                .iter()
                .filter(|row| row.totals.order_dependent + row.totals.tests_affected > 0)
                .count() as u64,
            relations: relations(&classes),
            classes,
        }
    }
}

fn described(class: String, place: &Place, tree: &dyn Tree) -> ClassRow {
    let source = tree.read(&place.file).and_then(|text| Source::parse(&text));
    let path = place.class_path();
    let (shared_fields, fixture) = source.map_or((0, false), |source| {
        let own = |fixture: &Vec<String>| {
            let classes: Vec<&str> = fixture[..fixture.len() - 1]
                .iter()
                .map(String::as_str)
                .collect();
            path.starts_with(&classes)
        };
        (
            source.shared_fields(&path) as u64,
            source.fixtures().iter().any(own),
        )
    });
    ClassRow {
        class,
        size: 0,
        shared_fields,
        fixture,
        seconds: 0.0,
        totals: Totals::default(),
    }
}

fn relations(classes: &[ClassRow]) -> Relations {
    let used: Vec<&ClassRow> = classes
        .iter()
        .filter(|row| row.totals.stable_tests > 0)
        .collect();
    let of = |get: &dyn Fn(&ClassRow) -> f64| -> Vec<f64> { used.iter().map(|r| get(r)).collect() };
    let injected = of(&|row| row.totals.order_dependent as f64);
    let part = |fixture: bool| -> Vec<f64> {
        let rows = used.iter().filter(|row| row.fixture == fixture);
        rows.map(|row| row.totals.order_dependent as f64).collect()
    };
    let (with, without) = (part(true), part(false));
    Relations {
        size: spearman(&of(&|row| row.size as f64), &injected, CONFIDENCE),
        shared_fields: spearman(&of(&|row| row.shared_fields as f64), &injected, CONFIDENCE),
        fixture: mann_whitney(&with, &without),
        fixture_effect: cliff_delta(&with, &without, CONFIDENCE),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flakelab_lab::Spent;
    use flakelab_model::{TestIndex, Timeout};

    use super::*;
    use crate::select::Selection;

    struct Nothing;

    impl Tree for Nothing {
        fn read(&self, _: &str) -> Option<String> {
            None
        }
    }

    fn entry(test: &str, also: &[&str], class: &str) -> Entry {
        let entry = serde_json::json!({
            "id": "m", "test": test, "also": also, "file": "t.py", "line": 1, "statement": "x()",
            "valid": true, "class": class,
        });
        serde_json::from_value(entry).expect("an entry")
    }

    /// One deletion in an inherited test makes four tests depend on the order; another one adds none, and one is stable.
    #[test]
    fn every_test_that_a_mutant_affects_counts_once() {
        let ids = ["A::test_x", "B::test_x", "B::test_x[1]", "test_y", "test_z"];
        let suite = Suite::new(ids.map(|id| format!("t.py::{id}")));
        let mut counted = Counted::default();
        for (test, also, class) in [
            (
                "t.py::A::test_x",
                &["t.py::B::test_x", "t.py::B::test_x[1]", "t.py::test_y"][..],
                "victim",
            ),
            ("t.py::A::test_x", &["t.py::B::test_x"], "brittle"),
            ("t.py::test_z", &[], "stable"),
        ] {
            counted.take(&entry(test, also, class));
        }
        let minute = Duration::from_secs(60);
        let injection = Injection {
            selection: Selection {
                // All but `test_y`, which was not stable before.
                stable: [0, 1, 2, 4].map(TestIndex).to_vec(),
                excluded: Vec::new(),
                orders: Vec::new(),
                timeout: Timeout {
                    test: minute,
                    run: minute,
                },
                micros: BTreeMap::new(),
            },
            counted,
            without_code: Vec::new(),
            evaluation: Spent::default(),
        };
        let metrics = Metrics::new(&injection, &suite, &Nothing);
        let totals = &metrics.totals;
        assert_eq!((totals.tests_affected, totals.stable_tests), (3, 4));
        assert_eq!(totals.order_dependent, 2);
        assert_eq!(metrics.classes_affected, 2);
    }
}
