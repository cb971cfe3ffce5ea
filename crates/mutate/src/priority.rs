//! Which of the tests that cover a mutant goes first (section 3.3): the one most likely to hit it, then the fastest.
//!
//! Durations are measured with noise, and an order that follows noise is another one in every campaign. They are
//! compared by class: less than 1 ms, then a class for each doubling. Tests that differ by less keep the order of the suite,
//! so that two campaigns mostly disagree about tests near the edge of a class.

use std::cmp::Ordering;

use flakelab_model::TestIndex;

/// Below this, durations are mostly pytest's own.
const QUANTUM_MICROS: u64 = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    pub test: TestIndex,
    /// Coverage runs in which the test reached the point.
    pub seen: u32,
    pub of: u32,
    pub micros: u64,
}

/// The most frequent hits first, then the shortest class of durations, then the order of the suite.
pub fn prioritise(candidates: &mut [Candidate]) {
    candidates.sort_by(|a, b| {
        by_frequency((a.seen, a.of), (b.seen, b.of))
            .then_with(|| duration_class(a.micros).cmp(&duration_class(b.micros)))
            .then_with(|| a.test.cmp(&b.test))
    });
}

/// The larger share first, without rounding; a point that was never looked for comes last.
pub(crate) fn by_frequency(a: (u32, u32), b: (u32, u32)) -> Ordering {
    let none = |(_, of): (u32, u32)| of == 0;
    if none(a) || none(b) {
        return none(a).cmp(&none(b));
    }
    let cross = |x: (u32, u32), y: (u32, u32)| u64::from(x.0) * u64::from(y.1);
    cross(b, a).cmp(&cross(a, b))
}

/// 0 below 1 ms, 1 below 2 ms, 2 below 4 ms, …
fn duration_class(micros: u64) -> u32 {
    (micros / QUANTUM_MICROS)
        .checked_ilog2()
        .map_or(0, |n| n + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(candidates: &[(u32, u32, u64)]) -> Vec<u32> {
        let mut all: Vec<Candidate> = candidates
            .iter()
            .enumerate()
            .map(|(at, (seen, of, micros))| Candidate {
                test: TestIndex(at as u32),
                seen: *seen,
                of: *of,
                micros: *micros,
            })
            .collect();
        prioritise(&mut all);
        let order: Vec<u32> = all.iter().map(|c| c.test.0).collect();
        all.reverse();
        prioritise(&mut all);
        let again: Vec<u32> = all.iter().map(|c| c.test.0).collect();
        assert_eq!(order, again, "the order does not depend on where it starts");
        order
    }

    #[test]
    fn what_hits_more_often_goes_first_however_slow() {
        assert_eq!(
            order(&[(1, 3, 10), (3, 3, 9_000_000), (2, 3, 10)]),
            [1, 2, 0]
        );
        // Shares, not counts: 2 of 3 is more than 3 of 5 and as much as 4 of 6.
        assert_eq!(
            order(&[(3, 5, 10), (4, 6, 10), (2, 3, 10), (0, 0, 10)]),
            [1, 2, 0, 3]
        );
    }

    #[test]
    fn then_the_faster_one_by_classes_of_durations() {
        let slow_first = [(3, 3, 64_000), (3, 3, 900), (3, 3, 5_000)];
        assert_eq!(order(&slow_first), [1, 2, 0]);
        // 1.1 ms and 1.9 ms are one class, and so are 10 and 900 microseconds.
        let alike = [(3, 3, 1_900), (3, 3, 1_100), (3, 3, 900), (3, 3, 10)];
        assert_eq!(order(&alike), [2, 3, 0, 1]);
    }

    #[test]
    fn classes_double() {
        let classes = [0, 999, 1_000, 1_999, 2_000, 3_999, 4_000, u64::MAX].map(duration_class);
        assert_eq!(classes, [0, 0, 1, 1, 2, 2, 3, 55]);
    }
}
