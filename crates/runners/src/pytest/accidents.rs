//! Processes that were killed (signal 9), and not by flakelab: by the test that was running, by a system that is out of
//! memory, or by somebody who had nothing to do with it.
//!
//! A run is not to blame for the latter two, so it is made again. A test that does it to itself does it again, and then
//! it is an outcome like any other; so it is where it happens to one test too often.

use std::collections::HashMap;

use flakelab_model::TestIndex;

use super::job::Killed;

/// Runs that are made again because of one test. More would hide a test that kills itself by chance.
const MOST_EXCUSES: u32 = 3;
/// How often one run is made again because it was killed when no test was running: no test can be to blame.
const MOST_BETWEEN: usize = 3;
/// Zygotes without work that may die in one campaign. Somebody who kills one does not do it for ever; a suite that
/// arms an alarm at import does.
const MOST_IDLE: u32 = 3;

#[derive(Debug, Default)]
pub(super) struct Accidents {
    met: HashMap<TestIndex, u32>,
    idle: u32,
}

impl Accidents {
    /// Whether a run that something killed is to be made again. `before` is what has happened to this run.
    pub(super) fn excuse(&mut self, killed: Killed, before: &[Killed]) -> bool {
        let Some(test) = killed.0 else {
            let often = before.iter().filter(|other| **other == killed).count();
            return often < MOST_BETWEEN;
        };
        if before.contains(&killed) {
            return false;
        }
        let met = self.met.entry(test).or_default();
        *met += 1;
        *met <= MOST_EXCUSES
    }

    /// Whether a zygote that died without work is to be replaced.
    pub(super) fn excuse_idle(&mut self) -> bool {
        self.idle += 1;
        self.idle <= MOST_IDLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Killed = Killed(None);

    fn at(test: u32) -> Killed {
        Killed(Some(TestIndex(test)))
    }

    #[test]
    fn what_happens_to_a_run_twice_is_its_own_doing() {
        let mut accidents = Accidents::default();
        assert!(accidents.excuse(at(1), &[]));
        assert!(!accidents.excuse(at(1), &[at(1)]));
        assert!(accidents.excuse(at(2), &[at(1)]));
        assert!(accidents.excuse(NONE, &[at(1), NONE, NONE]));
        assert!(!accidents.excuse(NONE, &[NONE, NONE, NONE]));
    }

    #[test]
    fn what_happens_to_a_test_again_and_again_is_its_own_doing() {
        let mut accidents = Accidents::default();
        let excused = (0..10).filter(|_| accidents.excuse(at(1), &[])).count();
        assert_eq!(excused, 3);
        assert!(accidents.excuse(at(2), &[]));
    }

    #[test]
    fn zygotes_that_keep_dying_are_not_replaced_for_ever() {
        let mut accidents = Accidents::default();
        let replaced = (0..10).filter(|_| accidents.excuse_idle()).count();
        assert_eq!(replaced, 3);
    }
}
