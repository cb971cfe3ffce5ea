//! Table I of the paper: effectiveness, characteristics, and what makes classes receptive.

use std::collections::BTreeMap;

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
    /// Stable tests with an order-dependent mutant.
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
        self.tests_affected += u64::from(test.order_dependent > 0);
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
        for test in suite.indices() {
            let id = suite.id(test).to_string();
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
            row.totals.stable_tests += u64::from(injection.selection.stable.contains(&test));
        }
        let mut totals = Totals {
            stable_tests: injection.selection.stable.len() as u64,
            ..Totals::default()
        };
        for (test, found) in &injection.by_test {
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
                .filter(|row| row.totals.order_dependent > 0)
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
