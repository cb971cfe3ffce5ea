//! The document of `flakelab detect`. Fields are only ever added within a major version.

use std::borrow::Cow;
use std::collections::BTreeMap;

use flakelab_model::{Class, Phase};
use serde::{Deserialize, Serialize};

/// A word of flakelab's own, or what a document in the store has in its place.
pub type Word = Cow<'static, str>;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Document {
    pub schema: Schema,
    pub flakelab: String,
    pub tests: Vec<Test>,
    pub campaign: Campaign,
    pub confidence: Confidence,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Schema {
    pub name: Word,
    pub version: Word,
}

impl Schema {
    pub const DETECT: Schema = Schema {
        name: Word::Borrowed("flakelab.detect"),
        version: Word::Borrowed("1.0"),
    };
    pub const EXPLAIN: Schema = Schema {
        name: Word::Borrowed("flakelab.explain"),
        version: Word::Borrowed("1.0"),
    };
    pub const FIX: Schema = Schema {
        name: Word::Borrowed("flakelab.fix"),
        version: Word::Borrowed("1.0"),
    };
    pub const INJECT: Schema = Schema {
        name: Word::Borrowed("flakelab.inject"),
        version: Word::Borrowed("1.0"),
    };
    pub const FILTER: Schema = Schema {
        name: Word::Borrowed("flakelab.filter"),
        version: Word::Borrowed("1.0"),
    };
    pub const TUNE: Schema = Schema {
        name: Word::Borrowed("flakelab.tune"),
        version: Word::Borrowed("1.0"),
    };
    pub const MEASURE: Schema = Schema {
        name: Word::Borrowed("flakelab.measure"),
        version: Word::Borrowed("1.0"),
    };
    pub const DOCTOR: Schema = Schema {
        name: Word::Borrowed("flakelab.doctor"),
        version: Word::Borrowed("1.0"),
    };
    pub const HISTORY: Schema = Schema {
        name: Word::Borrowed("flakelab.history"),
        version: Word::Borrowed("1.0"),
    };
    pub const MUTATE: Schema = Schema {
        name: Word::Borrowed("flakelab.mutate"),
        version: Word::Borrowed("1.0"),
    };
    pub const MUTATE_SIMULATE: Schema = Schema {
        name: Word::Borrowed("flakelab.mutate.simulate"),
        version: Word::Borrowed("1.0"),
    };
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Test {
    pub id: String,
    pub class: Class,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Class>,
    /// Over the random orders.
    pub failure_rate: Rate,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<Reproduce>,
    /// Tests after which it passes, itself last; for a test that fails alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passing_order: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

impl Test {
    /// Whether the order plays a part in a test that varies by chance.
    pub fn order_plays_a_part(&self) -> bool {
        self.evidence
            .as_ref()
            .is_some_and(|e| e.order_effect_p_value.is_some())
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Rate {
    pub failed: u64,
    pub of: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// The exact (Clopper-Pearson) 95 % interval.
    pub low: f64,
    pub high: f64,
}

impl Rate {
    pub fn new(failed: u64, of: u64) -> Self {
        let interval = flakelab_stats::clopper_pearson(failed, of, 0.95);
        Self {
            failed,
            of,
            rate: (of > 0).then(|| failed as f64 / of as f64),
            low: interval.low,
            high: interval.high,
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Failure {
    pub phase: Phase,
    pub message: String,
    pub at: String,
    pub signature: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Reproduce {
    /// For a POSIX shell, in the project's directory.
    pub command: String,
    /// Whether flakelab saw this very command fail in a fresh interpreter.
    pub verified: bool,
    /// The tests it runs, in order.
    pub order: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash_seed: Option<u32>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Evidence {
    /// Executions in reruns of orders it had passed and failed in.
    pub reruns: Counts,
    /// Fresh interpreters, alone.
    pub isolated: Counts,
    /// Fresh interpreters, for the other side of the verdict.
    pub confirmed: Counts,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_effect_p_value: Option<f64>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Counts {
    pub passed: u64,
    pub failed: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Campaign {
    pub seed: u64,
    pub orders: u64,
    pub orders_by_kind: BTreeMap<String, u64>,
    pub runs: u64,
    pub executions: u64,
    pub processes: u64,
    pub cpu_seconds: f64,
    pub wall_seconds: f64,
    pub jobs: usize,
    pub python: String,
    pub pytest: String,
    pub plugins: Vec<String>,
    pub silenced_plugins: Vec<String>,
    /// `fork`, or `cold` where every run got an interpreter of its own.
    pub isolation: Word,
    pub sandbox: Word,
    pub out_of_budget: bool,
    pub collection_errors: Vec<CollectionError>,
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CollectionError {
    pub id: String,
    pub message: String,
}

/// What a clean result is worth.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Confidence {
    pub random_orders: u64,
    pub miss_probability: f64,
    /// A test that fails in at least this share of orders is missed with that probability at most.
    pub detectable_rate: f64,
    pub statement: String,
}

impl Confidence {
    /// At the 1 % of the literature.
    pub fn new(random_orders: u64) -> Self {
        let miss_probability = 0.01;
        let detectable_rate = flakelab_stats::detectable_rate(miss_probability, random_orders);
        let statement = if random_orders == 0 {
            "no random order was run: nothing can be said about tests that were not seen to vary"
                .into()
        } else {
            format!(
                "an order-dependent test that fails in at least {} % of orders would have been missed with probability 1 %",
                crate::wording::percent(detectable_rate)
            )
        };
        Self {
            random_orders,
            miss_probability,
            detectable_rate,
            statement,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_orders_are_worth_4_5_percent() {
        let statement = Confidence::new(100).statement;
        assert_eq!(
            statement,
            "an order-dependent test that fails in at least 4.5 % of orders would have been missed with probability 1 %"
        );
        assert!(Confidence::new(0).statement.starts_with("no random order"));
    }
}
