//! How flaky: the entropy of groups of equal runs (equation 3.1), and the range of difference (definition 4).

use std::collections::{BTreeMap, BTreeSet};

use flakelab_stats::entropy;

use crate::pool::{Pool, SnapshotId, Text};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Flakiness {
    /// In nats.
    pub entropy: f64,
    pub range: usize,
    /// How many runs were alike, the largest group first.
    pub groups: Vec<usize>,
}

/// Of one test, by its snapshots in several runs. Runs in which it did not run say nothing.
pub fn of_test(pool: &Pool, runs: &[Option<SnapshotId>]) -> Flakiness {
    let seen: Vec<SnapshotId> = runs.iter().flatten().copied().collect();
    let distinct: BTreeSet<SnapshotId> = seen.iter().copied().collect();
    Flakiness {
        range: if distinct.len() > 1 {
            pool.differing(&distinct).len()
        } else {
            0
        },
        ..of_groups(seen)
    }
}

/// Of things that are alike or not; the range is left open.
pub fn of_groups<T: Ord>(runs: impl IntoIterator<Item = T>) -> Flakiness {
    let mut sizes: BTreeMap<T, usize> = BTreeMap::new();
    for run in runs {
        *sizes.entry(run).or_default() += 1;
    }
    let mut groups: Vec<usize> = sizes.into_values().collect();
    groups.sort_unstable_by(|a, b| b.cmp(a));
    let counts: Vec<u64> = groups.iter().map(|size| *size as u64).collect();
    Flakiness {
        entropy: entropy(&counts).unwrap_or_default(),
        range: 0,
        groups,
    }
}

/// Of a suite: the union of its tests' snapshots, run by run. `shared` says whether elements of different tests
/// are the same thing (a line of code) or each test's own (its outcome).
pub fn of_suite(pool: &mut Pool, tests: &[Vec<Option<SnapshotId>>], shared: bool) -> Flakiness {
    let runs = tests.first().map_or(0, Vec::len);
    if !shared {
        let whole = (0..runs).map(|run| {
            tests
                .iter()
                .map(|test| test[run])
                .collect::<Vec<Option<SnapshotId>>>()
        });
        let range = tests.iter().map(|test| of_test(pool, test).range).sum();
        return Flakiness {
            range,
            ..of_groups(whole)
        };
    }
    let unions: Vec<Option<SnapshotId>> = (0..runs)
        .map(|run| {
            let ids: BTreeSet<SnapshotId> = tests.iter().filter_map(|test| test[run]).collect();
            let pairs: Vec<(Text, Text)> = ids
                .iter()
                .flat_map(|id| pool.content(*id).iter().copied())
                .collect();
            Some(pool.snapshot(pairs))
        })
        .collect();
    of_test(pool, &unions)
}

/// Percent of the later runs of tests that differ from their first run, equation 4.1; `None` without a later run.
pub fn false_positives(tests: &[Vec<Option<SnapshotId>>]) -> Option<f64> {
    let (mut wrong, mut all) = (0usize, 0usize);
    for test in tests {
        let mut seen = test.iter().flatten();
        let Some(oracle) = seen.next() else { continue };
        for run in seen {
            all += 1;
            wrong += usize::from(run != oracle);
        }
    }
    (all > 0).then(|| wrong as f64 / all as f64 * 100.0)
}

/// An element that varies, with its values and how often each was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Unstable {
    pub element: Text,
    pub entropy: f64,
    /// The most frequent first. No values: the element was not there.
    pub values: Vec<(Vec<Text>, usize)>,
}

/// The elements of a test that vary, the most unstable first.
pub fn unstable(pool: &Pool, runs: &[Option<SnapshotId>]) -> Vec<Unstable> {
    let mut times: BTreeMap<SnapshotId, usize> = BTreeMap::new();
    for run in runs.iter().flatten() {
        *times.entry(*run).or_default() += 1;
    }
    if times.len() < 2 {
        return Vec::new();
    }
    let differing = pool.differing(&times.keys().copied().collect());
    let mut values: BTreeMap<Text, BTreeMap<Vec<Text>, usize>> = BTreeMap::new();
    for (id, count) in &times {
        let present: BTreeMap<Text, Vec<Text>> = Pool::elements(pool.content(*id))
            .filter(|(element, _)| differing.contains(element))
            .map(|(element, pairs)| (element, pairs.iter().map(|(_, value)| *value).collect()))
            .collect();
        for element in &differing {
            let seen = present.get(element).cloned().unwrap_or_default();
            *values.entry(*element).or_default().entry(seen).or_default() += count;
        }
    }
    let mut found: Vec<Unstable> = values
        .into_iter()
        .map(|(element, values)| {
            let counts: Vec<u64> = values.values().map(|count| *count as u64).collect();
            let mut values: Vec<(Vec<Text>, usize)> = values.into_iter().collect();
            values.sort_by_key(|(_, runs)| std::cmp::Reverse(*runs));
            Unstable {
                element,
                entropy: entropy(&counts).unwrap_or_default(),
                values,
            }
        })
        .collect();
    found.sort_by(|a, b| {
        let names = || pool.name(a.element).cmp(pool.name(b.element));
        b.entropy.total_cmp(&a.entropy).then_with(names)
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 3.1 of the dissertation: lines covered by each test case in four runs, arranged to give the groups and
    /// inconsistent lines that table 3.2 states.
    const TABLE: [[&[u32]; 4]; 4] = [
        [&[2, 3], &[2, 3], &[2, 3], &[2, 3]],
        [&[1, 2, 4], &[1, 2, 4, 5], &[1, 2, 4, 5], &[1, 2, 4, 5]],
        [&[2, 5], &[2, 5], &[1, 2, 4, 5], &[1, 2, 4, 5]],
        [&[2, 3, 4], &[2, 3, 4], &[2, 4], &[2, 3, 4, 6]],
    ];

    fn table(pool: &mut Pool) -> Vec<Vec<Option<SnapshotId>>> {
        let covered = pool.text("covered");
        TABLE
            .iter()
            .map(|test| {
                test.iter()
                    .map(|lines| {
                        let pairs = lines
                            .iter()
                            .map(|line| (pool.text(&format!("#{line}")), covered))
                            .collect();
                        Some(pool.snapshot(pairs))
                    })
                    .collect()
            })
            .collect()
    }

    fn round(value: f64) -> f64 {
        (value * 100.0).round() / 100.0
    }

    #[test]
    fn table_3_2_of_the_dissertation() {
        let mut pool = Pool::default();
        let tests = table(&mut pool);
        let cases: Vec<Flakiness> = tests.iter().map(|test| of_test(&pool, test)).collect();
        let entropies: Vec<f64> = cases.iter().map(|case| round(case.entropy)).collect();
        assert_eq!(entropies, [0.0, 0.56, 0.69, 1.04]);
        let ranges: Vec<usize> = cases.iter().map(|case| case.range).collect();
        assert_eq!(ranges, [0, 1, 2, 2]);
        let groups: Vec<&[usize]> = cases.iter().map(|case| &case.groups[..]).collect();
        assert_eq!(groups, [&[4][..], &[3, 1], &[2, 2], &[2, 1, 1]]);
        let suite = of_suite(&mut pool, &tests, true);
        assert_eq!(round(suite.entropy), 0.56);
        assert_eq!((suite.range, suite.groups), (1, vec![3, 1]));
        let mean = cases.iter().map(|case| case.entropy).sum::<f64>() / 4.0;
        assert_eq!(round(mean), 0.57);
        assert_eq!(ranges.iter().sum::<usize>() as f64 / 4.0, 1.25);
    }

    #[test]
    fn ten_runs_have_the_entropies_the_dissertation_names() {
        // All differ: 2.3; one differs: 0.33.
        assert_eq!(round(of_groups(0..10).entropy), 2.3);
        assert_eq!(
            round(of_groups([0, 0, 0, 0, 0, 0, 0, 0, 0, 1]).entropy),
            0.33
        );
    }

    #[test]
    fn a_suite_of_tests_that_own_their_elements_differs_where_any_of_them_does() {
        let mut pool = Pool::default();
        let (passed, failed) = (pool.snapshot(vec![(0, 0)]), pool.snapshot(vec![(0, 1)]));
        let tests = vec![
            vec![Some(passed), Some(failed), Some(passed)],
            vec![Some(passed), Some(passed), Some(failed)],
        ];
        let suite = of_suite(&mut pool, &tests, false);
        assert_eq!((suite.groups, suite.range), (vec![1, 1, 1], 2));
    }

    #[test]
    fn false_positives_take_the_first_run_for_the_truth() {
        let (a, b) = (Some(SnapshotId(0)), Some(SnapshotId(1)));
        assert_eq!(false_positives(&[vec![a, a, b], vec![b, b, b]]), Some(25.0));
        assert_eq!(false_positives(&[vec![None, a, b]]), Some(100.0));
        assert_eq!(false_positives(&[vec![a]]), None);
    }

    #[test]
    fn the_most_unstable_element_comes_first_with_its_values() {
        let mut pool = Pool::default();
        let [x, y, one, two] = ["x", "y", "1", "2"].map(|text| pool.text(text));
        let runs = [
            pool.snapshot(vec![(x, one), (y, one)]),
            pool.snapshot(vec![(x, two), (y, one)]),
            pool.snapshot(vec![(x, two)]),
            pool.snapshot(vec![(x, one), (y, one)]),
        ]
        .map(Some);
        let found = unstable(&pool, &runs);
        assert_eq!(found[0].element, x);
        assert_eq!(found[1].values, [(vec![one], 3), (vec![], 1)]);
    }
}
