//! How fresh interpreters are asked: the first run of a question starts one exactly as a user's command
//! line would, the others fork interpreters that have loaded the test runner and nothing of the project.
//! Their hash seeds vary.

use flakelab_model::{Isolation, Polarity};

/// How many hash seeds fresh interpreters take turns with: each takes a template. With those of the
/// zygotes and of the cold baseline a whole campaign of 25 orders or more sees seven: a test that fails with every
/// third seed is missed once in 17 campaigns.
pub const FRESH_SEEDS: u32 = 4;
/// One attempt for each of them; the second, which every baseline has had, comes last.
pub const ATTEMPTS: [u32; FRESH_SEEDS as usize] = [0, 2, 3, 1];

/// The isolation of the nth run of a question.
pub fn isolation(nth: u32) -> Isolation {
    if nth == 0 {
        Isolation::Cold
    } else {
        Isolation::Fresh
    }
}

/// The nth run of one of several questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nth {
    pub question: usize,
    pub nth: u32,
    pub isolation: Isolation,
}

/// Makes such runs, in their order; `None` for one that was not made.
pub type Make<'a, R, E> = dyn FnMut(&[Nth]) -> Result<Vec<Option<R>>, E> + 'a;

/// As many runs of each question as `times` says. Where the cold one says one thing and all the fresh ones another, it may
/// be the fork: then every run of that question is made cold, and only those count.
pub fn ask<R, E>(
    times: &[u32],
    run: &mut Make<'_, R, E>,
    verdict: impl Fn(usize, &R) -> Polarity,
) -> Result<Vec<Vec<Option<R>>>, E> {
    let nths = |question: usize, of: fn(u32) -> Isolation| {
        (0..times[question]).map(move |nth| Nth {
            question,
            nth,
            isolation: of(nth),
        })
    };
    let batch: Vec<Nth> = (0..times.len())
        .flat_map(|question| nths(question, isolation))
        .collect();
    let mut made = run(&batch)?.into_iter();
    let mut answers = Vec::with_capacity(times.len());
    for (question, times) in times.iter().enumerate() {
        let runs: Vec<Option<R>> = made.by_ref().take(*times as usize).collect();
        answers.push(if cold_differs(&runs, |run| verdict(question, run)) {
            let again: Vec<Nth> = nths(question, |_| Isolation::Cold).collect();
            run(&again)?
        } else {
            runs
        });
    }
    Ok(answers)
}

fn cold_differs<R>(runs: &[Option<R>], verdict: impl Fn(&R) -> Polarity) -> bool {
    let Some((Some(cold), fresh)) = runs.split_first() else {
        return false;
    };
    let cold = verdict(cold);
    let mut fresh = fresh.iter().flatten().map(verdict).peekable();
    fresh.peek().is_some() && fresh.all(|fresh| fresh != cold)
}

/// Cold interpreters get a hash seed for every attempt; fresh ones share a few.
pub fn hash_seed(seed: u64, isolation: Isolation, attempt: u32) -> u32 {
    let number = if isolation == Isolation::Fresh {
        attempt % FRESH_SEEDS
    } else {
        FRESH_SEEDS + attempt
    };
    let mixed =
        (seed.wrapping_add(1) ^ (u64::from(number) << 40)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed >> 32) as u32).max(1)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// What a question with these verdicts of cold and fresh runs comes to, and how many runs were made.
    fn asked(cold: Polarity, fresh: Polarity) -> (Vec<Option<Polarity>>, usize) {
        let mut made = 0;
        let mut run = |nths: &[Nth]| -> Result<_, Infallible> {
            made += nths.len();
            let verdict = |nth: &Nth| match nth.isolation {
                Isolation::Cold => cold,
                _ => fresh,
            };
            Ok(nths.iter().map(|nth| Some(verdict(nth))).collect())
        };
        let answers = ask(&[3], &mut run, |_, verdict| *verdict);
        (answers.expect("infallible").remove(0), made)
    }

    #[test]
    fn a_cold_run_that_all_fresh_ones_contradict_is_asked_for_again() {
        let (pass, fail) = (Polarity::Pass, Polarity::Fail);
        assert_eq!(asked(pass, pass), (vec![Some(pass); 3], 3));
        assert_eq!(asked(pass, fail), (vec![Some(pass); 3], 6));
    }
}
