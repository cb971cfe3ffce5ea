//! Arrangements of settings over runs: every one where they are few, else as many as are drawn. Settings stay within the
//! stratum of their run.

use flakelab_lab::orders::Stream;

/// How many arrangements were looked at, and whether those were all there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Looked {
    pub(crate) arrangements: usize,
    pub(crate) all: bool,
}

impl Looked {
    /// The p-value of something that so many arrangements show as much. Where all were looked at, the one that was
    /// observed is among them, and nothing hangs on a seed.
    pub(crate) fn p(self, as_much: usize) -> f64 {
        if self.all {
            as_much as f64 / self.arrangements as f64
        } else {
            (as_much + 1) as f64 / (self.arrangements + 1) as f64
        }
    }
}

/// Shows every different arrangement if there are `few` at most, else so many that are `drawn`.
pub(crate) fn each(
    strata: &[Vec<usize>],
    few: usize,
    drawn: usize,
    seed: u64,
    see: &mut dyn FnMut(&[Vec<usize>]),
) -> Looked {
    let mut strata = strata.to_vec();
    if let Some(arrangements) = count(&strata, few) {
        for stratum in &mut strata {
            stratum.sort_unstable();
        }
        loop {
            see(&strata);
            // As an odometer turns: a stratum that is through begins anew and moves the next one on.
            if !strata.iter_mut().any(|stratum| next(stratum)) {
                let all = true;
                return Looked { arrangements, all };
            }
        }
    }
    let mut stream = Stream::new(seed, "permutations");
    for _ in 0..drawn {
        for stratum in &mut strata {
            stream.shuffle(stratum);
        }
        see(&strata);
    }
    Looked {
        arrangements: drawn,
        all: false,
    }
}

/// How many different arrangements there are; `None` if they are more than `most`.
fn count(strata: &[Vec<usize>], most: usize) -> Option<usize> {
    let mut all: usize = 1;
    for stratum in strata {
        let mut placed = 0;
        let mut levels = stratum.clone();
        levels.sort_unstable();
        for level in levels.chunk_by(|a, b| a == b) {
            // The places for one more level: binomials, each step of which is a whole number.
            let mut ways: usize = 1;
            for step in 1..=level.len() {
                placed += 1;
                ways = ways.checked_mul(placed)? / step;
                if ways > most {
                    return None;
                }
            }
            all = all.checked_mul(ways).filter(|all| *all <= most)?;
        }
    }
    Some(all)
}

/// The next arrangement in the order of a dictionary; `false` if that was the last one, and it begins anew.
fn next(levels: &mut [usize]) -> bool {
    let Some(at) = levels.windows(2).rposition(|pair| pair[0] < pair[1]) else {
        levels.reverse();
        return false;
    };
    let other = levels.iter().rposition(|level| *level > levels[at]);
    levels.swap(at, other.unwrap_or(at));
    levels[at + 1..].reverse();
    true
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn seen(strata: &[Vec<usize>], few: usize) -> (Vec<Vec<Vec<usize>>>, Looked) {
        let mut all = Vec::new();
        let looked = each(strata, few, 7, 1, &mut |strata| all.push(strata.to_vec()));
        (all, looked)
    }

    #[test]
    fn few_arrangements_are_each_seen_once() {
        for (strata, count) in [
            (vec![vec![1, 0, 1, 0, 0, 1]], 20),
            (vec![vec![0, 0, 0, 1, 2, 3]], 120),
            (vec![vec![0, 1], vec![2, 2, 1]], 6),
            (vec![vec![4, 4]], 1),
        ] {
            let (all, looked) = seen(&strata, 10_000);
            assert_eq!((looked.arrangements, looked.all), (count, true));
            let distinct: BTreeSet<_> = all.iter().collect();
            assert_eq!((all.len(), distinct.len()), (count, count));
            assert!(all.contains(&strata));
        }
    }

    #[test]
    fn of_many_some_are_drawn() {
        let (all, looked) = seen(&[(0..30).collect()], 10_000);
        assert_eq!((all.len(), looked.all), (7, false));
        assert_eq!(looked.p(0), 1.0 / 8.0);
        assert!(!seen(&[vec![0, 0, 0, 1, 2, 3]], 119).1.all);
    }
}
