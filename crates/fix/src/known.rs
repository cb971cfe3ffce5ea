//! How the suite behaves without any patch: what a patch must not change for the worse.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use flakelab_lab::orders::{self, Kind};
use flakelab_lab::{Lab, LabError};
use flakelab_model::{Isolation, Order, Polarity, RunRequest, TestIndex};

use crate::fix::Settings;
use crate::verify::run;

#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) ids: Vec<String>,
    /// The default order, then random ones.
    pub(crate) orders: Vec<Order>,
    /// Tests that pass, by order.
    passing: Vec<BTreeSet<TestIndex>>,
    /// Tests that pass alone.
    alone: BTreeSet<TestIndex>,
    pub(crate) slowest: Duration,
}

impl Known {
    /// Runs every order twice: a test that differs is not to be judged by that order. `restless` tests are
    /// known to vary whatever the order.
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
            passing: Vec::new(),
            ..Self::default()
        };
        let calm = |test: TestIndex| !restless.contains(suite.id(test).as_str());
        let batch: Vec<RunRequest> = (0..2)
            .flat_map(|attempt| all.iter().map(move |order| (attempt, order.clone())))
            .map(|(attempt, order)| RunRequest {
                attempt,
                ..RunRequest::new(order, Isolation::Fork, settings.timeout)
            })
            .collect();
        let mut seen: Vec<BTreeMap<TestIndex, bool>> = vec![BTreeMap::new(); all.len()];
        for record in run(lab, &batch)?.into_iter().flatten() {
            let number = record.request % all.len();
            for execution in record.executions {
                let micros = Duration::from_micros(execution.micros.into());
                known.slowest = known.slowest.max(micros);
                let passed = execution.outcome.polarity() == Polarity::Pass;
                let both = seen[number].entry(execution.test).or_insert(true);
                *both &= passed && calm(execution.test);
            }
        }
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
            .map(|test| RunRequest::new(Order(vec![*test]), Isolation::Fork, settings.timeout))
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

    /// Whether a test passed in this order without a patch.
    pub(crate) fn passed(&self, order: usize, test: TestIndex) -> bool {
        self.passing
            .get(order)
            .is_some_and(|set| set.contains(&test))
    }

    pub(crate) fn passed_alone(&self, test: TestIndex) -> bool {
        self.alone.contains(&test)
    }
}
