//! Which test reaches which point, how often (section 3.1), and how much of that varies (table 1).

use std::collections::{BTreeMap, BTreeSet};

use flakelab_model::{Ranges, TestIndex};
use serde::{Deserialize, Serialize};

use crate::priority::Candidate;

/// What coverage runs have shown of one test.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Covered {
    /// The points of each run.
    pub runs: Vec<Ranges>,
    /// The shortest time it took.
    pub micros: u32,
    /// Why it takes no part in what follows.
    pub set_aside: Option<String>,
    /// How it failed where nothing but its own file was imported.
    #[serde(default)]
    pub apart: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Coverage {
    /// By the test's index.
    pub tests: Vec<Covered>,
    /// Points reached while the whole suite was imported.
    pub import: Ranges,
    /// Points reached while one file of tests was imported, by file.
    pub by_file: BTreeMap<String, Ranges>,
}

/// Something counted, and how much of it varies from run to run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    pub varying: u64,
    pub of: u64,
}

/// A statement that a test reaches in some runs only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Varying {
    pub statement: usize,
    pub test: TestIndex,
    pub seen: u32,
    pub of: u32,
}

/// Table 1 for one suite.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stability {
    pub statements: Share,
    pub tests: Share,
    pub pairs: Share,
    pub varying: Vec<Varying>,
}

impl Covered {
    /// In how many runs the point was reached.
    pub(crate) fn seen(&self, point: u32) -> u32 {
        self.runs.iter().filter(|run| contains(run, point)).count() as u32
    }
}

impl Coverage {
    /// The tests that reached a point in at least one run, in the order of the suite.
    pub(crate) fn candidates(&self, point: u32) -> Vec<Candidate> {
        let tests = self.tests.iter().enumerate();
        tests
            .filter(|(_, covered)| covered.set_aside.is_none())
            .filter_map(|(at, covered)| {
                let seen = covered.seen(point);
                (seen > 0).then(|| Candidate {
                    test: TestIndex(at as u32),
                    seen,
                    of: covered.runs.len() as u32,
                    micros: covered.micros.into(),
                })
            })
            .collect()
    }

    /// Files of tests whose import reaches a point.
    pub(crate) fn importers(&self, point: u32) -> BTreeSet<&str> {
        self.by_file
            .iter()
            .filter(|(_, ranges)| contains(ranges, point))
            .map(|(file, _)| file.as_str())
            .collect()
    }

    pub(crate) fn is_imported(&self, point: u32) -> bool {
        contains(&self.import, point) || self.by_file.values().any(|ranges| contains(ranges, point))
    }

    /// `statement_of` has the statement of each point.
    pub(crate) fn stability(&self, statement_of: &[usize]) -> Stability {
        let mut found = Stability::default();
        let mut statements: BTreeMap<usize, bool> = BTreeMap::new();
        for (at, covered) in self.tests.iter().enumerate() {
            if covered.runs.is_empty() {
                continue;
            }
            let mut seen: BTreeMap<usize, u32> = BTreeMap::new();
            for run in &covered.runs {
                let reached: BTreeSet<usize> = run
                    .iter()
                    .flat_map(|(first, length)| *first..first.saturating_add(*length))
                    .filter_map(|point| statement_of.get(point as usize).copied())
                    .collect();
                for statement in reached {
                    *seen.entry(statement).or_default() += 1;
                }
            }
            let of = covered.runs.len() as u32;
            let mut varies = false;
            for (statement, seen) in seen {
                let always = seen == of;
                *statements.entry(statement).or_default() |= !always;
                found.pairs.of += 1;
                if !always {
                    varies = true;
                    found.pairs.varying += 1;
                    found.varying.push(Varying {
                        statement,
                        test: TestIndex(at as u32),
                        seen,
                        of,
                    });
                }
            }
            found.tests.of += 1;
            found.tests.varying += u64::from(varies);
        }
        found.statements = Share {
            varying: statements.values().filter(|varies| **varies).count() as u64,
            of: statements.len() as u64,
        };
        found
    }
}

fn contains(ranges: &[(u32, u32)], point: u32) -> bool {
    let after = ranges.partition_point(|(first, _)| *first <= point);
    after > 0 && {
        let (first, length) = ranges[after - 1];
        point - first < length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covered(runs: &[&[(u32, u32)]]) -> Covered {
        Covered {
            runs: runs.iter().map(|run| run.to_vec()).collect(),
            micros: 1_000,
            ..Covered::default()
        }
    }

    #[test]
    fn points_are_found_in_ranges() {
        let ranges = [(2, 3), (7, 1)];
        let found: Vec<u32> = (0..10).filter(|p| contains(&ranges, *p)).collect();
        assert_eq!(found, [2, 3, 4, 7]);
        assert!(!contains(&[], 0));
    }

    #[test]
    fn runs_are_united_and_counted() {
        let mut coverage = Coverage {
            tests: vec![
                covered(&[&[(0, 2)], &[(0, 1)], &[(0, 2)]]),
                covered(&[&[(1, 1)], &[], &[]]),
                covered(&[&[(0, 3)], &[(0, 3)], &[(0, 3)]]),
            ],
            ..Coverage::default()
        };
        let seen = |coverage: &Coverage| -> Vec<(u32, u32)> {
            let found = coverage.candidates(1);
            found.iter().map(|c| (c.test.0, c.seen)).collect()
        };
        assert_eq!(seen(&coverage), [(0, 2), (1, 1), (2, 3)]);
        coverage.tests[0].set_aside = Some("fails".into());
        assert_eq!(seen(&coverage), [(1, 1), (2, 3)]);
    }

    /// Three statements: points 0; 1 and 2; 3. The second test reaches the second statement in two of three runs.
    #[test]
    fn table_one_counts_statements_tests_and_pairs() {
        let coverage = Coverage {
            tests: vec![
                covered(&[&[(0, 2)], &[(0, 1), (2, 1)], &[(0, 3)]]),
                covered(&[&[(0, 4)], &[(0, 1), (3, 1)], &[(0, 4)]]),
                covered(&[&[], &[], &[]]),
            ],
            ..Coverage::default()
        };
        let found = coverage.stability(&[0, 1, 1, 2]);
        let share = |varying, of| Share { varying, of };
        assert_eq!(found.statements, share(1, 3));
        assert_eq!(found.tests, share(1, 3));
        assert_eq!(found.pairs, share(1, 5));
        let varying = Varying {
            statement: 1,
            test: TestIndex(1),
            seen: 2,
            of: 3,
        };
        assert_eq!(found.varying, [varying]);
    }
}
