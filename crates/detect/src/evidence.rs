//! Every execution seen so far, by test and by run.

use std::collections::{BTreeMap, BTreeSet};

use flakelab_lab::orders::Kind;
use flakelab_model::{
    Ending, Isolation, Order, Outcome, Polarity, RunRecord, RunRequest, TestIndex,
};

use crate::finding::{Rate, Tally};

/// Why a run was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The suite as collected, to compare forks with fresh interpreters.
    Baseline,
    Order(Kind),
    /// One test on its own.
    Alone,
    /// The tests of one file in an interpreter that imports no other.
    File,
    /// Every test twice in a row.
    Twice,
    Rerun,
    Shorten,
    /// One test on its own in a fresh interpreter.
    Isolated,
    Confirm,
}

impl Purpose {
    /// Whether the run takes part in the search for tests that vary.
    fn searches(self) -> bool {
        matches!(
            self,
            Purpose::Baseline | Purpose::Order(_) | Purpose::Alone | Purpose::File
        )
    }
}

#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) purpose: Purpose,
    pub(crate) order: Order,
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) isolation: Isolation,
    pub(crate) hash_seed: u32,
    pub(crate) plain: bool,
    pub(crate) ending: Ending,
}

/// One execution of a test: which run, at which position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sighting {
    pub(crate) run: u32,
    pub(crate) at: u32,
}

#[derive(Debug)]
pub(crate) struct Evidence {
    pub(crate) runs: Vec<Run>,
    by_test: Vec<Vec<Sighting>>,
    tallies: Vec<Tally>,
    /// Tests of which forks do not tell the truth.
    apart: BTreeSet<TestIndex>,
    /// The longest execution that came to an end, in microseconds.
    pub(crate) slowest: u32,
}

impl Evidence {
    pub(crate) fn new(tests: usize) -> Self {
        Self {
            runs: Vec::new(),
            by_test: vec![Vec::new(); tests],
            tallies: vec![Tally::default(); tests],
            apart: BTreeSet::new(),
            slowest: 0,
        }
    }

    /// Takes a record over. What it says of a test enters the search only if the run searches.
    pub(crate) fn add(
        &mut self,
        purpose: Purpose,
        request: &RunRequest,
        record: RunRecord,
    ) -> usize {
        let number = self.runs.len();
        let mut outcomes = Vec::with_capacity(record.executions.len());
        for (at, execution) in record.executions.into_iter().enumerate() {
            if execution.outcome != Outcome::NotRun {
                if !matches!(execution.outcome, Outcome::TimedOut(_)) {
                    self.slowest = self.slowest.max(execution.micros);
                }
                let counts = request.isolation.is_pristine() || !self.is_apart(execution.test);
                if purpose.searches() && counts {
                    self.tallies[execution.test.at()].count(execution.outcome.polarity());
                    self.by_test[execution.test.at()].push(Sighting {
                        run: number as u32,
                        at: at as u32,
                    });
                }
            }
            outcomes.push(execution.outcome);
        }
        self.runs.push(Run {
            purpose,
            order: request.order.clone(),
            outcomes,
            isolation: request.isolation,
            hash_seed: record.hash_seed,
            plain: record.plain,
            ending: record.ending,
        });
        number
    }

    /// Drops what forks have shown of these tests and will show of them: they turned out not to tell the truth.
    pub(crate) fn set_apart(&mut self, tests: impl IntoIterator<Item = TestIndex>) {
        for test in tests {
            self.apart.insert(test);
            let runs = &self.runs;
            let sightings = &mut self.by_test[test.at()];
            sightings.retain(|s| runs[s.run as usize].isolation.is_pristine());
            let tally = &mut self.tallies[test.at()];
            *tally = Tally::default();
            for s in sightings {
                tally.count(runs[s.run as usize].outcomes[s.at as usize].polarity());
            }
        }
    }

    pub(crate) fn is_apart(&self, test: TestIndex) -> bool {
        self.apart.contains(&test)
    }

    pub(crate) fn run(&self, sighting: Sighting) -> &Run {
        &self.runs[sighting.run as usize]
    }

    pub(crate) fn outcome(&self, sighting: Sighting) -> &Outcome {
        &self.run(sighting).outcomes[sighting.at as usize]
    }

    /// The sightings of a test in the search.
    pub(crate) fn sightings(&self, test: TestIndex) -> &[Sighting] {
        &self.by_test[test.at()]
    }

    pub(crate) fn with_polarity(
        &self,
        test: TestIndex,
        polarity: Polarity,
    ) -> impl Iterator<Item = Sighting> + '_ {
        self.sightings(test)
            .iter()
            .copied()
            .filter(move |s| self.outcome(*s).polarity() == polarity)
    }

    pub(crate) fn tally(&self, test: TestIndex) -> Tally {
        self.tallies[test.at()]
    }

    /// Runs that gave no outcome, with the reason of the first.
    pub(crate) fn lost(&self) -> (usize, Option<&str>) {
        let mut reasons = self.runs.iter().filter_map(|run| match &run.ending {
            Ending::Lost(why) => Some(why.as_str()),
            _ => None,
        });
        let first = reasons.next();
        (first.map_or(0, |_| 1 + reasons.count()), first)
    }

    /// Over random orders only: these are draws.
    pub(crate) fn rate(&self, test: TestIndex) -> Rate {
        let mut rate = Rate::default();
        for sighting in self.sightings(test) {
            if matches!(self.run(*sighting).purpose, Purpose::Order(kind) if kind.is_random()) {
                match self.outcome(*sighting).polarity() {
                    Polarity::Fail => {
                        rate.failed += 1;
                        rate.of += 1;
                    }
                    Polarity::Pass => rate.of += 1,
                    Polarity::Neutral => {}
                }
            }
        }
        rate
    }

    pub(crate) fn orders_by_kind(&self) -> BTreeMap<Kind, u64> {
        let mut counts = BTreeMap::new();
        for run in &self.runs {
            if let Purpose::Order(kind) = run.purpose
                && run.ending == Ending::Completed
            {
                *counts.entry(kind).or_default() += 1;
            }
        }
        counts
    }
}
