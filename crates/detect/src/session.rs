//! A campaign under way: the lab, the evidence, the clock, and somebody who watches.

use std::time::{Duration, Instant};

use flakelab_lab::orders::Kind;
use flakelab_lab::{Lab, LabError, patience, pristine, run_within};
use flakelab_model::{Isolation, Order, RunRequest, TestIndex, Timeout};

use crate::evidence::{Evidence, Purpose, Run};

/// What the user can set. The defaults of the command line are those of iPFlakies.
#[derive(Debug, Clone)]
pub struct Settings {
    pub seed: u64,
    /// Random orders.
    pub orders: usize,
    /// Kinds the random orders alternate between.
    pub mix: Vec<Kind>,
    /// Orders to run besides, e.g. from a CI failure.
    pub given: Vec<Order>,
    /// How many passing and how many failing orders of a test are rerun, and how often each.
    pub rerun_orders: usize,
    pub reruns: u32,
    /// Cold runs of a suspect alone.
    pub isolated: u32,
    /// Cold runs that must agree before a class is published.
    pub confirmations: u32,
    pub budget: Option<Duration>,
    /// The most a test or run may take.
    pub timeout: Timeout,
    /// Whether tests that take far longer than any did in the baseline may be ended earlier.
    pub impatient: bool,
    /// Each test on its own, to find those that only pass after others.
    pub alone: bool,
    /// Each test twice in a row, to find those that fail the second time.
    pub twice: bool,
    /// At most this many Tuscan rows.
    pub pairs: usize,
}

/// The stages of a campaign, for whoever shows progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Baseline,
    Search,
    Verify,
    Shorten,
    Confirm,
}

/// Sees a campaign go by.
pub trait Watch {
    fn stage(&mut self, stage: Stage, runs: usize);
    fn run_done(&mut self, stage: Stage);
    fn suspects(&mut self, count: usize);
}

/// The share of a budget that the search may use; the rest is for verification, without which nothing
/// can be published.
const SEARCH_SHARE: f64 = 0.6;
/// As long as no test varies there is nothing to verify, and a longer search is worth more.
const CALM_SHARE: f64 = 0.9;
/// A test gets at least this long before it counts as hung.
const LEAST_PATIENCE: Duration = Duration::from_secs(5);

pub(crate) struct Session<'a> {
    pub(crate) lab: &'a mut dyn Lab,
    pub(crate) settings: &'a Settings,
    pub(crate) evidence: Evidence,
    pub(crate) watch: &'a mut dyn Watch,
    /// How runs of the search are isolated: forks, or fresh interpreters where forks of the collected
    /// suite do not tell the truth.
    pub(crate) warm: Isolation,
    pub(crate) notes: Vec<String>,
    pub(crate) out_of_budget: bool,
    /// Whether all of the budget is used up, not only the share of the search.
    pub(crate) spent: bool,
    /// Whether no test was seen to vary so far.
    pub(crate) calm: bool,
    test_limit: Duration,
    started: Instant,
}

impl<'a> Session<'a> {
    pub(crate) fn new(
        lab: &'a mut dyn Lab,
        settings: &'a Settings,
        watch: &'a mut dyn Watch,
    ) -> Self {
        let tests = lab.suite().len();
        Self {
            lab,
            settings,
            evidence: Evidence::new(tests),
            watch,
            warm: Isolation::Fork,
            notes: Vec::new(),
            out_of_budget: false,
            spent: false,
            calm: true,
            test_limit: settings.timeout.test,
            started: Instant::now(),
        }
    }

    /// How runs of the search that are about this test are isolated.
    pub(crate) fn warm_for(&self, test: TestIndex) -> Isolation {
        if self.evidence.is_apart(test) {
            Isolation::Fresh
        } else {
            self.warm
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Learns from the baseline how long a test may take before it counts as hung.
    pub(crate) fn learn_patience(&mut self) {
        if self.settings.impatient {
            let slowest = Duration::from_micros(u64::from(self.evidence.slowest));
            let most = self.settings.timeout.test;
            self.test_limit = patience::limit(slowest, LEAST_PATIENCE, most);
        }
    }

    pub(crate) fn request(&self, order: Order, isolation: Isolation, attempt: u32) -> RunRequest {
        // What is to be published gets twice the time.
        let test = match isolation {
            Isolation::Fresh | Isolation::Cold => {
                (self.test_limit * 2).min(self.settings.timeout.test)
            }
            Isolation::Shared | Isolation::Fork => self.test_limit,
        };
        let timeout = Timeout {
            test,
            run: self.settings.timeout.run,
        };
        RunRequest {
            attempt,
            hash_seed: isolation
                .is_pristine()
                .then(|| pristine::hash_seed(self.settings.seed, isolation, attempt)),
            ..RunRequest::new(order, isolation, timeout)
        }
    }

    fn deadline(&self, stage: Stage) -> Option<Instant> {
        let budget = self.settings.budget?;
        let share = match stage {
            Stage::Search if self.calm => budget.mul_f64(CALM_SHARE),
            Stage::Baseline | Stage::Search => budget.mul_f64(SEARCH_SHARE),
            Stage::Verify | Stage::Shorten | Stage::Confirm => budget,
        };
        self.started.checked_add(share)
    }

    /// Runs a batch and returns the numbers of its runs in the evidence, in the order of the requests;
    /// `None` for those the budget did not reach.
    pub(crate) fn run(
        &mut self,
        stage: Stage,
        batch: Vec<(Purpose, RunRequest)>,
    ) -> Result<Vec<Option<usize>>, LabError> {
        let (purposes, mut requests): (Vec<Purpose>, Vec<RunRequest>) = batch.into_iter().unzip();
        let until = self.deadline(stage);
        let watch = &mut *self.watch;
        let records = run_within(self.lab, &mut requests, until, || watch.run_done(stage))?;
        if records.iter().any(Option::is_none) {
            self.out_of_budget = true;
            self.spent |= !matches!(stage, Stage::Baseline | Stage::Search);
        }
        // Taken over in the order of the requests, whichever finished first.
        Ok(records
            .into_iter()
            .zip(&requests)
            .zip(purposes)
            .map(|((record, request), purpose)| {
                record.map(|record| self.evidence.add(purpose, request, record))
            })
            .collect())
    }

    /// The same, without those the budget did not reach.
    pub(crate) fn run_within(
        &mut self,
        stage: Stage,
        batch: Vec<(Purpose, RunRequest)>,
    ) -> Result<Vec<usize>, LabError> {
        Ok(self.run(stage, batch)?.into_iter().flatten().collect())
    }

    /// Runs one request with nothing beside it: what concurrent runs may disturb.
    pub(crate) fn run_undisturbed(
        &mut self,
        stage: Stage,
        purpose: Purpose,
        request: RunRequest,
    ) -> Result<Option<usize>, LabError> {
        Ok(self.run(stage, vec![(purpose, request)])?.pop().flatten())
    }

    pub(crate) fn at(&self, run: usize) -> &Run {
        &self.evidence.runs[run]
    }

    pub(crate) fn tests(&self) -> impl Iterator<Item = TestIndex> + use<> {
        self.lab.suite().indices()
    }
}
