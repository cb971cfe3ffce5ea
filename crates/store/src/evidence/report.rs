//! One report while it is read.

use flakelab_model::Tally;

/// A test that has no row among those held.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Whether a report is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    New,
    /// The same content is in already, in the same run of the same version.
    Known,
}

/// What a report came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileTotals {
    pub tests: u64,
    pub executions: u64,
    /// Tests that failed first and passed in the end.
    pub flaky: u64,
}

/// A test by its place in memory.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) test: i64,
    /// The row of its last execution among those held.
    pub(super) last: u32,
    pub(super) suite: u32,
    /// Of the report that is being read.
    pub(super) tally: Tally,
}

/// A report that is being read.
#[derive(Debug)]
pub(super) struct File {
    pub(super) id: i64,
    pub(super) version: i64,
    pub(super) parts: i64,
    pub(super) totals: FileTotals,
    pub(super) touched: Vec<u32>,
    /// Whether tallies of it were written before its end, because names took too much memory.
    pub(super) spilled: bool,
}

impl File {
    /// The tallies of what was read since the last time.
    pub(super) fn take(&mut self, slots: &mut [Slot]) -> Vec<(i64, Tally)> {
        let totals = &mut self.totals;
        let taken = self.touched.drain(..).map(|number| {
            let slot = &mut slots[number as usize];
            let mut tally = std::mem::take(&mut slot.tally);
            tally.close_run();
            totals.tests += 1;
            totals.flaky += u64::from(tally.flaky);
            (slot.test, tally)
        });
        taken.collect()
    }
}
