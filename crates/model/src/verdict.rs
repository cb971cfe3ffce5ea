//! The class of a test.

use serde::{Deserialize, Serialize};

/// What flakelab says a test is. Every flaky class was confirmed in fresh interpreters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Passes alone, fails after its polluters.
    Victim,
    /// Fails alone, passes after its state-setters.
    Brittle,
    /// Differs under one and the same prefix.
    NonDeterministic,
    /// Fails when run a second time in one process.
    NonIdempotent,
    /// A class, module or session teardown error that lands on whichever test runs last.
    PositionDependent,
    /// Fails when certain other files are collected with it, whatever the order.
    CollectionDependent,
    /// Never fails, but is skipped, expected to fail or unexpectedly passes only sometimes.
    Masked,
    /// Its id changes from collection to collection.
    UnstableParametrisation,
    /// Seen to vary, but fresh interpreters did not confirm how.
    Unconfirmed,
    /// Fails in every run.
    AlwaysFailing,
    /// No run reached it.
    NotRun,
    /// The same outcome in every run.
    Stable,
}

impl Class {
    /// Whether the test is flaky, as fresh interpreters confirmed.
    pub fn is_flaky(self) -> bool {
        self.varies() && self != Class::Unconfirmed
    }

    /// Whether other tests or its surroundings decide it, which `explain` looks for.
    pub fn has_cause(self) -> bool {
        matches!(
            self,
            Self::Victim
                | Self::Brittle
                | Self::CollectionDependent
                | Self::NonDeterministic
                | Self::NonIdempotent
        )
    }

    /// Whether the test was seen to vary, confirmed or not.
    pub fn varies(self) -> bool {
        !matches!(self, Class::AlwaysFailing | Class::NotRun | Class::Stable)
    }

    pub fn words(self) -> &'static str {
        match self {
            Class::Victim => "victim",
            Class::Brittle => "brittle",
            Class::NonDeterministic => "non-deterministic",
            Class::NonIdempotent => "non-idempotent",
            Class::PositionDependent => "position-dependent",
            Class::CollectionDependent => "collection-dependent",
            Class::Masked => "masked",
            Class::UnstableParametrisation => "unstable id",
            Class::Unconfirmed => "unconfirmed",
            Class::AlwaysFailing => "always failing",
            Class::NotRun => "not run",
            Class::Stable => "stable",
        }
    }
}
