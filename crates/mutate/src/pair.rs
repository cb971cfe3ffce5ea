//! One mutant with one of its tests, and what the pairs of a mutant say of it (section 3.2).

use serde::{Deserialize, Serialize};

use crate::settings::Reruns;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum PairVerdict {
    /// The test has never executed the changed code.
    #[default]
    Unknown,
    Killed,
    Survived,
    Timeout,
}

/// What was seen of one pair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pair {
    pub verdict: PairVerdict,
    /// Whether each execution in turn reached the change, up to the first that did.
    pub tries: Vec<bool>,
    /// The step of the ladder at which it did.
    pub hit_at: Option<usize>,
}

impl Pair {
    /// One more execution.
    pub(crate) fn tried(&mut self, hit: bool, step: usize) {
        if self.hit_at.is_none() {
            self.tries.push(hit);
            self.hit_at = hit.then_some(step);
        }
    }
}

/// The rungs of the ladder, by rising isolation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    SameProcess,
    ProcessPerMutant,
    ProcessPerPair,
    FreshInterpreter,
}

impl Rung {
    pub const ALL: [Rung; 4] = [
        Rung::SameProcess,
        Rung::ProcessPerMutant,
        Rung::ProcessPerPair,
        Rung::FreshInterpreter,
    ];

    pub fn words(self) -> &'static str {
        match self {
            Rung::SameProcess => "same process",
            Rung::ProcessPerMutant => "process per mutant",
            Rung::ProcessPerPair => "process per pair",
            Rung::FreshInterpreter => "fresh interpreter",
        }
    }
}

impl Reruns {
    pub fn of(&self, rung: Rung) -> u32 {
        match rung {
            Rung::SameProcess => self.same_process,
            Rung::ProcessPerMutant => self.process_per_mutant,
            Rung::ProcessPerPair => self.process_per_pair,
            Rung::FreshInterpreter => self.fresh_interpreter,
        }
    }

    /// Every rerun of the ladder in turn, with its number on its rung; the first execution is step 0.
    pub fn steps(&self) -> Vec<(Rung, u32)> {
        Rung::ALL
            .into_iter()
            .flat_map(|rung| (1..=self.of(rung)).map(move |attempt| (rung, attempt)))
            .collect()
    }

    /// The step of a rerun.
    pub(crate) fn step(&self, rung: Rung, attempt: u32) -> usize {
        let below = Rung::ALL.into_iter().filter(|other| *other < rung);
        below.map(|rung| self.of(rung)).sum::<u32>() as usize + attempt as usize
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Killed,
    Survived,
    Unknown,
    Timeout,
    Error,
    NotCovered,
}

/// The paper's rule: killed by any pair; else unknown if any pair is; a timeout is neither.
pub(crate) fn status<'a>(pairs: impl Iterator<Item = &'a Pair>) -> Status {
    let (mut timeout, mut unknown, mut any) = (false, false, false);
    for pair in pairs {
        any = true;
        match pair.verdict {
            PairVerdict::Killed => return Status::Killed,
            PairVerdict::Timeout => timeout = true,
            PairVerdict::Unknown => unknown = true,
            PairVerdict::Survived => {}
        }
    }
    if timeout {
        Status::Timeout
    } else if unknown {
        Status::Unknown
    } else if any {
        Status::Survived
    } else {
        Status::NotCovered
    }
}

/// Whether a mutant would be unknown if the ladder ended at a step.
pub(crate) fn is_unknown_after<'a>(pairs: impl Iterator<Item = &'a Pair>, step: usize) -> bool {
    let mut missed = false;
    for pair in pairs {
        let hit = pair.hit_at.is_some_and(|at| at <= step);
        match pair.verdict {
            PairVerdict::Killed if hit => return false,
            PairVerdict::Timeout => return false,
            // Reached, but what came of it does not count.
            PairVerdict::Unknown => missed = true,
            _ => missed |= !hit,
        }
    }
    missed
}

/// What one mutant adds to the ladder, kept with its verdict: whoever counts verdicts of before counts their steps as well.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Climbed {
    /// Unknown after one execution of each pair.
    pub unknown_at_first: bool,
    /// By rung and rerun, pairs that reached the change, and whether the mutant was no longer unknown after it. Where
    /// neither is so, nothing.
    pub steps: Vec<(Rung, u32, u64, bool)>,
}

impl Climbed {
    pub(crate) fn of<'a>(reruns: &Reruns, pairs: impl Iterator<Item = &'a Pair> + Clone) -> Self {
        let steps = reruns.steps().into_iter().enumerate();
        let steps = steps.map(|(at, (rung, attempt))| {
            let step = at + 1;
            let covered = pairs.clone().filter(|p| p.hit_at == Some(step)).count() as u64;
            let was = is_unknown_after(pairs.clone(), at);
            let resolved = was && !is_unknown_after(pairs.clone(), step);
            (rung, attempt, covered, resolved)
        });
        Self {
            unknown_at_first: is_unknown_after(pairs.clone(), 0),
            steps: steps.filter(|step| step.2 > 0 || step.3).collect(),
        }
    }
}

/// What each step of the ladder brought (table 5), over all mutants.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ladder {
    rungs: Vec<(Rung, u32)>,
    /// Mutants that were unknown after one execution of each pair.
    pub unknown_at_first: u64,
    /// Pairs that reached their mutant at each step, and mutants that were no longer unknown after it.
    pub steps: Vec<(u64, u64)>,
}

impl Ladder {
    pub fn new(reruns: &Reruns) -> Self {
        let rungs = reruns.steps();
        Self {
            unknown_at_first: 0,
            steps: vec![(0, 0); rungs.len()],
            rungs,
        }
    }

    /// One more mutant. A step of an earlier campaign that this one does not take has no place here.
    pub(crate) fn add(&mut self, climbed: &Climbed) {
        self.unknown_at_first += u64::from(climbed.unknown_at_first);
        for (rung, attempt, covered, resolved) in &climbed.steps {
            let place = self.rungs.iter().position(|r| r == &(*rung, *attempt));
            if let Some(at) = place {
                self.steps[at].0 += covered;
                self.steps[at].1 += u64::from(*resolved);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RERUNS: Reruns = Reruns {
        same_process: 2,
        process_per_mutant: 1,
        process_per_pair: 1,
        fresh_interpreter: 1,
    };

    fn pair(verdict: PairVerdict, hit_at: Option<usize>) -> Pair {
        Pair {
            verdict,
            tries: Vec::new(),
            hit_at,
        }
    }

    #[test]
    fn a_mutant_is_what_the_paper_says() {
        use PairVerdict::{Killed, Survived, Timeout, Unknown};
        let of = |verdicts: &[PairVerdict]| {
            let pairs: Vec<Pair> = verdicts.iter().map(|v| pair(*v, None)).collect();
            status(pairs.iter())
        };
        assert_eq!(of(&[Survived, Unknown, Killed]), Status::Killed);
        assert_eq!(of(&[Survived, Unknown]), Status::Unknown);
        assert_eq!(of(&[Survived, Survived]), Status::Survived);
        assert_eq!(of(&[Survived, Timeout, Unknown]), Status::Timeout);
        assert_eq!(of(&[Timeout, Killed]), Status::Killed);
        assert_eq!(of(&[]), Status::NotCovered);
    }

    #[test]
    fn steps_are_numbered_over_all_rungs() {
        assert_eq!(RERUNS.step(Rung::SameProcess, 2), 2);
        assert_eq!(RERUNS.step(Rung::ProcessPerPair, 1), 4);
        assert_eq!(RERUNS.steps().len(), 5);
        assert_eq!(RERUNS.steps()[2], (Rung::ProcessPerMutant, 1));
    }

    #[test]
    fn the_ladder_counts_pairs_and_mutants() {
        use PairVerdict::{Killed, Survived, Unknown};
        let mut ladder = Ladder::new(&RERUNS);
        let mut add = |pairs: &[Pair]| {
            // As it comes back from where it was kept.
            let text = serde_json::to_string(&Climbed::of(&RERUNS, pairs.iter()));
            let climbed = serde_json::from_str(&text.expect("kept")).expect("read");
            ladder.add(&climbed);
        };
        // Killed at once, though another pair missed.
        add(&[pair(Killed, Some(0)), pair(Unknown, None)]);
        // One pair survives at once, the other one on the third rung.
        add(&[pair(Survived, Some(0)), pair(Survived, Some(4))]);
        // Killed by the second rerun in the same process.
        add(&[pair(Unknown, None), pair(Killed, Some(2))]);
        // Never reached.
        add(&[pair(Unknown, None)]);
        // Reached at once, but the failure occurs without the mutant as well.
        add(&[pair(Unknown, Some(0))]);
        assert_eq!(ladder.unknown_at_first, 4);
        assert_eq!(ladder.steps, [(0, 0), (1, 1), (0, 0), (1, 1), (0, 0)]);
        // In a campaign with fewer reruns, what further ones brought has no place.
        let few = Reruns {
            process_per_pair: 0,
            ..RERUNS
        };
        let mut ladder = Ladder::new(&few);
        for pairs in [[pair(Survived, Some(4))], [pair(Killed, Some(2))]] {
            ladder.add(&Climbed::of(&RERUNS, pairs.iter()));
        }
        assert_eq!(ladder.steps, [(0, 0), (1, 1), (0, 0), (0, 0)]);
    }
}
