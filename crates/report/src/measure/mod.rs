//! The document of `flakelab measure`, and its views. Fields are only ever added within a major version.

mod csv;
#[cfg(test)]
pub(crate) mod example;
mod page;
mod sayings;
mod terminal;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::detect::{Schema, Word};

pub use csv::csv;
pub use page::page;
pub(crate) use page::part;
pub(crate) use sayings::{margin, most_varying};
pub use terminal::terminal;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Document {
    pub schema: Schema,
    pub flakelab: String,
    pub project: String,
    pub environment: Environment,
    pub layers: Vec<Word>,
    /// Those with two runs at least, as they were planned.
    pub configurations: Vec<Configuration>,
    /// The name of the one under control, with which the others are compared. It may have had too few runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The largest share first.
    pub factors: Vec<FactorEffect>,
    /// Numeric comparisons that held every time, by less than they vary.
    pub latent: Vec<Latent>,
    pub unavailable: Vec<Unavailable>,
    pub notes: Vec<String>,
    pub campaign: Campaign,
}

/// What the base is called in documents that do not say it.
const BASES: [&str; 2] = ["controlled", "best"];

impl Document {
    /// The configuration under control.
    pub(crate) fn base(&self) -> Option<&Configuration> {
        let named = |name: &str| self.configurations.iter().find(|c| c.name == name);
        match &self.base {
            Some(name) => named(name),
            None => BASES.into_iter().find_map(named),
        }
    }
}

/// What the runs had in common.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Environment {
    pub os: String,
    pub arch: Word,
    pub cpus: usize,
    pub python: String,
    pub pytest: String,
    pub plugins: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// Runs under the same settings, or with one factor varied.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Configuration {
    pub name: String,
    /// For every factor its setting; several, separated by ` | `, where it was varied.
    pub settings: BTreeMap<String, String>,
    pub runs: usize,
    pub layers: Vec<Layer>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Layer {
    pub layer: Word,
    pub suite: Flakiness,
    pub average: Average,
    /// Percent of later runs of tests that differ from the first run, equation 4.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub false_positives: Option<f64>,
    pub tests: Vec<Test>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Flakiness {
    /// In nats, equation 3.1.
    pub entropy: f64,
    /// Elements that differ between any two runs, definition 4.
    pub range: usize,
    /// How many runs were alike, the largest group first.
    pub groups: Vec<usize>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Average {
    pub entropy: f64,
    pub range: f64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Test {
    pub id: String,
    #[serde(flatten)]
    pub flakiness: Flakiness,
    /// Those that differ, the most unstable first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elements: Vec<Element>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Element {
    pub element: String,
    pub entropy: f64,
    /// The most frequent first; bounded.
    pub values: Vec<Seen>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Seen {
    /// `None`: the element was not there.
    pub value: Option<String>,
    pub runs: usize,
}

/// What one factor does at one layer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FactorEffect {
    pub factor: Word,
    pub layer: Word,
    pub levels: Vec<String>,
    /// Of the entropy in runs that differ in nothing but this factor, how much it explains beyond chance: 0 to 1.
    pub effect: f64,
    /// Of the permutation test.
    pub p: f64,
    /// Of the layer's entropy in the runs that differ in nothing but this factor, what goes with it: test by test, for
    /// those that are named.
    pub share: f64,
    /// Nats explained, summed over tests.
    pub entropy: f64,
    /// Nats in the same runs that were not; `None` in documents of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unexplained: Option<f64>,
    /// Average entropy and range of tests with the factor varied, less that of the controlled runs, where both were run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entropy_change: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range_change: Option<f64>,
    /// Those whose own permutation test says so, the most affected first.
    pub tests: Vec<Affected>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Affected {
    pub id: String,
    pub effect: f64,
    pub p: f64,
    /// The elements that vary with it, the most unstable first; bounded.
    pub elements: Vec<String>,
    /// What the first of them was under each setting.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Level>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Level {
    pub setting: String,
    /// The most frequent one; `None`: it was not there.
    pub value: Option<String>,
    /// How many others there were.
    pub others: usize,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Latent {
    pub test: String,
    pub element: String,
    pub configuration: String,
    /// The smallest margin that was seen.
    pub smallest: f64,
    pub mean: f64,
    /// Standard deviation over runs.
    pub spread: f64,
    pub runs: usize,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Unavailable {
    pub factor: Word,
    pub why: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Campaign {
    pub seed: u64,
    /// Asked for, of each configuration.
    pub runs: u32,
    pub total_runs: usize,
    pub tests: usize,
    pub cpu_seconds: f64,
    pub wall_seconds: f64,
}
