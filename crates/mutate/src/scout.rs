//! A quick look ahead: which test is likely to kill which mutant?
//!
//! Most mutants are killed by one of the first tests that reach them, and a process that has executed one test executes
//! the next for a fraction of what a fork costs. So the first tests of many mutants are executed in one process, where one
//! changed body after the other is put in place and taken out again. What one of them left behind reaches the next:
//! nothing seen here is a verdict. A test that fails is run alone, in a process of its own; mutants for which none fails
//! take the long way, as if nobody had looked.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use flakelab_lab::{Lab, LabError};
use flakelab_model::{
    Changed, Ending, Isolation, Mutation, Order, Outcome, Polarity, Pursuit, RunRecord, RunRequest,
    TestIndex, Timeout,
};

use crate::chase::Chase;
use crate::execute::{Executor, FEW_HITS};
use crate::subject::Subject;

/// Tests of each mutant that are tried.
const MOST_TESTS: usize = 8;
/// Mutants that share a process. The same for any number of jobs, because what one leaves behind reaches the next.
const TOGETHER: usize = 32;
/// Fewer executions than this are not worth a process.
const LEAST: usize = 4;
/// Processes in a row that changed code may end before the rest of them go unseen.
const MOST_ENDED: usize = 4;

/// One execution: the mutant by its number among all, and its test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Look {
    /// Which of the mutant's tests it is: first those of all, then the second ones.
    rank: usize,
    test: TestIndex,
    mutant: usize,
}

/// The tests to try: one of each test function before another with other parameters, otherwise in order of priority.
fn choose(subject: &Subject<'_>) -> Vec<TestIndex> {
    let mut seen: BTreeMap<u32, u32> = BTreeMap::new();
    let mut tests: Vec<(u32, TestIndex)> = Vec::new();
    for candidate in &subject.order {
        let number = seen
            .entry(subject.files.function(candidate.test))
            .or_default();
        tests.push((*number, candidate.test));
        *number += 1;
    }
    // Stable: what is equal stays in the order of priority.
    tests.sort_by_key(|(number, _)| *number);
    let tests = tests.into_iter().map(|(_, test)| test);
    tests.take(MOST_TESTS).collect()
}

impl Executor<'_> {
    /// Makes mutants begin with a test that looks like their killer.
    pub(crate) fn scout(
        &mut self,
        lab: &mut dyn Lab,
        chases: &mut [Chase<'_>],
    ) -> Result<(), LabError> {
        if self.settings.matrix || !self.settings.forks {
            return Ok(());
        }
        let mutants: Vec<usize> = (0..chases.len())
            .filter(|at| chases[*at].subject.late().is_some())
            .collect();
        let mut pieces: Vec<Vec<Look>> = mutants
            .chunks(TOGETHER)
            .map(|some| looks(chases, some))
            .collect();
        for _ in 0..=MOST_ENDED {
            pieces.retain(|looks| looks.len() >= LEAST);
            if pieces.is_empty() {
                break;
            }
            let batch: Vec<RunRequest> = pieces
                .iter()
                .map(|looks| self.request_looks(chases, looks))
                .collect();
            let mut left: Vec<Vec<Look>> = vec![Vec::new(); pieces.len()];
            lab.run(&batch, &mut |record| {
                let looks = &pieces[record.request];
                left[record.request] = take(chases, looks, &record);
                self.spent.add(&record);
                ControlFlow::Continue(())
            })?;
            pieces = left;
        }
        Ok(())
    }

    fn request_looks(&self, chases: &[Chase<'_>], looks: &[Look]) -> RunRequest {
        let mutants: BTreeSet<usize> = looks.iter().map(|look| look.mutant).collect();
        let mutants: Vec<usize> = mutants.into_iter().collect();
        let which = looks
            .iter()
            .filter_map(|look| mutants.binary_search(&look.mutant).ok())
            .map(|at| at as u32)
            .collect();
        let limits = mutants
            .iter()
            .map(|at| chases[*at].subject.timeout(self.settings));
        let timeout = limits.fold(
            Timeout {
                test: Duration::ZERO,
                run: Duration::ZERO,
            },
            |all, one| Timeout {
                test: all.test.max(one.test),
                run: all.run.saturating_add(one.run),
            },
        );
        let mutation = Mutation {
            code: Changed::InTurn {
                bodies: mutants
                    .iter()
                    .filter_map(|at| chases[*at].subject.late())
                    .collect(),
                which,
            },
            most_hits: FEW_HITS,
            pursuit: Pursuit {
                reruns: 0,
                immediate: true,
                first_kill: true,
            },
        };
        let order = Order(looks.iter().map(|look| look.test).collect());
        RunRequest {
            mutation: Some(Arc::new(mutation)),
            ..RunRequest::new(order, Isolation::Fork, timeout)
        }
    }
}

fn looks(chases: &[Chase<'_>], mutants: &[usize]) -> Vec<Look> {
    let mut all: Vec<Look> = Vec::new();
    for mutant in mutants {
        let tests = choose(&chases[*mutant].subject).into_iter();
        all.extend(tests.enumerate().map(|(rank, test)| Look {
            rank,
            test,
            mutant: *mutant,
        }));
    }
    // Those of one file of tests follow each other, so that what they share is set up once.
    all.sort();
    all
}

/// Notes who looks like a killer. What is left when changed code has ended the process: all behind it, but for its own.
fn take(chases: &mut [Chase<'_>], looks: &[Look], record: &RunRecord) -> Vec<Look> {
    let mut through: BTreeSet<usize> = BTreeSet::new();
    let mut last = None;
    for pursued in &record.pursued {
        let Some(look) = looks.get(pursued.place as usize) else {
            continue;
        };
        last = Some((pursued.place as usize, look.mutant));
        let failed = pursued.outcome.polarity() == Polarity::Fail
            && !matches!(pursued.outcome, Outcome::TimedOut(_));
        if pursued.hit && failed && through.insert(look.mutant) {
            chases[look.mutant].suspect(pursued.test, &pursued.outcome);
        }
    }
    let Some((place, mutant)) = last.filter(|_| record.ending != Ending::Completed) else {
        return Vec::new();
    };
    through.insert(mutant);
    let behind = looks[place + 1..].iter();
    behind
        .filter(|look| !through.contains(&look.mutant))
        .copied()
        .collect()
}

#[cfg(test)]
mod tests;
