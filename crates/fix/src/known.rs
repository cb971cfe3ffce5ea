//! How the suite behaves without any patch: what a patch must not change for the worse.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use flakelab_lab::orders::{self, Kind};
use flakelab_lab::{Lab, LabError, patience};
use flakelab_model::{Isolation, Order, Polarity, RunRecord, RunRequest, TestIndex, Timeout};

use crate::fix::Settings;
use crate::verify::run;

/// A test gets at least this long before it counts as hung.
const LEAST_PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) ids: Vec<String>,
    /// The default order, then random ones.
    pub(crate) orders: Vec<Order>,
    /// Tests that pass, by order.
    passing: Vec<BTreeSet<TestIndex>>,
    /// Tests that pass in some of the orders only. Which ones, others decide, and a patch may change that.
    dependent: BTreeSet<TestIndex>,
    /// Tests that pass alone.
    alone: BTreeSet<TestIndex>,
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
            alone: BTreeSet::new(),
            timeout: settings.timeout,
        };
        let calm = |test: TestIndex| !restless.contains(suite.id(test).as_str());
        let mut seen: Vec<BTreeMap<TestIndex, bool>> = vec![BTreeMap::new(); all.len()];
        let request =
            |number: usize, timeout| RunRequest::new(all[number].clone(), Isolation::Fork, timeout);
        let mut take = |number: usize, record: RunRecord| {
            let mut slowest = 0;
            for execution in record.executions {
                slowest = slowest.max(execution.micros);
                let passed = execution.outcome.polarity() == Polarity::Pass;
                seen[number].insert(execution.test, passed && calm(execution.test));
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
            all.filter(|(_, passed)| **passed == wanted)
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
                tests
                    .into_iter()
                    .filter(|(_, p)| *p)
                    .map(|(t, _)| t)
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
            if last.outcome.polarity() == Polarity::Pass {
                known.alone.insert(last.test);
            }
        }
        known.orders = all;
        Ok(known)
    }

    /// Whether a test passed in this order without a patch, and must do so with one: in the default order, and
    /// if it does not depend on the order anyway, in all.
    pub(crate) fn passed(&self, order: usize, test: TestIndex) -> bool {
        let judged = order == 0 || !self.dependent.contains(&test);
        judged
            && self
                .passing
                .get(order)
                .is_some_and(|set| set.contains(&test))
    }

    pub(crate) fn passed_alone(&self, test: TestIndex) -> bool {
        self.alone.contains(&test)
    }
}
