//! How flaky an assertion is: the entropy of what it saw and said (equation 5.1), accumulated over versions; of a test,
//! the largest of its assertions (5.2). What it saw is its value; what it said is whether it held, because a flaky
//! assertion does not consistently pass or fail (definition 5), also where its value shows nothing of that: an object
//! without fields, a timestamp that is masked.

use std::collections::BTreeMap;

use flakelab_stats::entropy;
use serde::{Deserialize, Serialize};

/// Versions for which evidence counts after it was gathered, the one it was gathered on included. Full weight within,
/// none beyond: an assertion that was flaky once stays filtered for so many versions, and is trusted again afterwards.
pub const LIFETIME: usize = 10;

/// Values kept of an assertion in one version; what is beyond them is counted together.
const MOST_VALUES: usize = 50;
const OTHERS: &str = "(others)";

/// What one assertion saw and said in the runs of one version.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Seen {
    /// How often each value was seen.
    pub values: BTreeMap<String, u64>,
    pub passed: u64,
    pub failed: u64,
    /// Of those in `values`, how many failed. Of versions that were learned before this was kept, only `failed` is known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failures: BTreeMap<String, u64>,
}

impl Seen {
    /// One run: its value, and whether it held.
    pub fn add(&mut self, value: &str, held: bool) {
        let known = self.values.contains_key(value) || self.values.len() < MOST_VALUES;
        let name = if known { value } else { OTHERS };
        *self.values.entry(name.to_owned()).or_default() += 1;
        if held {
            self.passed += 1;
        } else {
            *self.failures.entry(name.to_owned()).or_default() += 1;
            self.failed += 1;
        }
    }

    pub fn runs(&self) -> u64 {
        self.passed + self.failed
    }

    /// Further runs of the same version.
    pub fn join(&mut self, other: &Seen) {
        for (value, count) in &other.values {
            *self.values.entry(value.clone()).or_default() += count;
        }
        for (value, count) in &other.failures {
            *self.failures.entry(value.clone()).or_default() += count;
        }
        self.passed += other.passed;
        self.failed += other.failed;
    }

    /// Equation 5.1 for (value, held), in nats.
    pub fn score(&self) -> f64 {
        let mut counts: Vec<u64> = Vec::with_capacity(self.values.len());
        for (value, count) in &self.values {
            if value == OTHERS {
                // Each of them was another one.
                counts.extend(std::iter::repeat_n(1, *count as usize));
            } else {
                let failed = self.failures.get(value).copied().unwrap_or_default();
                counts.extend([count.saturating_sub(failed), failed]);
            }
        }
        let verdicts = entropy(&[self.passed, self.failed]).unwrap_or_default();
        // Where it is not known which values failed, both vary at least as much as each of them.
        entropy(&counts).unwrap_or_default().max(verdicts)
    }

    /// How often it held, and how often it failed, with a value; `None` if it never saw it, or that is not known.
    fn with(&self, value: &str) -> Option<(u64, u64)> {
        let count = *self.values.get(value)?;
        if self.values.len() == 1 {
            return Some((self.passed, self.failed));
        }
        let failed = self.failures.get(value).copied().unwrap_or_default();
        let known = self.failures.values().sum::<u64>() == self.failed;
        known.then_some((count.saturating_sub(failed), failed))
    }
}

/// The evidence of one assertion, the newest version first, each with its age in versions: 0 is the newest that was
/// learned.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evidence {
    pub versions: Vec<(usize, Seen)>,
}

impl Evidence {
    /// What still counts.
    fn living(&self) -> impl Iterator<Item = &Seen> {
        self.versions
            .iter()
            .filter(|(age, _)| *age < LIFETIME)
            .map(|(_, seen)| seen)
    }

    /// Flakiness accumulated over versions (section 5.1.3): the largest score of any version that still counts.
    pub fn score(&self) -> f64 {
        self.living().map(Seen::score).fold(0.0, f64::max)
    }

    /// Runs that still count.
    pub fn runs(&self) -> u64 {
        self.living().map(Seen::runs).sum()
    }

    /// Of those, how often it failed.
    pub fn failures(&self) -> u64 {
        self.living().map(|seen| seen.failed).sum()
    }

    /// How often it held, and how often it failed, with a value.
    pub fn with(&self, value: &str) -> (u64, u64) {
        self.living()
            .filter_map(|seen| seen.with(value))
            .fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    }

    /// Every value that was seen, with how often.
    pub fn values(&self) -> BTreeMap<&str, u64> {
        let mut all: BTreeMap<&str, u64> = BTreeMap::new();
        for (value, count) in self.living().flat_map(|seen| &seen.values) {
            *all.entry(value).or_default() += count;
        }
        all
    }

    /// Whether it has both held and failed in one version.
    pub fn wavers(&self) -> bool {
        self.living().any(|seen| seen.passed > 0 && seen.failed > 0)
    }

    /// The most frequent value of the newest version that has one.
    pub fn usual(&self) -> Option<&str> {
        let newest = self.living().find(|seen| !seen.values.is_empty())?;
        let most = newest.values.iter().max_by_key(|(_, count)| **count)?;
        Some(most.0)
    }
}

/// Equation 5.2.
pub fn of_test(assertions: impl IntoIterator<Item = f64>) -> f64 {
    assertions.into_iter().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(counts: &[u64]) -> Seen {
        let mut seen = Seen::default();
        for (value, count) in counts.iter().enumerate() {
            for _ in 0..*count {
                seen.add(&value.to_string(), true);
            }
        }
        seen
    }

    fn round(value: f64) -> f64 {
        (value * 100.0).round() / 100.0
    }

    /// The widths 358, 348 and 338, five, three and two times; and so on, with the groups that give its scores.
    #[test]
    fn the_scores_of_table_5_1() {
        let scores: Vec<f64> = [
            &[10][..],
            &[5, 3, 2],
            &[4, 3, 2, 1],
            &[10],
            &[9, 1],
            &[7, 3],
        ]
        .iter()
        .map(|counts| round(seen(counts).score()))
        .collect();
        assert_eq!(scores, [0.0, 1.03, 1.28, 0.0, 0.33, 0.61]);
        assert_eq!(of_test(scores), 1.28);
        assert_eq!(round(seen(&[1; 10]).score()), 2.3);
    }

    #[test]
    fn who_sometimes_fails_is_flaky_whatever_it_shows_of_its_value() {
        let mut object = Seen::default();
        for held in [true, true, false, true, false, true, true, true, true, true] {
            object.add("<shop.Basket>", held);
        }
        assert_eq!(round(object.score()), 0.5);
        assert_eq!(object.with("<shop.Basket>"), Some((8, 2)));
        assert_eq!(object.with("<shop.Till>"), None);
        // Learned before: which values failed was not kept.
        let before = "passed = 8\nfailed = 2\n[values]\na = 5\nb = 5\n";
        let before: Seen = toml::from_str(before).expect("what was kept before");
        assert_eq!(round(before.score()), 0.69);
        assert_eq!(before.with("a"), None);
        let mut both = object.clone();
        both.join(&before);
        assert_eq!((both.runs(), both.failed), (20, 4));
        // Always failing is no flake.
        let mut broken = Seen::default();
        (0..5).for_each(|_| broken.add("1", false));
        assert_eq!(broken.score(), 0.0);
    }

    #[test]
    fn evidence_accumulates_and_ages_out() {
        let mut evidence = Evidence {
            versions: vec![(0, seen(&[10])), (1, seen(&[7, 3]))],
        };
        assert_eq!(evidence.versions[0].1.score(), 0.0);
        assert_eq!(round(evidence.score()), 0.61);
        evidence.versions[1].0 = LIFETIME - 1;
        assert_eq!(round(evidence.score()), 0.61);
        evidence.versions[1].0 = LIFETIME;
        assert_eq!(evidence.score(), 0.0);
        assert_eq!(evidence.runs(), 10);
    }

    /// Table 5.2: what was flaky on V1 and not on V2 is filtered on V3 only by who remembers V1.
    #[test]
    fn accumulation_filters_one_more_failure_on_the_third_version() {
        let first: [&[u64]; 6] = [&[10], &[5, 3, 2], &[4, 3, 2, 1], &[10], &[9, 1], &[7, 3]];
        let second: [&[u64]; 6] = [&[10], &[6, 4], &[8, 2], &[10], &[10], &[10]];
        let failed_on_v3 = [1, 2, 3, 5];
        let (mut single, mut accumulated) = (Vec::new(), Vec::new());
        for at in failed_on_v3 {
            let evidence = Evidence {
                versions: vec![(0, seen(second[at])), (1, seen(first[at]))],
            };
            if evidence.versions[0].1.score() > 0.0 {
                single.push(at + 1);
            }
            if evidence.score() > 0.0 {
                accumulated.push(at + 1);
            }
        }
        assert_eq!((single, accumulated), (vec![2, 3], vec![2, 3, 6]));
    }

    #[test]
    fn more_values_than_are_kept_are_still_all_different() {
        let all = seen(&[1; 200]);
        assert_eq!(all.values.len(), MOST_VALUES + 1);
        assert!((all.score() - 200f64.ln()).abs() < 1e-9);
    }
}
