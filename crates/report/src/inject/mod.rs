//! The document of `flakelab inject`: table I of the FLAKER paper, per project and per class. Fields are only
//! ever added within a major version.

mod dataset;
mod page;
mod terminal;

use serde::{Deserialize, Serialize};

use crate::detect::{Schema, Word};

pub use dataset::{csv, readme};
pub use page::page;
pub(crate) use page::part;
pub use terminal::{Evaluated, evaluated, terminal, verified};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Document {
    pub schema: Schema,
    pub flakelab: String,
    pub project: String,
    pub totals: Totals,
    /// Of test classes; the functions of a file count as one.
    pub classes_affected: u64,
    pub classes: Vec<ClassRow>,
    pub relations: Relations,
    pub excluded: Vec<Excluded>,
    pub campaign: Campaign,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
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

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ClassRow {
    pub class: String,
    pub size: u64,
    pub shared_fields: u64,
    pub fixture: bool,
    pub seconds: f64,
    #[serde(flatten)]
    pub totals: Totals,
}

/// A coefficient with its interval and the chance of seeing it for nothing.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Coefficient {
    pub value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub magnitude: Option<Word>,
}

/// What goes with order-dependent mutants, over classes; `null` where there are too few of them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Relations {
    /// Spearman's rho.
    pub class_size: Option<Coefficient>,
    pub shared_fields: Option<Coefficient>,
    /// Mann-Whitney's U, classes with a fixture against those without.
    pub fixture: Option<Coefficient>,
    /// Cliff's delta for the same.
    pub fixture_effect: Option<Coefficient>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Excluded {
    pub test: String,
    pub why: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Campaign {
    pub seed: u64,
    pub reruns: u32,
    pub orders: usize,
    pub scope: Word,
    pub include_fixtures: bool,
    /// Orders run with a mutant in place, and their CPU time; without what came from the store.
    pub evaluations: u64,
    pub evaluation_cpu_seconds: f64,
    pub wall_seconds: f64,
    pub python: String,
    pub pytest: String,
}

/// `of` as a share of `all`, in per cent.
pub(super) fn percent(of: u64, all: u64) -> String {
    if all == 0 {
        return "–".into();
    }
    format!("{:.1} %", of as f64 * 100.0 / all as f64)
}

/// Table I: what it is called, and its value.
pub(super) fn rows(document: &Document) -> Vec<(&'static str, String)> {
    let t = &document.totals;
    let classes = document
        .classes
        .iter()
        .filter(|row| row.totals.stable_tests > 0)
        .count() as u64;
    vec![
        ("stable tests", t.stable_tests.to_string()),
        ("mutants", t.mutants.to_string()),
        ("valid mutants", t.valid.to_string()),
        ("order-dependent mutants", t.order_dependent.to_string()),
        (
            "order-dependent, of valid mutants",
            percent(t.order_dependent, t.valid),
        ),
        (
            "order-dependent mutants for each stable test",
            if t.stable_tests == 0 {
                "–".into()
            } else {
                format!("{:.2}", t.order_dependent as f64 / t.stable_tests as f64)
            },
        ),
        (
            "% OD tests: stable tests with one",
            percent(t.tests_affected, t.stable_tests),
        ),
        (
            "% OD classes: test classes with one",
            percent(document.classes_affected, classes),
        ),
        ("% victims", percent(t.victims, t.order_dependent)),
        ("% brittles", percent(t.brittles, t.order_dependent)),
        (
            "% assertion: fail by an assertion",
            percent(t.assertion_failures, t.order_dependent),
        ),
        (
            "% exceptions: fail by another exception",
            percent(t.other_failures, t.order_dependent),
        ),
        (
            "run time for each class",
            if classes == 0 {
                "–".into()
            } else {
                format!("{:.1} s", document.campaign.wall_seconds / classes as f64)
            },
        ),
        (
            "run time in all",
            format!("{:.1} s", document.campaign.wall_seconds),
        ),
    ]
}

/// What the statistics say, one line each.
pub(super) fn sayings(document: &Document) -> Vec<String> {
    let r = &document.relations;
    let mut said = Vec::new();
    let p = |c: &Coefficient| c.p.map_or_else(String::new, |p| format!(", p = {p:.3}"));
    let interval = |c: &Coefficient| {
        c.interval.map_or_else(String::new, |[low, high]| {
            format!(" (95 %: {low:.2} to {high:.2})")
        })
    };
    for (what, coefficient) in [
        ("class size", &r.class_size),
        ("shared fields", &r.shared_fields),
    ] {
        said.push(match coefficient {
            Some(c) => format!(
                "{what} against order-dependent mutants: Spearman's rho {:.2}{}{}",
                c.value,
                interval(c),
                p(c)
            ),
            None => format!("{what} against order-dependent mutants: too few different classes"),
        });
    }
    said.push(match (&r.fixture, &r.fixture_effect) {
        (Some(u), Some(delta)) => format!(
            "classes with a fixture against those without: Mann-Whitney U {:.1}{}, Cliff's delta {:.2}{} ({})",
            u.value,
            p(u),
            delta.value,
            interval(delta),
            delta.magnitude.as_deref().unwrap_or("–"),
        ),
        _ => "classes with a fixture against those without: too few of either".into(),
    });
    said
}
