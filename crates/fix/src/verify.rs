//! Whether a patch holds: in the real files of a view of the project, in fresh interpreters.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use flakelab_lab::{Lab, LabError, pristine};
use flakelab_model::{
    Class, Execution, Isolation, Order, Outcome, RunRecord, RunRequest, TestIndex,
};
use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::fix::Settings;
use crate::known::Known;
use crate::standing::Standing;

/// A test that fails where it passed before is asked so often again: by chance is not by the patch.
const AGAIN: u32 = 2;

/// What was seen with a patch in place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// The test alone, in fresh interpreters.
    pub alone: (u64, u64),
    /// After each known set, in fresh interpreters.
    pub after: Vec<(Vec<String>, u64, u64)>,
    pub default_order: bool,
    /// Random orders.
    pub shuffles: (u64, u64),
    /// Other tests that were compared with how they were before.
    pub others: u64,
    /// Those that fail now where they passed before.
    pub broken: Vec<String>,
    /// Whether every assertion of the changed files is as it was.
    pub assertions_untouched: bool,
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
            && self.assertions_untouched
    }

    /// What is wrong with a patch that does not hold.
    pub(crate) fn why_not(&self) -> String {
        let open: Vec<String> = self
            .after
            .iter()
            .filter(|(_, passed, of)| passed < of)
            .map(|(set, ..)| set.join(" + "))
            .collect();
        if !self.assertions_untouched {
            "it changes an assertion".into()
        } else if !self.broken.is_empty() {
            format!("it breaks {}", self.broken.join(", "))
        } else if !open.is_empty() {
            format!("the test still fails after {}", open.join(", "))
        } else if self.alone.0 < self.alone.1 || self.after.is_empty() {
            "the test fails alone".into()
        } else if !self.default_order {
            "the test fails in the default order".into()
        } else {
            let (passed, of) = self.shuffles;
            format!("the test passes in {passed} of {of} shuffles only")
        }
    }

    fn holds_after(&self) -> bool {
        self.after.iter().all(|(_, passed, of)| passed == of)
    }

    /// It helps with some of its culprits, and breaks nothing.
    pub fn helps(&self) -> bool {
        let all = |(passed, of): (u64, u64)| passed == of && of > 0;
        all(self.alone)
            && self.broken.is_empty()
            && self.assertions_untouched
            && self
                .after
                .iter()
                .any(|(_, passed, of)| passed == of && *of > 0)
    }
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

/// A set of tests, and the order of them that ends with the one that is to be fixed.
pub(crate) type Set = (Vec<String>, Vec<TestIndex>);

/// The test of a case and its known sets. `None` if there is nothing that a patch could be tried on: one of the tests is not
/// in the suite, or no set is known of a test that fails after others.
pub(crate) fn sets(lab: &dyn Lab, case: &Case) -> Option<(TestIndex, Vec<Set>)> {
    let suite = lab.suite();
    let target = suite.find(&case.test)?;
    let of = |set: &Vec<String>| -> Option<Set> {
        let tests: Option<Vec<TestIndex>> = set.iter().map(|id| suite.find(id)).collect();
        Some((set.clone(), tests?.into_iter().chain([target]).collect()))
    };
    let sets: Vec<Set> = case.culprits.iter().map(of).collect::<Option<_>>()?;
    (case.class == Class::Brittle || !sets.is_empty()).then_some((target, sets))
}

/// Whether the test passes alone and after every known set, in forks: what a candidate must do to be
/// worth more.
pub(crate) fn works(lab: &mut dyn Lab, case: &Case, settings: &Settings) -> Result<bool, LabError> {
    let Some((target, sets)) = sets(lab, case) else {
        return Ok(false);
    };
    let orders = sets.into_iter().map(|(_, order)| order);
    let passes = forks(lab, std::iter::once(vec![target]).chain(orders), settings)?;
    Ok(!passes.contains(&false))
}

/// How every test did in the orders of [`Known`] with a patch in place: the same for whomever it is to fix.
pub(crate) type InOrders = Vec<Vec<(TestIndex, Option<Standing>)>>;

/// Verifies for one test; stops where it cannot hold any more. `plain` says whether the test alone could be
/// collected alone without the patch; `in_orders` is what an earlier test has seen of the same patch.
pub(crate) fn verify(
    lab: &mut dyn Lab,
    case: &Case,
    known: &Known,
    plain: bool,
    in_orders: &mut Option<InOrders>,
    settings: &Settings,
) -> Result<Verified, LabError> {
    let mut seen = Verified::default();
    let suite = lab.suite().clone();
    let ids: Vec<String> = suite.ids().iter().map(ToString::to_string).collect();
    if ids != known.ids {
        let (now, before): (BTreeSet<&String>, BTreeSet<&String>) =
            (ids.iter().collect(), known.ids.iter().collect());
        seen.broken = before
            .symmetric_difference(&now)
            .take(5)
            .map(|id| (*id).clone())
            .collect();
        if seen.broken.is_empty() {
            seen.broken.push("the order of the suite".into());
        }
        return Ok(seen);
    }
    let Some((target, sets)) = sets(lab, case) else {
        return Ok(seen);
    };
    // Forks first: most candidates that do not hold show it at once.
    let orders = sets.iter().map(|(_, order)| order.clone());
    let passes = forks(lab, std::iter::once(vec![target]).chain(orders), settings)?;
    if !passes[0] {
        return Ok(seen);
    }
    for ((set, _), passed) in sets.iter().zip(&passes[1..]) {
        seen.after.push((set.clone(), u64::from(*passed), 1));
    }
    if !sets.is_empty() && !passes[1..].contains(&true) {
        return Ok(seen);
    }
    let mut compared = BTreeSet::new();
    let mut suspects = sweep(lab, target, known, settings, &mut seen, &mut compared)?;
    if seen.holds_after() {
        let outcomes = match in_orders {
            Some(outcomes) => outcomes,
            none => none.insert(shuffle(lab, known, settings)?),
        };
        suspects.extend(compare(outcomes, target, known, &mut seen, &mut compared));
        if !seen.default_order {
            return Ok(seen);
        }
    }
    seen.others = compared.len() as u64;
    seen.broken = broken(lab, suspects, settings)?;
    if !seen.broken.is_empty() {
        return Ok(seen);
    }
    seen.alone = ask(lab, &[target], plain, settings)?;
    for ((_, order), answer) in sets.iter().zip(&mut seen.after) {
        if answer.1 == answer.2 {
            let (passed, of) = ask(lab, order, false, settings)?;
            (answer.1, answer.2) = (passed, of);
        }
    }
    Ok(seen)
}

/// Whether the last test of each order passes, in forks.
pub(crate) fn forks(
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
            last.is_some_and(|last| passed(&last.outcome))
        })
        .collect())
}

/// What a fresh interpreter makes of a test that it is asked for alone.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Alone {
    /// It collects the test alone: a file that only imports when others were imported before it does not.
    pub(crate) plain: bool,
    /// Whatever breaks such a test would look like a fix.
    pub(crate) expected_to_fail: bool,
}

pub(crate) fn alone(lab: &mut dyn Lab, test: &str, settings: &Settings) -> Result<Alone, LabError> {
    let Some(test) = lab.suite().find(test) else {
        return Ok(Alone::default());
    };
    let request = RunRequest::new(Order(vec![test]), Isolation::Fresh, settings.timeout);
    let Some(record) = run(lab, &[request])?.pop().flatten() else {
        return Ok(Alone::default());
    };
    let expected_to_fail =
        |execution: &Execution| matches!(execution.outcome, Outcome::Xfailed | Outcome::Xpassed);
    Ok(Alone {
        plain: record.plain,
        expected_to_fail: record.executions.iter().any(expected_to_fail),
    })
}

/// Passes among fresh interpreters that run this order, for its last test. With `plain`, only where nothing
/// but the order was collected.
pub(crate) fn ask(
    lab: &mut dyn Lab,
    order: &[TestIndex],
    plain: bool,
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
        .filter(|record| record.plain || !plain)
        .filter_map(|record| record.executions.last())
        .filter(|last| self::passed(&last.outcome))
        .count();
    Ok((passed as u64, batch.len() as u64))
}

/// A test that stands worse in an order, up to its place there, than it did before.
struct Suspect {
    test: TestIndex,
    order: Vec<TestIndex>,
    before: Standing,
}

/// A test that is skipped or may fail has not passed: whoever calls a helper that says so would look cured.
fn passed(outcome: &Outcome) -> bool {
    Standing::of(outcome) == Some(Standing::Passed)
}

/// The test after every other one, in forks: who pollutes it need not be known to be cured. The other one
/// runs first, so it must do as it did alone.
fn sweep(
    lab: &mut dyn Lab,
    target: TestIndex,
    known: &Known,
    settings: &Settings,
    seen: &mut Verified,
    compared: &mut BTreeSet<TestIndex>,
) -> Result<Vec<Suspect>, LabError> {
    let suite = lab.suite().clone();
    let others: Vec<TestIndex> = suite
        .indices()
        .filter(|test| *test != target)
        .take(settings.sweep)
        .collect();
    let batch: Vec<RunRequest> = others
        .iter()
        .map(|test| {
            let order = Order(vec![*test, target]);
            RunRequest::new(order, Isolation::Fork, settings.timeout)
        })
        .collect();
    let mut suspects = Vec::new();
    for (test, record) in others.iter().zip(run(lab, &batch)?) {
        let executions = record.map(|record| record.executions).unwrap_or_default();
        let of = |wanted: TestIndex| executions.iter().find(|e| e.test == wanted);
        let now = of(*test).and_then(|e| Standing::of(&e.outcome));
        if let Some((now, before)) = now.zip(known.stood_alone(*test)) {
            compared.insert(*test);
            if now < before {
                suspects.push(Suspect {
                    test: *test,
                    order: vec![*test],
                    before,
                });
            }
        }
        let passed = of(target).is_some_and(|e| passed(&e.outcome));
        let id = suite.id(*test).to_string();
        if !passed && !seen.after.iter().any(|(set, ..)| *set == [id.clone()]) {
            seen.after.push((vec![id], 0, 1));
        }
    }
    Ok(suspects)
}

/// The default order and random ones, as they were run without the patch.
fn shuffle(lab: &mut dyn Lab, known: &Known, settings: &Settings) -> Result<InOrders, LabError> {
    let batch: Vec<RunRequest> = known
        .orders
        .iter()
        .map(|order| RunRequest::new(order.clone(), Isolation::Fork, settings.timeout))
        .collect();
    let records = run(lab, &batch)?.into_iter();
    Ok(records
        .map(|record| {
            let executions = record.map(|r| r.executions).unwrap_or_default();
            let standing = |e: Execution| (e.test, Standing::of(&e.outcome));
            executions.into_iter().map(standing).collect()
        })
        .collect())
}

/// The test must pass in every order, and the others where they passed before.
fn compare(
    outcomes: &InOrders,
    target: TestIndex,
    known: &Known,
    seen: &mut Verified,
    compared: &mut BTreeSet<TestIndex>,
) -> Vec<Suspect> {
    let mut suspects: Vec<Suspect> = Vec::new();
    for (number, order) in outcomes.iter().enumerate() {
        for (at, (test, standing)) in order.iter().enumerate() {
            if *test == target {
                let passed = *standing == Some(Standing::Passed);
                if number == 0 {
                    seen.default_order = passed;
                } else {
                    seen.shuffles.1 += 1;
                    seen.shuffles.0 += u64::from(passed);
                }
            } else if let Some((now, before)) = standing.zip(known.stood(number, *test)) {
                compared.insert(*test);
                if now < before {
                    let order = known.orders[number].0.iter().take(at + 1);
                    suspects.push(Suspect {
                        test: *test,
                        order: order.copied().collect(),
                        before,
                    });
                }
            }
        }
    }
    suspects
}

/// Those of the suspects that stand worse again, every time. One order each is enough.
fn broken(
    lab: &mut dyn Lab,
    mut suspects: Vec<Suspect>,
    settings: &Settings,
) -> Result<Vec<String>, LabError> {
    suspects.sort_by_key(|suspect| (suspect.test, suspect.order.len()));
    suspects.dedup_by_key(|suspect| suspect.test);
    let mut found = Vec::new();
    for Suspect {
        test,
        order,
        before,
    } in suspects
    {
        let batch: Vec<RunRequest> = (0..AGAIN)
            .map(|attempt| RunRequest {
                attempt,
                ..RunRequest::new(Order(order.clone()), Isolation::Fork, settings.timeout)
            })
            .collect();
        let fails = run(lab, &batch)?.into_iter().flatten().all(|record| {
            let last = record.executions.iter().rfind(|e| e.test == test);
            let now = last.and_then(|e| Standing::of(&e.outcome));
            now.is_some_and(|now| now < before)
        });
        if fails {
            found.push(lab.suite().id(test).to_string());
        }
    }
    Ok(found)
}
