//! How the suite behaves without any patch: what a patch must not change for the worse.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use flakelab_lab::orders::{self, Kind};
use flakelab_lab::{Lab, LabError, patience};
use flakelab_model::{Isolation, Order, Outcome, RunRecord, RunRequest, TestIndex, Timeout};

use crate::fix::Settings;
use crate::standing::Standing;
use crate::verify::run;

/// A test gets at least this long before it counts as hung.
const LEAST_PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) ids: Vec<String>,
    /// The default order, then random ones.
    pub(crate) orders: Vec<Order>,
    /// Tests that stand well, by order.
    passing: Vec<BTreeMap<TestIndex, Standing>>,
    /// Tests that pass in some of the orders only. Which ones, others decide, and a patch may change that.
    dependent: BTreeSet<TestIndex>,
    /// Tests that stand well alone.
    alone: BTreeMap<TestIndex, Standing>,
    /// What a patch must not exceed either.
    pub(crate) timeout: Timeout,
}

impl Known {
    /// `restless` tests are known to vary whatever the order, and are not to be judged.
    pub(crate) fn learn(
        lab: &mut dyn Lab,
        restless: &BTreeSet<String>,
        settings: &Settings,
    ) -> Result<Self, LabError> {
        let suite = lab.suite().clone();
        let tests: Vec<TestIndex> = suite.indices().collect();
        let seed = settings.seed;
        let mut all = orders::generate(&suite, &tests, Kind::Original, 1, seed);
        for (kind, count) in [
            (Kind::Global, settings.shuffles.div_ceil(2)),
            (Kind::Nested, settings.shuffles / 2),
        ] {
            all.extend(orders::generate(&suite, &tests, kind, count, seed));
        }
        let mut known = Self {
            ids: suite.ids().iter().map(ToString::to_string).collect(),
            orders: Vec::new(),
            passing: Vec::new(),
            dependent: BTreeSet::new(),
            alone: BTreeMap::new(),
            timeout: settings.timeout,
        };
        let calm = |test: TestIndex| !restless.contains(suite.id(test).as_str());
        let mut seen: Vec<BTreeMap<TestIndex, Option<Standing>>> = vec![BTreeMap::new(); all.len()];
        let request =
            |number: usize, timeout| RunRequest::new(all[number].clone(), Isolation::Fork, timeout);
        let mut take = |number: usize, record: RunRecord| {
            let mut slowest = 0;
            for execution in record.executions {
                slowest = slowest.max(execution.micros);
                let standing = good(&execution.outcome).filter(|_| calm(execution.test));
                seen[number].insert(execution.test, standing);
            }
            Duration::from_micros(slowest.into())
        };
        // The default order tells how long tests take; in other orders they may hang.
        known.timeout = settings.timeout;
        for record in run(lab, &[request(0, settings.timeout)])?
            .into_iter()
            .flatten()
        {
            let slowest = take(0, record);
            if settings.impatient {
                let most = settings.timeout.test;
                known.timeout.test = patience::limit(slowest, LEAST_PATIENCE, most);
            }
        }
        let batch: Vec<RunRequest> = (1..all.len())
            .map(|number| request(number, known.timeout))
            .collect();
        for record in run(lab, &batch)?.into_iter().flatten() {
            take(record.request + 1, record);
        }
        let verdict = |wanted: bool| -> BTreeSet<TestIndex> {
            let all = seen.iter().flatten();
            all.filter(|(_, standing)| standing.is_some() == wanted)
                .map(|(test, _)| *test)
                .collect()
        };
        known.dependent = verdict(true)
            .intersection(&verdict(false))
            .copied()
            .collect();
        known.passing = seen
            .into_iter()
            .map(|tests| {
                let tests = tests.into_iter();
                tests
                    .filter_map(|(test, standing)| Some((test, standing?)))
                    .collect()
            })
            .collect();
        let singles: Vec<RunRequest> = tests
            .iter()
            .filter(|test| calm(**test))
            .take(settings.sweep)
            .map(|test| RunRequest::new(Order(vec![*test]), Isolation::Fork, known.timeout))
            .collect();
        for record in run(lab, &singles)?.into_iter().flatten() {
            let Some(last) = record.executions.last() else {
                continue;
            };
            if let Some(standing) = good(&last.outcome) {
                known.alone.insert(last.test, standing);
            }
        }
        known.orders = all;
        Ok(known)
    }

    /// How a test stood in this order without a patch, if it must do so with one: in the default order, and if it does not
    /// depend on the order anyway, in all.
    pub(crate) fn stood(&self, order: usize, test: TestIndex) -> Option<Standing> {
        let judged = order == 0 || !self.dependent.contains(&test);
        let passing = self.passing.get(order).filter(|_| judged)?;
        passing.get(&test).copied()
    }

    pub(crate) fn stood_alone(&self, test: TestIndex) -> Option<Standing> {
        self.alone.get(&test).copied()
    }
}

fn good(outcome: &Outcome) -> Option<Standing> {
    Standing::of(outcome).filter(|standing| standing.is_good())
}
