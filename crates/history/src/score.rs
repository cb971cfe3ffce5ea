//! How flaky a test was over versions.
//!
//! The executions of a test are put in order: versions as they first came in, within a version reports as they
//! came in, within a report its rows. Skipped ones are left out; failed and errored are both failures. Then
//!
//! - **entropy** is equation 5.1 of Gao's dissertation on verdicts, `-Σ p ln p`, for each version, from 0 (one verdict)
//!   to ln 2 = 0.69 (both equally often); over versions their mean, weighted by executions. A change that breaks a test
//!   for good adds nothing to it. The *overall* entropy is that of all executions, whatever the version.
//! - **flip rate** is the share of consecutive executions whose verdicts differ, within and across versions; 0 to 1.
//! - **transition score** weighs those flips by what explains them. Between two executions of one version only flakiness
//!   does, and they count in full. From the last execution of a version to the first of the next one a change explains
//!   them as well as chance, and they count half:
//!   `(W + B/2) / (w + b/2)`, with W flips in w pairs within versions and B flips in b pairs between versions; 0 to 1.
//! - the **first bad version** is the first one with both verdicts.

use std::cmp::Ordering;

use flakelab_model::Tally;
use flakelab_stats::{clopper_pearson, entropy};

/// What a flip between two versions counts: no reason to prefer either explanation.
const BETWEEN: f64 = 0.5;
const CONFIDENCE: f64 = 0.95;

/// A test over the versions so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct Standing {
    tally: Tally,
    versions: u32,
    /// Entropy of each version times its executions, added up.
    entropies: f64,
    within_flips: u64,
    within_pairs: u64,
    between_flips: u64,
    between_pairs: u64,
    first_bad: Option<i64>,
}

/// Hits of trials, with the 95 % interval (Clopper-Pearson) of what they come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    pub hits: u64,
    pub of: u64,
    pub low: f64,
    pub high: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    pub tally: Tally,
    /// Versions in which it is.
    pub versions: u32,
    pub entropy: f64,
    pub overall_entropy: f64,
    pub flip_rate: f64,
    pub transition_score: f64,
    /// Flips within versions.
    pub within: Share,
    pub first_bad: Option<i64>,
}

/// In nats; 0 for nothing.
pub fn verdict_entropy(tally: &Tally) -> f64 {
    entropy(&[u64::from(tally.passed), tally.failures()]).unwrap_or(0.0)
}

impl Standing {
    /// The next version.
    pub fn add(&mut self, version: i64, tally: &Tally) {
        self.versions += 1;
        let decided = tally.decided();
        if decided > 0 {
            self.entropies += verdict_entropy(tally) * decided as f64;
            self.within_flips += u64::from(tally.flips);
            self.within_pairs += decided - 1;
            if let (Some(last), Some(first)) = (self.tally.last, tally.first) {
                self.between_pairs += 1;
                self.between_flips += u64::from(last != first);
            }
            if tally.passed > 0 && tally.failures() > 0 {
                self.first_bad = self.first_bad.or(Some(version));
            }
        }
        self.tally.append(tally);
    }

    /// Whether any two verdicts differ.
    pub fn varies(&self) -> bool {
        self.tally.passed > 0 && self.tally.failures() > 0
    }

    /// Whether one version has both verdicts.
    pub fn is_flaky(&self) -> bool {
        self.first_bad.is_some()
    }

    pub fn score(&self) -> Score {
        let share = |hits: f64, of: f64| if of > 0.0 { hits / of } else { 0.0 };
        let (within, between) = (self.within_flips as f64, self.between_flips as f64);
        let (pairs, seams) = (self.within_pairs as f64, self.between_pairs as f64);
        let interval = clopper_pearson(self.within_flips, self.within_pairs, CONFIDENCE);
        Score {
            tally: self.tally,
            versions: self.versions,
            entropy: share(self.entropies, self.tally.decided() as f64),
            overall_entropy: verdict_entropy(&self.tally),
            flip_rate: share(within + between, pairs + seams),
            transition_score: share(within + BETWEEN * between, pairs + BETWEEN * seams),
            within: Share {
                hits: self.within_flips,
                of: self.within_pairs,
                low: interval.low,
                high: interval.high,
            },
            first_bad: self.first_bad,
        }
    }
}

impl Score {
    /// The worst first: by the share of flips within versions that is certain (the lower end of its interval, so that
    /// two executions do not outdo two hundred), then by the transition score, entropies and failures.
    pub fn worst_first(&self, other: &Self) -> Ordering {
        let key = |s: &Self| {
            [
                s.within.low,
                s.transition_score,
                s.entropy,
                s.overall_entropy,
                s.tally.failures() as f64,
            ]
        };
        let (own, others) = (key(self), key(other));
        let mut pairs = others.iter().zip(&own);
        pairs
            .try_fold(Ordering::Equal, |_, (b, a)| match b.total_cmp(a) {
                Ordering::Equal => Ok(Ordering::Equal),
                unequal => Err(unequal),
            })
            .unwrap_or_else(|unequal| unequal)
    }
}

#[cfg(test)]
mod tests {
    use flakelab_model::Reported;

    use super::*;

    /// Versions as words: P, F, E and S.
    fn score(versions: &[&str]) -> Score {
        let mut standing = Standing::default();
        for (at, word) in versions.iter().enumerate() {
            let mut tally = Tally::default();
            for letter in word.chars() {
                tally.add(match letter {
                    'P' => Reported::Passed,
                    'F' => Reported::Failed,
                    'E' => Reported::Errored,
                    _ => Reported::Skipped,
                });
            }
            standing.add(at as i64 + 1, &tally);
        }
        standing.score()
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn the_example_of_the_dissertation() {
        // Nine times true, once false: 0.33.
        let s = score(&["PPPPPPPPPF"]);
        near(s.entropy, 0.325_082_973_391_448_2);
        near(s.overall_entropy, s.entropy);
        near(s.flip_rate, 1.0 / 9.0);
        near(s.transition_score, 1.0 / 9.0);
        assert_eq!(s.first_bad, Some(1));
    }

    #[test]
    fn a_regression_is_no_flakiness() {
        // One flip between versions, none of 6 pairs within.
        let s = score(&["PPPP", "FFFF"]);
        near(s.entropy, 0.0);
        near(s.overall_entropy, std::f64::consts::LN_2);
        near(s.flip_rate, 1.0 / 7.0);
        near(s.transition_score, 0.5 / 6.5);
        assert_eq!((s.within.hits, s.within.of, s.first_bad), (0, 6, None));
    }

    #[test]
    fn versions_are_weighed_by_their_executions() {
        // PPPP: H = 0, 3 pairs; PF: H = ln 2, 1 flip of 1 pair; F: 0. Seams: P-P, F-F.
        let s = score(&["PPPP", "PF", "F"]);
        near(s.entropy, 2.0 * std::f64::consts::LN_2 / 7.0);
        near(s.flip_rate, 1.0 / 6.0);
        near(s.transition_score, 1.0 / 5.0);
        assert_eq!((s.first_bad, s.versions), (Some(2), 3));
        // Overall: 5 passed, 2 failed.
        near(s.overall_entropy, 0.598_269_588_585_257_2);
    }

    #[test]
    fn skips_are_left_out_and_errors_are_failures() {
        let s = score(&["PSE", "SS", "SP"]);
        assert_eq!((s.within.hits, s.within.of), (1, 1));
        // P E | P: two flips of two pairs.
        near(s.flip_rate, 1.0);
        near(s.transition_score, 1.0);
        assert_eq!((s.versions, s.tally.skipped), (3, 4));
    }

    #[test]
    fn nothing_gives_nothing() {
        for empty in [score(&[]), score(&["S"]), score(&["P"])] {
            near(empty.entropy, 0.0);
            near(empty.flip_rate, 0.0);
            near(empty.transition_score, 0.0);
        }
    }

    #[test]
    fn much_evidence_comes_before_little() {
        let often = score(&[&"PPPF".repeat(20)]);
        let seldom = score(&[&"PPPPPPPPPPF".repeat(20)]);
        let once = score(&["PF"]);
        let broken = score(&["P", "F"]);
        let mut all = [broken, once, seldom, often];
        all.sort_by(Score::worst_first);
        assert_eq!(all, [often, seldom, once, broken]);
    }
}
