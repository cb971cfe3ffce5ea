//! How a test stands: what a patch must not make worse.

use flakelab_model::Outcome;

/// From the worst to the best. A test that is skipped now, or expected to fail, checks no longer what it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    Failed,
    Skipped,
    /// It is marked, or says itself, that it may fail.
    Expected,
    Passed,
}

impl Standing {
    /// `None` for a test that did not run.
    pub(crate) fn of(outcome: &Outcome) -> Option<Self> {
        match outcome {
            Outcome::Passed => Some(Standing::Passed),
            Outcome::Xfailed | Outcome::Xpassed => Some(Standing::Expected),
            Outcome::Skipped => Some(Standing::Skipped),
            Outcome::Failed(_)
            | Outcome::Errored(_)
            | Outcome::TimedOut(_)
            | Outcome::Crashed(_) => Some(Standing::Failed),
            Outcome::NotRun => None,
        }
    }

    /// Whether somebody counts on it.
    pub(crate) fn is_good(self) -> bool {
        self >= Standing::Expected
    }
}
