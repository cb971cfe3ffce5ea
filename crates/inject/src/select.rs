//! Step 1: the tests that pass alone every time, and in every order.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

use flakelab_lab::orders::{self, Kind};
use flakelab_lab::{Journal, Lab, LabError, patience, pristine};
use flakelab_model::{
    Isolation, Order, Polarity, RunRecord, RunRequest, Suite, TestIndex, Timeout,
};
use serde::{Deserialize, Serialize};

use crate::settings::{Settings, Stage, Watch};

/// Tests whose reruns are asked for at once.
const CHUNK: usize = 50;
/// Every so manieth test is also run in an interpreter started for it.
const COLD_SAMPLE: usize = 10;
/// A test gets at least this long before it counts as hung.
const LEAST_PATIENCE: Duration = Duration::from_secs(5);

/// A test that is not stable, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excluded {
    pub test: String,
    pub why: String,
}

#[derive(Debug, Clone)]
pub struct Selection {
    pub stable: Vec<TestIndex>,
    pub excluded: Vec<Excluded>,
    /// The orders, the same for every mutant.
    pub orders: Vec<Order>,
    /// What a mutant must not exceed either.
    pub timeout: Timeout,
    /// How long each test took, alone.
    pub micros: BTreeMap<TestIndex, u32>,
}

/// How one test did alone.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Alone {
    passed: u32,
    of: u32,
    neutral: bool,
    micros: u32,
}

pub(crate) fn run(
    lab: &mut dyn Lab,
    batch: &[RunRequest],
    mut take: impl FnMut(RunRecord),
) -> Result<(), LabError> {
    lab.run(batch, &mut |record| {
        take(record);
        ControlFlow::Continue(())
    })
}

pub(crate) fn select(
    lab: &mut dyn Lab,
    settings: &Settings,
    journal: &mut dyn Journal,
    watch: &mut dyn Watch,
) -> Result<Selection, LabError> {
    let suite = lab.suite().clone();
    let tests: Vec<TestIndex> = suite.indices().collect();
    let orders = all_orders(&suite, &tests, settings);
    watch.stage(Stage::Select, tests.len() + orders.len());
    let mut alone: BTreeMap<TestIndex, Alone> = BTreeMap::new();
    for (number, chunk) in tests.chunks(CHUNK).enumerate() {
        let key = format!("select/{number:05}");
        let known: Option<Vec<(u32, Alone)>> = journal
            .get(&key)
            .and_then(|text| serde_json::from_str(&text).ok());
        let found = match known {
            Some(found) => found,
            None => {
                let found = reruns(lab, chunk, settings, watch)?;
                let text = serde_json::to_string(&found).unwrap_or_default();
                journal.put(&key, &text)?;
                found
            }
        };
        alone.extend(
            found
                .into_iter()
                .map(|(test, alone)| (TestIndex(test), alone)),
        );
    }
    let slowest = alone.values().map(|a| a.micros).max().unwrap_or_default();
    let mut timeout = settings.timeout;
    if settings.impatient {
        let slowest = Duration::from_micros(slowest.into());
        timeout.test = patience::limit(slowest, LEAST_PATIENCE, timeout.test);
    }
    let restless = restless(lab, &orders, timeout, journal, watch)?;
    let mut excluded = Vec::new();
    let mut stable = Vec::new();
    for test in &tests {
        let why = alone
            .get(test)
            .and_then(|a| a.why(settings.reruns))
            .or_else(|| {
                restless
                    .get(test)
                    .map(|(failed, of)| format!("fails in {failed} of {of} random orders"))
            });
        match why {
            Some(why) => excluded.push(Excluded {
                test: suite.id(*test).to_string(),
                why,
            }),
            None => stable.push(*test),
        }
    }
    Ok(Selection {
        stable,
        excluded,
        orders,
        timeout,
        micros: alone
            .into_iter()
            .map(|(test, a)| (test, a.micros))
            .collect(),
    })
}

impl Alone {
    fn why(&self, reruns: u32) -> Option<String> {
        if self.neutral {
            Some("is skipped".into())
        } else if self.passed == 0 {
            Some("fails alone".into())
        } else if self.passed < self.of || self.of < reruns {
            Some(format!(
                "passes alone in {} of {} runs only",
                self.passed, self.of
            ))
        } else {
            None
        }
    }
}

/// Random orders of every group, as many of each.
fn all_orders(suite: &Suite, tests: &[TestIndex], settings: &Settings) -> Vec<Order> {
    let groups = settings.scope.groups(suite, tests);
    groups
        .iter()
        .filter(|group| group.len() > 1)
        .flat_map(|group| {
            orders::generate(suite, group, Kind::Global, settings.orders, settings.seed)
        })
        .collect()
}

/// Each test alone: forks of zygotes with different hash seeds, a fresh interpreter, and for some an
/// interpreter of their own.
fn reruns(
    lab: &mut dyn Lab,
    tests: &[TestIndex],
    settings: &Settings,
    watch: &mut dyn Watch,
) -> Result<Vec<(u32, Alone)>, LabError> {
    let mut found: BTreeMap<TestIndex, Alone> = BTreeMap::new();
    let mut batch = Vec::new();
    for test in tests {
        for attempt in 0..settings.reruns {
            batch.push(RunRequest {
                attempt,
                ..RunRequest::new(Order(vec![*test]), Isolation::Fork, settings.timeout)
            });
        }
        let isolation = if test.at() % COLD_SAMPLE == 0 {
            Isolation::Cold
        } else {
            Isolation::Fresh
        };
        batch.push(RunRequest {
            attempt: settings.reruns,
            hash_seed: Some(pristine::hash_seed(settings.seed, isolation, test.0)),
            ..RunRequest::new(Order(vec![*test]), isolation, settings.timeout)
        });
    }
    let each = settings.reruns as usize + 1;
    let mut done = 0;
    run(lab, &batch, |record| {
        done += 1;
        if done % each == 0 {
            watch.step();
        }
        let Some(last) = record.executions.last() else {
            return;
        };
        let alone = found.entry(last.test).or_insert(Alone {
            passed: 0,
            of: 0,
            neutral: false,
            micros: 0,
        });
        alone.micros = alone.micros.max(last.micros);
        match last.outcome.polarity() {
            Polarity::Pass => alone.passed += 1,
            Polarity::Fail => {}
            Polarity::Neutral => alone.neutral = true,
        }
        alone.of += 1;
    })?;
    Ok(found
        .into_iter()
        .map(|(test, alone)| (test.0, alone))
        .collect())
}

/// Tests that do not pass in every order: failures, of how many orders.
fn restless(
    lab: &mut dyn Lab,
    orders: &[Order],
    timeout: Timeout,
    journal: &mut dyn Journal,
    watch: &mut dyn Watch,
) -> Result<BTreeMap<TestIndex, (u32, u32)>, LabError> {
    let key = "select/orders";
    let known: Option<Vec<(u32, u32, u32)>> = journal
        .get(key)
        .and_then(|text| serde_json::from_str(&text).ok());
    if let Some(known) = known {
        let found = known.into_iter();
        return Ok(found
            .map(|(t, failed, of)| (TestIndex(t), (failed, of)))
            .collect());
    }
    let batch: Vec<RunRequest> = orders
        .iter()
        .map(|order| RunRequest::new(order.clone(), Isolation::Fork, timeout))
        .collect();
    let mut seen: BTreeMap<TestIndex, (u32, u32)> = BTreeMap::new();
    run(lab, &batch, |record| {
        watch.step();
        for execution in &record.executions {
            let entry = seen.entry(execution.test).or_default();
            entry.1 += 1;
            if execution.outcome.polarity() != Polarity::Pass {
                entry.0 += 1;
            }
        }
    })?;
    seen.retain(|_, (failed, _)| *failed > 0);
    let text: Vec<(u32, u32, u32)> = seen.iter().map(|(t, (f, of))| (t.0, *f, *of)).collect();
    journal.put(key, &serde_json::to_string(&text).unwrap_or_default())?;
    Ok(seen)
}
