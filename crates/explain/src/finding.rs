//! What explaining found: plain data for documents and terminals.

use std::sync::Arc;

use flakelab_model::{Class, Failure, Leak, Order, Polarity, TestIndex};

/// A test to explain, and what is known of it.
#[derive(Debug, Clone)]
pub struct Target {
    pub test: TestIndex,
    /// Its class, if it was classified before.
    pub class: Option<Class>,
    /// Orders that showed the other verdict than the test alone; the target is the last of each.
    pub orders: Vec<Order>,
}

/// Failures among executions that ran to a verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rate {
    pub failed: u64,
    pub of: u64,
}

impl Rate {
    /// The executions that came to this verdict.
    pub(crate) fn share_of(self, verdict: Polarity) -> u64 {
        match verdict {
            Polarity::Fail => self.failed,
            Polarity::Pass => self.of - self.failed,
            Polarity::Neutral => 0,
        }
    }
}

/// Tests that together, in this order, change the target's verdict; none of them can be left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Culprits {
    pub tests: Vec<TestIndex>,
    /// Set if they do it only sometimes.
    pub rate: Option<Rate>,
    /// Whether the plain command line gives this order.
    pub plain: bool,
}

/// Tests that undo what the polluters did, run between them and the victim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleaning {
    pub polluters: Vec<TestIndex>,
    pub cleaners: Vec<TestIndex>,
}

/// A difference the culprits left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLeak {
    pub leak: Leak,
    /// The culprits that left it, as a position in [`Explanation::culprits`].
    pub culprits: usize,
    /// Whether putting it back (with the other causal ones of its group) changed the verdict back, in
    /// fresh interpreters.
    pub causal: bool,
    /// Causal leaks with the same number only work together.
    pub group: Option<usize>,
}

/// Surroundings that are cheap to vary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Factor {
    HashSeed,
    RandomSeed,
    Timezone,
    Date,
    Load,
    FileOrder,
}

impl Factor {
    pub fn word(self) -> &'static str {
        match self {
            Factor::HashSeed => "hash_seed",
            Factor::RandomSeed => "random_seed",
            Factor::Timezone => "timezone",
            Factor::Date => "date",
            Factor::Load => "cpu_pressure",
            Factor::FileOrder => "file_order",
        }
    }
}

/// What varying one factor showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactorVerdict {
    pub factor: Factor,
    /// Whether each setting always gave one verdict, and two settings gave different ones.
    pub decides: bool,
    /// Failures by setting.
    pub levels: Vec<(String, Rate)>,
}

/// Everything that can be said of one test.
#[derive(Debug, Clone)]
pub struct Explanation {
    pub test: TestIndex,
    pub class: Class,
    /// For a victim its polluters, for a brittle its state-setters.
    pub culprits: Vec<Culprits>,
    pub cleanings: Vec<Cleaning>,
    pub leaks: Vec<FoundLeak>,
    pub factors: Vec<FactorVerdict>,
    pub failure: Option<Arc<Failure>>,
    /// The shortest order that shows the failure, and whether a plain command line gives it.
    pub reproduce: Option<(Vec<TestIndex>, bool)>,
    /// The hash seed that takes.
    pub hash_seed: Option<u32>,
    /// The time zone that takes, as the variable TZ has it.
    pub timezone: Option<String>,
    /// The budget ended before everything was looked at.
    pub unfinished: bool,
    /// What was left open, and why.
    pub notes: Vec<String>,
}

impl Explanation {
    pub(crate) fn new(test: TestIndex, class: Class) -> Self {
        Self {
            test,
            class,
            culprits: Vec::new(),
            cleanings: Vec::new(),
            leaks: Vec::new(),
            factors: Vec::new(),
            failure: None,
            reproduce: None,
            hash_seed: None,
            timezone: None,
            unfinished: false,
            notes: Vec::new(),
        }
    }

    pub(crate) fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }
}
