//! A campaign under way: the lab, the clock, and somebody who watches.

use std::time::{Duration, Instant};

use flakelab_lab::{Lab, LabError, patience, pristine, run_within};
use flakelab_model::{
    Isolation, Order, Outcome, Polarity, RunRecord, RunRequest, TestIndex, Timeout,
};

/// How culprits are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The target after every test of an order that shows the verdict.
    Probe,
    /// Every test before the target.
    Pairs,
    /// Delta debugging of an order that shows the verdict.
    Delta,
}

#[derive(Debug, Clone)]
pub struct Settings {
    pub seed: u64,
    pub mode: Mode,
    /// Every culprit and every cleaner of the suite, not only the first.
    pub all: bool,
    /// Whether to look for the state that leaks.
    pub state: bool,
    /// Fresh interpreters that must agree.
    pub confirmations: u32,
    /// Random orders to try where no order is known that shows the verdict.
    pub orders: usize,
    pub budget: Option<Duration>,
    pub timeout: Timeout,
    /// Whether tests that take far longer than any did so far may be ended earlier.
    pub impatient: bool,
    /// Whether interpreters can be started with a wrong clock.
    pub clock: bool,
}

/// What a campaign is busy with, for whoever shows progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Orders,
    Culprits,
    Cleaners,
    State,
    Factors,
    Confirm,
}

/// Sees a campaign go by.
pub trait Watch {
    fn target(&mut self, test: TestIndex, number: usize, of: usize);
    fn stage(&mut self, stage: Stage, runs: usize);
    fn run_done(&mut self);
}

/// A test gets at least this long before it counts as hung.
const LEAST_PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Session<'a> {
    pub(crate) lab: &'a mut dyn Lab,
    pub(crate) settings: &'a Settings,
    pub(crate) watch: &'a mut dyn Watch,
    started: Instant,
    /// The longest execution that came to an end; zero as long as there was none.
    slowest: Duration,
    /// Whether the budget cut anything off.
    pub(crate) out_of_budget: bool,
}

impl<'a> Session<'a> {
    pub(crate) fn new(
        lab: &'a mut dyn Lab,
        settings: &'a Settings,
        watch: &'a mut dyn Watch,
    ) -> Self {
        Self {
            lab,
            settings,
            watch,
            started: Instant::now(),
            slowest: Duration::ZERO,
            out_of_budget: false,
        }
    }

    pub(crate) fn request(&self, order: Vec<TestIndex>, isolation: Isolation) -> RunRequest {
        let mut timeout = self.settings.timeout;
        if self.settings.impatient && !self.slowest.is_zero() {
            // What is put back may make a test loop for ever.
            timeout.test = patience::limit(self.slowest, LEAST_PATIENCE, timeout.test);
        }
        RunRequest::new(Order(order), isolation, timeout)
    }

    pub(crate) fn pristine(
        &self,
        order: Vec<TestIndex>,
        isolation: Isolation,
        attempt: u32,
    ) -> RunRequest {
        let mut request = self.request(order, isolation);
        request.attempt = attempt;
        request.hash_seed = Some(pristine::hash_seed(self.settings.seed, isolation, attempt));
        request
    }

    /// Records in the order of the requests; `None` for those the budget did not reach.
    pub(crate) fn run(
        &mut self,
        stage: Stage,
        mut batch: Vec<RunRequest>,
    ) -> Result<Vec<Option<RunRecord>>, LabError> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let budget = self.settings.budget;
        let until = budget.and_then(|budget| self.started.checked_add(budget));
        self.watch.stage(stage, batch.len());
        let watch = &mut *self.watch;
        let records = run_within(self.lab, &mut batch, until, || watch.run_done())?;
        self.out_of_budget |= records.iter().any(Option::is_none);
        let ended = records.iter().flatten().flat_map(|r| &r.executions);
        let ended = ended.filter(|e| !matches!(e.outcome, Outcome::TimedOut(_)));
        let slowest = ended.map(|e| e.micros).max().unwrap_or(0);
        self.slowest = self.slowest.max(Duration::from_micros(slowest.into()));
        Ok(records)
    }

    /// The verdict on the last test of each order.
    pub(crate) fn verdicts(
        &mut self,
        stage: Stage,
        orders: Vec<Vec<TestIndex>>,
        isolation: Isolation,
    ) -> Result<Vec<Option<Polarity>>, LabError> {
        let batch = orders
            .into_iter()
            .map(|order| self.request(order, isolation))
            .collect();
        Ok(self
            .run(stage, batch)?
            .into_iter()
            .map(|record| record.as_ref().map(verdict))
            .collect())
    }
}

/// What the last test of a run came to.
pub(crate) fn verdict(record: &RunRecord) -> Polarity {
    record
        .executions
        .last()
        .map_or(Polarity::Neutral, |last| last.outcome.polarity())
}

/// An order with the target at its end.
pub(crate) fn before(culprits: &[TestIndex], target: TestIndex) -> Vec<TestIndex> {
    culprits.iter().copied().chain([target]).collect()
}
