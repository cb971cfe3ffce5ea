//! What reports of test runners say: an outcome without its failure, and how outcomes of one test add up.

/// The outcome of one execution in a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reported {
    Passed,
    Failed,
    /// Its set-up or teardown failed, or something around it.
    Errored,
    /// Says nothing either way; an expected failure is reported like this as well.
    Skipped,
}

impl Reported {
    pub const ALL: [Self; 4] = [Self::Passed, Self::Failed, Self::Errored, Self::Skipped];

    /// Its number in packed rows; fits two bits.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The inverse of [`Reported::code`]; of larger numbers the low two bits count.
    pub fn from_code(code: u8) -> Self {
        Self::ALL[usize::from(code & 3)]
    }

    /// Whether it passed; nothing for a skipped one.
    pub fn passed(self) -> Option<bool> {
        match self {
            Self::Passed => Some(true),
            Self::Failed | Self::Errored => Some(false),
            Self::Skipped => None,
        }
    }
}

/// What a result says about an earlier one of the same test in the same suite of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sequel {
    /// Nothing: it is one more execution.
    Another,
    /// Retries of pytest leave an entry that looks like a pass for each execution that was not the last:
    /// an earlier pass was none.
    Retry,
    /// The teardown of the same execution, where that had failed before.
    Teardown,
}

impl Sequel {
    /// What the earlier result is, given this one; `None` if this one is part of it and adds nothing.
    pub fn after(self, earlier: Reported) -> Option<Reported> {
        match (self, earlier) {
            (Self::Another, _) => Some(earlier),
            (_, Reported::Passed) => Some(Reported::Failed),
            (Self::Teardown, Reported::Failed | Reported::Errored) => None,
            _ => Some(earlier),
        }
    }
}

/// Executions of one test, added up in their order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub passed: u32,
    pub failed: u32,
    pub errored: u32,
    pub skipped: u32,
    /// Changes between passing and failing from one execution to the next; skips are passed over.
    pub flips: u32,
    /// Reports it is in.
    pub runs: u32,
    /// Reports in which it failed first and passed in the end.
    pub flaky: u32,
    /// Whether the first execution that was not skipped passed.
    pub first: Option<bool>,
    pub last: Option<bool>,
}

impl Tally {
    pub fn add(&mut self, outcome: Reported) {
        match outcome {
            Reported::Passed => self.passed += 1,
            Reported::Failed => self.failed += 1,
            Reported::Errored => self.errored += 1,
            Reported::Skipped => self.skipped += 1,
        }
        if let Some(passed) = outcome.passed() {
            self.flips += u32::from(self.last.is_some_and(|last| last != passed));
            self.first = self.first.or(Some(passed));
            self.last = Some(passed);
        }
    }

    /// Everything so far was one report.
    pub fn close_run(&mut self) {
        self.runs = 1;
        self.flaky = u32::from(self.failures() > 0 && self.last == Some(true));
    }

    /// What came later.
    pub fn append(&mut self, later: &Self) {
        let seam = matches!((self.last, later.first), (Some(a), Some(b)) if a != b);
        self.passed += later.passed;
        self.failed += later.failed;
        self.errored += later.errored;
        self.skipped += later.skipped;
        self.flips += later.flips + u32::from(seam);
        self.runs += later.runs;
        self.flaky += later.flaky;
        self.first = self.first.or(later.first);
        self.last = later.last.or(self.last);
    }

    pub fn executions(&self) -> u64 {
        self.decided() + u64::from(self.skipped)
    }

    /// Executions that passed or failed.
    pub fn decided(&self) -> u64 {
        u64::from(self.passed) + self.failures()
    }

    /// Failed or errored.
    pub fn failures(&self) -> u64 {
        u64::from(self.failed) + u64::from(self.errored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Reported::{Errored, Failed, Passed, Skipped};

    fn tally(outcomes: &[Reported]) -> Tally {
        let mut tally = Tally::default();
        for outcome in outcomes {
            tally.add(*outcome);
        }
        tally.close_run();
        tally
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        let all = [
            Passed, Failed, Skipped, Errored, Passed, Passed, Skipped, Failed,
        ];
        let whole = tally(&all);
        assert_eq!((whole.flips, whole.decided(), whole.skipped), (3, 6, 2));
        for cut in 0..=all.len() {
            let mut sum = tally(&all[..cut]);
            sum.append(&tally(&all[cut..]));
            (sum.runs, sum.flaky) = (whole.runs, whole.flaky);
            assert_eq!(sum, whole, "cut at {cut}");
        }
    }

    #[test]
    fn flaky_is_a_pass_after_a_failure_in_one_report() {
        assert_eq!(tally(&[Failed, Passed]).flaky, 1);
        assert_eq!(tally(&[Passed, Failed]).flaky, 0);
        assert_eq!(tally(&[Errored, Skipped]).flaky, 0);
    }

    #[test]
    fn codes_round_trip() {
        for outcome in Reported::ALL {
            assert_eq!(Reported::from_code(outcome.code()), outcome);
        }
    }
}
