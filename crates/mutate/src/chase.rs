//! One mutant on its way to a verdict: what to run next, and what came of it.
//!
//! First all of its tests in one process, in order of priority, again where they miss. What looks like a kill, or may be
//! one, is run alone. Pairs that never reached the change climb the ladder.

use std::collections::{BTreeMap, BTreeSet};

use flakelab_model::{Ending, Outcome, Polarity, Pursued, RunRecord, TestIndex};

use crate::control::{Controls, likeness};
use crate::pair::{Pair, PairVerdict, Rung, Status, status};
use crate::settings::{Reruns, Settings};
use crate::subject::{Lane, Subject};

/// Pairs that must have timed out before the others are left out.
const ENOUGH_TIMEOUTS: usize = 2;
/// Runs alone of a test that looks like a kill, until it reaches the change once more. Each goes to the next interpreter:
/// what hangs on the hash seed may never be reached in one of them.
const MOST_CONFIRMING: u32 = 4;
/// Files of tests that the first sweep of an imported mutant takes, and how many times more the next one: tests of the
/// first files kill most mutants, and starting anew takes about as long as importing ten.
const FIRST_FILES: usize = 2;
const MORE_FILES: usize = 8;
/// Runs of a mutant that may be lost before it is given up.
const MOST_LOST: u32 = 2;

/// Something to run with the mutant in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ask {
    pub(crate) tests: Vec<TestIndex>,
    pub(crate) rung: Rung,
    pub(crate) attempt: u32,
    pub(crate) purpose: Purpose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// All tests, one after the other.
    Sweep,
    /// It failed after the change was executed, in a process that was used for other mutants before.
    Suspect,
    /// It failed, and the change was executed.
    Kill,
    /// It failed after the change was executed, but not by itself.
    Unclear,
    /// How often it executes the code without the change: an endless loop is told by more than that.
    Count,
    Timeout,
    /// A rerun of pairs that missed.
    Climb,
}

impl Purpose {
    /// Whether a failure is the second one, and so a kill.
    pub(crate) fn may_kill(self) -> bool {
        matches!(self, Purpose::Suspect | Purpose::Kill)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kill {
    pub(crate) test: TestIndex,
    pub(crate) signature: String,
}

#[derive(Debug)]
pub(crate) struct Chase<'a> {
    pub(crate) subject: Subject<'a>,
    pub(crate) pairs: BTreeMap<TestIndex, Pair>,
    pub(crate) kills: Vec<Kill>,
    pub(crate) notes: Vec<String>,
    /// Tests that no sweep has executed yet.
    remaining: BTreeSet<TestIndex>,
    alone: Vec<Ask>,
    /// How a test failed that is likely to kill, where it was seen to.
    suspected: Option<(TestIndex, String)>,
    /// The last step of the ladder that was taken.
    climbed: usize,
    /// Sweeps so far.
    stages: u32,
    /// How often tests that timed out execute the code without the change, where that was seen.
    normal_hits: BTreeMap<TestIndex, Option<u64>>,
    lost: u32,
    error: Option<String>,
    matrix: bool,
}

impl<'a> Chase<'a> {
    pub(crate) fn new(subject: Subject<'a>, settings: &Settings) -> Self {
        let remaining = subject.order.iter().map(|c| c.test).collect();
        Self {
            pairs: BTreeMap::new(),
            kills: Vec::new(),
            notes: Vec::new(),
            alone: Vec::new(),
            suspected: None,
            climbed: settings.reruns.of(Rung::SameProcess) as usize,
            stages: 0,
            normal_hits: BTreeMap::new(),
            lost: 0,
            error: None,
            matrix: settings.matrix,
            remaining,
            subject,
        }
    }

    pub(crate) fn status(&self) -> Status {
        match &self.error {
            Some(_) if self.kills.is_empty() => Status::Error,
            _ => status(self.pairs.values()),
        }
    }

    /// How often a test executes the code without the change.
    pub(crate) fn normal_hits(&self, test: TestIndex) -> Option<u64> {
        self.normal_hits.get(&test).copied().flatten()
    }

    pub(crate) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    pub(crate) fn unknown(&self) -> Vec<TestIndex> {
        let pairs = self.pairs.iter();
        pairs
            .filter(|(_, pair)| pair.verdict == PairVerdict::Unknown)
            .map(|(test, _)| *test)
            .collect()
    }

    fn is_decided(&self) -> bool {
        let timed_out = |pair: &&Pair| pair.verdict == PairVerdict::Timeout;
        let enough = || self.pairs.values().filter(timed_out).count() >= ENOUGH_TIMEOUTS;
        !self.matrix && (!self.kills.is_empty() || enough())
    }

    /// A test that is likely to kill it: run alone before all others.
    pub(crate) fn suspect(&mut self, test: TestIndex, outcome: &Outcome) {
        self.suspected = Some((test, likeness(outcome)));
        self.alone.push(Ask {
            tests: vec![test],
            rung: Rung::ProcessPerPair,
            attempt: 1,
            purpose: Purpose::Suspect,
        });
    }

    /// What to run next; nothing when the verdict is there.
    pub(crate) fn next(&mut self, reruns: &Reruns) -> Vec<Ask> {
        if self.error.is_some() {
            return Vec::new();
        }
        if !self.alone.is_empty() {
            return std::mem::take(&mut self.alone);
        }
        if self.is_decided() {
            return Vec::new();
        }
        if !self.remaining.is_empty() {
            return vec![Ask {
                tests: self.stage(),
                rung: Rung::SameProcess,
                attempt: self.lost,
                purpose: Purpose::Sweep,
            }];
        }
        self.climb(reruns)
    }

    /// Tests of the next sweep. What is imported anew takes as long as its files: few at first, because most mutants
    /// are killed by the first tests.
    fn stage(&mut self) -> Vec<TestIndex> {
        let files = match self.subject.lane {
            Lane::Swap => usize::MAX,
            Lane::Import => FIRST_FILES.saturating_mul(MORE_FILES.saturating_pow(self.stages)),
        };
        self.stages += 1;
        let mut chosen: BTreeSet<u32> = BTreeSet::new();
        let order = self.subject.order.iter().map(|candidate| candidate.test);
        order
            .filter(|test| self.remaining.contains(test))
            .filter(|test| {
                let file = self.subject.files.of(*test);
                chosen.contains(&file) || chosen.len() < files && chosen.insert(file)
            })
            .collect()
    }

    fn climb(&mut self, reruns: &Reruns) -> Vec<Ask> {
        let unknown = self.unknown();
        let steps = reruns.steps();
        let Some((rung, attempt)) = steps
            .get(self.climbed)
            .copied()
            .filter(|_| !unknown.is_empty())
        else {
            return Vec::new();
        };
        self.climbed += 1;
        let groups: Vec<Vec<TestIndex>> = if rung <= Rung::ProcessPerMutant {
            vec![unknown]
        } else {
            unknown.into_iter().map(|test| vec![test]).collect()
        };
        groups
            .into_iter()
            .map(|tests| Ask {
                tests,
                rung,
                attempt,
                purpose: Purpose::Climb,
            })
            .collect()
    }

    /// What came of a run.
    pub(crate) fn take(
        &mut self,
        ask: &Ask,
        record: &RunRecord,
        reruns: &Reruns,
        controls: &mut Controls,
    ) {
        if ask.purpose == Purpose::Count {
            let most = record.pursued.iter().map(|pursued| pursued.hits).max();
            self.normal_hits.insert(ask.tests[0], most);
            self.alone.push(Ask {
                purpose: Purpose::Timeout,
                ..ask.clone()
            });
            return;
        }
        let mut seen: BTreeMap<TestIndex, u32> = BTreeMap::new();
        for pursued in &record.pursued {
            let number = seen.entry(pursued.test).or_default();
            let step = match ask.purpose {
                Purpose::Sweep | Purpose::Suspect => reruns.step(Rung::SameProcess, *number),
                Purpose::Climb => reruns.step(ask.rung, ask.attempt),
                // An execution alone that is asked for out of turn.
                _ => reruns.step(ask.rung, reruns.of(ask.rung).min(1)),
            };
            *number += 1;
            self.execution(ask, pursued, step, controls);
        }
        let confirms = matches!(ask.purpose, Purpose::Kill | Purpose::Timeout);
        let missed = !record.pursued.iter().any(|pursued| pursued.hit);
        if confirms && missed && ask.attempt < MOST_CONFIRMING {
            self.alone.push(Ask {
                attempt: ask.attempt + 1,
                ..ask.clone()
            });
        }
        // A suspect that has executed the change has had its turn.
        if ask.purpose == Purpose::Sweep || ask.purpose == Purpose::Suspect && !missed {
            self.remaining.retain(|test| !seen.contains_key(test));
        }
        if let Ending::Lost(why) = &record.ending {
            self.lose(why);
        } else if ask.purpose == Purpose::Sweep && record.pursued.is_empty() {
            self.lose("nothing was executed");
        }
    }

    fn execution(&mut self, ask: &Ask, pursued: &Pursued, step: usize, controls: &mut Controls) {
        let pair = self.pairs.entry(pursued.test).or_default();
        pair.tried(pursued.hit, step);
        if pair.verdict == PairVerdict::Killed {
            return;
        }
        let alone = |purpose| Ask {
            tests: vec![pursued.test],
            rung: ask.rung.max(Rung::ProcessPerPair),
            attempt: 1,
            purpose,
        };
        match (pursued.outcome.polarity(), pursued.hit) {
            (_, true) if matches!(pursued.outcome, Outcome::TimedOut(_)) => {
                if ask.purpose == Purpose::Timeout {
                    pair.verdict = PairVerdict::Timeout;
                } else {
                    self.alone.push(alone(Purpose::Count));
                }
            }
            // The first failure, or one unlike the first: that one may have been due to other mutants of its process.
            (Polarity::Fail, true)
                if !ask.purpose.may_kill()
                    || ask.purpose == Purpose::Suspect
                        && self.suspected.as_ref()
                            != Some(&(pursued.test, likeness(&pursued.outcome))) =>
            {
                self.alone.push(alone(Purpose::Kill));
            }
            (Polarity::Fail, true) if controls.explains(pursued.test, &pursued.outcome) => {
                pair.verdict = PairVerdict::Unknown;
                self.notes
                    .push("a failure that also occurs without the mutant does not count".into());
            }
            (Polarity::Fail, true) => {
                pair.verdict = PairVerdict::Killed;
                let failure = pursued.outcome.failure();
                self.kills.push(Kill {
                    test: pursued.test,
                    signature: failure.map(|f| f.signature()).unwrap_or_default(),
                });
            }
            // Another test of its process has executed the change: this may be what came of it.
            (Polarity::Fail, false) if pursued.earlier && ask.tests.len() > 1 => {
                self.alone.push(alone(Purpose::Unclear));
            }
            (Polarity::Fail, false) => {
                let (_, isolation) = self.subject.placed(ask.rung);
                controls.note(pursued.test, &pursued.outcome, isolation);
            }
            (_, true) => {
                if ask.purpose == Purpose::Kill {
                    self.notes
                        .push("a failure was not confirmed with the test alone".into());
                }
                pair.verdict = PairVerdict::Survived;
            }
            (_, false) => {}
        }
    }

    /// A run gave no outcome. Code that cannot be swapped in is imported.
    fn lose(&mut self, why: &str) {
        if self.subject.lane == Lane::Swap && why.contains("LookupError") {
            self.subject.lane = Lane::Import;
            return;
        }
        self.lost += 1;
        if self.lost > MOST_LOST {
            self.error = Some(why.to_owned());
        }
    }
}
