//! Whether a patch holds: in the real files of a view of the project, in fresh interpreters.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use flakelab_lab::orders::{self, Kind};
use flakelab_lab::{Lab, LabError, pristine};
use flakelab_model::{Isolation, Order, Polarity, RunRecord, RunRequest, TestIndex};

use crate::case::Case;
use crate::fix::Settings;
use crate::patch::Change;

/// Labs of the project with some files changed.
pub trait Variants {
    /// `None` if the suite does not collect with these files.
    fn open(&mut self, changes: &[Change]) -> Result<Option<Box<dyn Lab + '_>>, LabError>;
}

/// What was seen with a patch in place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// The test alone, in fresh interpreters.
    pub alone: (u64, u64),
    /// After each known set, in fresh interpreters.
    pub after: Vec<(Vec<String>, u64, u64)>,
    pub default_order: bool,
    /// Random orders.
    pub shuffles: (u64, u64),
    /// Tests that fail now and did not before.
    pub broken: Vec<String>,
}

impl Verified {
    /// The test passes wherever it was asked, and nothing else broke.
    pub fn holds(&self) -> bool {
        let all = |(passed, of): (u64, u64)| passed == of && of > 0;
        all(self.alone)
            && self
                .after
                .iter()
                .all(|(_, passed, of)| passed == of && *of > 0)
            && self.default_order
            && self.shuffles.0 == self.shuffles.1
            && self.broken.is_empty()
    }

    fn holds_after(&self) -> bool {
        self.after.iter().all(|(_, passed, of)| passed == of)
    }

    /// It helps with some of its culprits, and breaks nothing.
    pub fn helps(&self) -> bool {
        let all = |(passed, of): (u64, u64)| passed == of && of > 0;
        all(self.alone)
            && self.broken.is_empty()
            && self
                .after
                .iter()
                .any(|(_, passed, of)| passed == of && *of > 0)
    }
}

/// Tests that the suite itself fails, or that vary anyway: not to be blamed on a patch.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) ids: BTreeSet<String>,
    pub(crate) failing: BTreeSet<String>,
}

pub(crate) fn run(
    lab: &mut dyn Lab,
    batch: &[RunRequest],
) -> Result<Vec<Option<RunRecord>>, LabError> {
    let mut records: Vec<Option<RunRecord>> = vec![None; batch.len()];
    lab.run(batch, &mut |record| {
        let number = record.request;
        records[number] = Some(record);
        ControlFlow::Continue(())
    })?;
    Ok(records)
}

/// Verifies for one test; stops where it cannot hold any more.
pub(crate) fn verify(
    lab: &mut dyn Lab,
    case: &Case,
    known: &Known,
    settings: &Settings,
) -> Result<Verified, LabError> {
    let mut seen = Verified::default();
    let suite = lab.suite().clone();
    let ids: BTreeSet<String> = suite.ids().iter().map(ToString::to_string).collect();
    if ids != known.ids {
        seen.broken = known
            .ids
            .symmetric_difference(&ids)
            .take(5)
            .cloned()
            .collect();
        return Ok(seen);
    }
    let Some(target) = suite.find(&case.test) else {
        return Ok(seen);
    };
    // Forks first: most candidates that do not hold show it at once.
    let sets: Vec<(Vec<String>, Vec<TestIndex>)> = case
        .culprits
        .iter()
        .filter_map(|set| {
            let tests: Option<Vec<TestIndex>> = set.iter().map(|id| suite.find(id)).collect();
            let order = tests?.into_iter().chain([target]).collect();
            Some((set.clone(), order))
        })
        .collect();
    let orders = sets.iter().map(|(_, order)| order.clone());
    let passes = forks(lab, std::iter::once(vec![target]).chain(orders), settings)?;
    if !passes[0] {
        return Ok(seen);
    }
    for ((set, _), passed) in sets.iter().zip(&passes[1..]) {
        seen.after.push((set.clone(), u64::from(*passed), 1));
    }
    if !passes[1..].contains(&true) {
        return Ok(seen);
    }
    sweep(lab, target, settings, &mut seen)?;
    if seen.holds_after() {
        shuffle(lab, target, known, settings, &mut seen)?;
        if !seen.default_order || !seen.broken.is_empty() {
            return Ok(seen);
        }
    }
    seen.alone = ask(lab, &[target], settings)?;
    for ((_, order), answer) in sets.iter().zip(&mut seen.after) {
        if answer.1 == answer.2 {
            let (passed, of) = ask(lab, order, settings)?;
            (answer.1, answer.2) = (passed, of);
        }
    }
    Ok(seen)
}

/// Whether the last test of each order passes, in forks.
fn forks(
    lab: &mut dyn Lab,
    orders: impl Iterator<Item = Vec<TestIndex>>,
    settings: &Settings,
) -> Result<Vec<bool>, LabError> {
    let batch: Vec<RunRequest> = orders
        .map(|order| RunRequest::new(Order(order), Isolation::Fork, settings.timeout))
        .collect();
    Ok(run(lab, &batch)?
        .iter()
        .map(|record| {
            let last = record.as_ref().and_then(|record| record.executions.last());
            last.is_some_and(|last| last.outcome.polarity() == Polarity::Pass)
        })
        .collect())
}

/// Passes among fresh interpreters that run this order, for its last test.
fn ask(
    lab: &mut dyn Lab,
    order: &[TestIndex],
    settings: &Settings,
) -> Result<(u64, u64), LabError> {
    let batch: Vec<RunRequest> = (0..settings.confirmations)
        .map(|nth| {
            let isolation = pristine::isolation(nth);
            RunRequest {
                attempt: nth,
                hash_seed: Some(pristine::hash_seed(settings.seed, isolation, nth)),
                ..RunRequest::new(Order(order.to_vec()), isolation, settings.timeout)
            }
        })
        .collect();
    let records = run(lab, &batch)?;
    let passed = records
        .iter()
        .flatten()
        .filter_map(|record| record.executions.last())
        .filter(|last| last.outcome.polarity() == Polarity::Pass)
        .count();
    Ok((passed as u64, batch.len() as u64))
}

/// The test after every other one, in forks: who pollutes it need not be known to be cured.
fn sweep(
    lab: &mut dyn Lab,
    target: TestIndex,
    settings: &Settings,
    seen: &mut Verified,
) -> Result<(), LabError> {
    let suite = lab.suite().clone();
    let others: Vec<TestIndex> = suite
        .indices()
        .filter(|test| *test != target)
        .take(settings.sweep)
        .collect();
    let orders = others.iter().map(|test| vec![*test, target]);
    let passes = forks(lab, orders, settings)?;
    for (test, passed) in others.iter().zip(passes) {
        let id = suite.id(*test).to_string();
        if !passed && !seen.after.iter().any(|(set, ..)| *set == [id.clone()]) {
            seen.after.push((vec![id], 0, 1));
        }
    }
    Ok(())
}

/// The default order and random ones; what fails and did not before is broken.
fn shuffle(
    lab: &mut dyn Lab,
    target: TestIndex,
    known: &Known,
    settings: &Settings,
    seen: &mut Verified,
) -> Result<(), LabError> {
    let suite = lab.suite().clone();
    let tests: Vec<TestIndex> = suite.indices().collect();
    let mut all = orders::generate(&suite, &tests, Kind::Original, 1, settings.seed);
    for kind in [Kind::Global, Kind::Nested] {
        all.extend(orders::generate(
            &suite,
            &tests,
            kind,
            settings.shuffles / 2,
            settings.seed,
        ));
    }
    let batch: Vec<RunRequest> = all
        .into_iter()
        .map(|order| RunRequest::new(order, Isolation::Fork, settings.timeout))
        .collect();
    let mut broken: BTreeMap<TestIndex, u64> = BTreeMap::new();
    for (number, record) in run(lab, &batch)?.into_iter().flatten().enumerate() {
        for execution in &record.executions {
            let fails = execution.outcome.polarity() == Polarity::Fail;
            if execution.test == target {
                if number == 0 {
                    seen.default_order = !fails;
                } else {
                    seen.shuffles.1 += 1;
                    seen.shuffles.0 += u64::from(!fails);
                }
            } else if fails && !known.failing.contains(suite.id(execution.test).as_str()) {
                *broken.entry(execution.test).or_default() += 1;
            }
        }
    }
    seen.broken = broken
        .into_keys()
        .map(|test| suite.id(test).to_string())
        .collect();
    Ok(())
}
