//! What detection found: plain data for documents and terminals.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use flakelab_lab::orders::Kind;
use flakelab_model::{Class, Failure, Polarity, TestIndex};

/// Failures among executions that ran to a verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rate {
    pub failed: u64,
    pub of: u64,
}

/// Passing and failing executions of some set of runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub passed: u64,
    pub failed: u64,
}

impl Tally {
    pub(crate) fn count(&mut self, verdict: Polarity) {
        match verdict {
            Polarity::Pass => self.passed += 1,
            Polarity::Fail => self.failed += 1,
            Polarity::Neutral => {}
        }
    }

    pub fn total(self) -> u64 {
        self.passed + self.failed
    }

    pub fn always_passed(self) -> bool {
        self.failed == 0 && self.passed > 0
    }

    pub fn always_failed(self) -> bool {
        self.passed == 0 && self.failed > 0
    }

    pub fn mixed(self) -> bool {
        self.passed > 0 && self.failed > 0
    }
}

/// How to see the failure again without flakelab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The tests to run, in this order. The failing one is the last, but for a teardown error that takes
    /// another test after it.
    pub order: Vec<TestIndex>,
    /// The hash seed it takes, if it takes a particular one.
    pub hash_seed: Option<u32>,
    /// Whether a plain command line was seen to give this order and this failure.
    pub plain: bool,
}

/// What is known of one test.
#[derive(Debug, Clone)]
pub struct Finding {
    pub test: TestIndex,
    pub class: Class,
    /// Further classes that hold as well.
    pub also: Vec<Class>,
    /// For a non-deterministic test: the p-value of equal failure rates in two orders, if significant.
    pub order_effect: Option<f64>,
    /// Over the random orders.
    pub rate: Rate,
    pub failure: Option<Arc<Failure>>,
    pub reproduce: Option<Command>,
    /// An order after which the test passes, for a test that fails alone.
    pub passing_order: Option<Vec<TestIndex>>,
    /// Executions in reruns of the same orders.
    pub reruns: Tally,
    /// Cold runs of the test alone.
    pub isolated: Tally,
    /// Cold runs that confirmed the other side.
    pub confirmed: Tally,
    /// One line: why this class.
    pub why: String,
}

/// The result of a campaign.
#[derive(Debug, Clone)]
pub struct Detection {
    /// One entry for each test that is not stable, in suite order.
    pub findings: Vec<Finding>,
    /// The rate of every test over the random orders.
    pub rates: Vec<Rate>,
    /// Orders run to the end, by kind.
    pub orders: BTreeMap<Kind, u64>,
    pub runs: u64,
    /// Statements about the campaign itself: what was left out and why.
    pub notes: Vec<String>,
    /// Whether the budget ended the campaign before its work was done.
    pub out_of_budget: bool,
    pub elapsed: Duration,
}

impl Detection {
    /// Random orders that were run to the end: what the statistics rest on.
    pub fn random_orders(&self) -> u64 {
        self.orders
            .iter()
            .filter(|(kind, _)| kind.is_random())
            .map(|(_, count)| count)
            .sum()
    }
}
