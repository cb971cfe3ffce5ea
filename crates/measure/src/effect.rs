//! What one factor does: how much of the entropy between runs that differ in nothing else goes with its settings.
//!
//! The statistic is the mutual information between the factor's setting and the group a run falls into. Its
//! expectation and its p-value come from permuting settings among those runs: a test that is another in every run
//! shares as much "information" with shuffled settings as with the true ones, and so gets an effect of nought.

use std::collections::{BTreeMap, BTreeSet};

use flakelab_lab::orders::Stream;

use crate::factor::{Factor, Settings};
use crate::pool::SnapshotId;

/// Permutations; fewer where there are many tests to permute for.
const PERMUTATIONS: usize = 9_999;
const MOST_WORK: usize = 40_000_000;
/// Share of false names among the tests that are named, after Benjamini and Hochberg.
const FALSE_DISCOVERIES: f64 = 0.05;

/// Settings under which every run is given something else: each such run is a level of its own.
const ANOTHER_EACH_TIME: [&str; 2] = ["random", "left"];

/// Runs that differ in one factor only.
#[derive(Debug, Clone)]
pub struct Comparison {
    pub settings: Vec<String>,
    /// How many levels there are.
    levels: usize,
    /// For each run the number of its setting.
    settings_of: Vec<(usize, usize)>,
    /// Runs in strata within which all other factors agree: (number of the run, number of its level).
    strata: Vec<Vec<(usize, usize)>>,
}

impl Comparison {
    /// `None` if no two runs differ in this factor alone.
    pub fn new(factor: Factor, runs: &[&Settings]) -> Option<Self> {
        let mut strata: BTreeMap<Settings, Vec<(usize, &str)>> = BTreeMap::new();
        for (number, settings) in runs.iter().enumerate() {
            if let Some(level) = settings.get(&factor) {
                let mut others = (*settings).clone();
                others.remove(&factor);
                strata.entry(others).or_default().push((number, level));
            }
        }
        strata.retain(|_, runs| runs.iter().any(|(_, level)| *level != runs[0].1));
        let settings: BTreeSet<&str> = strata.values().flatten().map(|(_, level)| *level).collect();
        let settings: Vec<String> = settings.into_iter().map(str::to_owned).collect();
        let settings_of: Vec<(usize, usize)> = strata
            .values()
            .flatten()
            .filter_map(|(run, s)| Some((*run, settings.iter().position(|known| known == s)?)))
            .collect();
        let mut levels = settings.len();
        let mut level = |setting: &str| {
            if ANOTHER_EACH_TIME.contains(&setting) {
                levels += 1;
                return levels - 1;
            }
            let known = settings.iter().position(|known| known == setting);
            known.unwrap_or_default()
        };
        let strata: Vec<Vec<(usize, usize)>> = strata
            .into_values()
            .map(|runs| runs.into_iter().map(|(run, s)| (run, level(s))).collect())
            .collect();
        (!strata.is_empty()).then_some(Self {
            settings,
            levels,
            settings_of,
            strata,
        })
    }

    /// The runs under each setting.
    pub fn by_setting(&self) -> BTreeMap<&str, Vec<usize>> {
        let mut found: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (run, setting) in &self.settings_of {
            let name = self.settings[*setting].as_str();
            found.entry(name).or_default().push(*run);
        }
        found
    }

    /// The runs it looks at.
    pub fn runs(&self) -> impl Iterator<Item = usize> + '_ {
        self.strata.iter().flatten().map(|(run, _)| *run)
    }

    /// Mutual information of levels and groups in nats, weighted over strata, and the entropy of the groups.
    fn information(&self, labels: &[Vec<usize>], groups: &Grouped, table: &Logs) -> (f64, f64) {
        let (mut shared, mut own, mut all) = (0.0, 0.0, 0usize);
        let width = groups.count;
        let mut joint = vec![0usize; self.levels * width];
        let mut by_level = vec![0usize; self.levels];
        let mut by_group = vec![0usize; width];
        for (labels, members) in labels.iter().zip(&groups.strata) {
            joint.fill(0);
            by_level.fill(0);
            by_group.fill(0);
            let mut size = 0;
            for (level, group) in labels.iter().zip(members) {
                let Some(group) = group else { continue };
                joint[level * width + group] += 1;
                by_level[*level] += 1;
                by_group[*group] += 1;
                size += 1;
            }
            let total = |counts: &[usize]| counts.iter().map(|n| table.of(*n)).sum::<f64>();
            let (levels, kinds) = (total(&by_level), total(&by_group));
            shared += total(&joint) - levels - kinds + table.of(size);
            own += table.of(size) - kinds;
            all += size;
        }
        let all = all.max(1) as f64;
        (shared / all, own / all)
    }
}

/// The groups of one test's runs, numbered, in the strata of a comparison.
struct Grouped {
    strata: Vec<Vec<Option<usize>>>,
    count: usize,
}

/// n ln n.
struct Logs(Vec<f64>);

impl Logs {
    fn up_to(most: usize) -> Self {
        let term = |n: usize| {
            if n < 2 {
                0.0
            } else {
                n as f64 * (n as f64).ln()
            }
        };
        Self((0..=most).map(term).collect())
    }

    fn of(&self, n: usize) -> f64 {
        self.0[n]
    }
}

/// What a factor does at a layer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Effect {
    /// Of the entropy in these runs, the part explained beyond chance: 0 to 1.
    pub effect: f64,
    pub p: f64,
    /// Nats explained beyond chance, summed over the affected tests.
    pub explained: f64,
    /// The most affected first.
    pub tests: Vec<Affected>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Affected {
    /// Its number in the suite.
    pub test: usize,
    pub effect: f64,
    pub p: f64,
}

/// For each test its snapshot in every run of the campaign.
pub fn assess(comparison: &Comparison, tests: &[Vec<Option<SnapshotId>>], seed: u64) -> Effect {
    let grouped: Vec<(usize, Grouped)> = tests
        .iter()
        .enumerate()
        .filter_map(|(test, runs)| Some((test, group(comparison, runs)?)))
        .collect();
    if grouped.is_empty() {
        return Effect {
            p: 1.0,
            ..Effect::default()
        };
    }
    let size: usize = comparison.strata.iter().map(Vec::len).sum();
    let table = Logs::up_to(size);
    let mut labels: Vec<Vec<usize>> = comparison
        .strata
        .iter()
        .map(|runs| runs.iter().map(|(_, level)| *level).collect())
        .collect();
    let found: Vec<(f64, f64)> = grouped
        .iter()
        .map(|(_, groups)| comparison.information(&labels, groups, &table))
        .collect();
    let observed: f64 = found.iter().map(|(shared, _)| shared).sum();
    let rounds = (MOST_WORK / (grouped.len() * size)).clamp(199, PERMUTATIONS);
    let mut stream = Stream::new(seed, "permutations");
    let mut sums = vec![0.0; grouped.len()];
    let mut as_much = vec![0usize; grouped.len()];
    let mut as_much_in_all = 0usize;
    // What is equal but for rounding counts as equal.
    let slack = 1e-9;
    for _ in 0..rounds {
        for stratum in &mut labels {
            stream.shuffle(stratum);
        }
        let mut all = 0.0;
        for (at, (_, groups)) in grouped.iter().enumerate() {
            let (shared, _) = comparison.information(&labels, groups, &table);
            sums[at] += shared;
            as_much[at] += usize::from(shared >= found[at].0 - slack);
            all += shared;
        }
        as_much_in_all += usize::from(all >= observed - slack);
    }
    let p = |hits: usize| (hits + 1) as f64 / (rounds + 1) as f64;
    let expected: Vec<f64> = sums.iter().map(|sum| sum / rounds as f64).collect();
    let own: f64 = found.iter().map(|(_, own)| own).sum();
    let by_chance: f64 = expected.iter().sum();
    let mut effect = Effect {
        effect: beyond(observed, by_chance, own),
        p: p(as_much_in_all),
        ..Effect::default()
    };
    let p_values: Vec<f64> = as_much.iter().map(|hits| p(*hits)).collect();
    for at in discoveries(&p_values) {
        let (shared, own) = found[at];
        effect.explained += (shared - expected[at]).max(0.0);
        effect.tests.push(Affected {
            test: grouped[at].0,
            effect: beyond(shared, expected[at], own),
            p: p_values[at],
        });
    }
    effect
        .tests
        .sort_by(|a, b| b.effect.total_cmp(&a.effect).then(a.test.cmp(&b.test)));
    effect
}

/// `None` for a test that does not vary in these runs.
fn group(comparison: &Comparison, runs: &[Option<SnapshotId>]) -> Option<Grouped> {
    let mut numbers: BTreeMap<SnapshotId, usize> = BTreeMap::new();
    let strata = comparison
        .strata
        .iter()
        .map(|members| {
            let number = |(run, _): &(usize, usize)| {
                let next = numbers.len();
                runs[*run].map(|id| *numbers.entry(id).or_insert(next))
            };
            members.iter().map(number).collect()
        })
        .collect();
    let count = numbers.len();
    (count > 1).then_some(Grouped { strata, count })
}

/// How much of what could be explained beyond chance is.
fn beyond(shared: f64, by_chance: f64, own: f64) -> f64 {
    let possible = own - by_chance;
    if possible < 1e-9 {
        0.0
    } else {
        ((shared - by_chance) / possible).clamp(0.0, 1.0)
    }
}

/// The positions of p-values that hold together, after Benjamini and Hochberg.
fn discoveries(p_values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let count = p_values.len() as f64;
    let holds = |(rank, at): (usize, &usize)| {
        p_values[*at] <= FALSE_DISCOVERIES * (rank + 1) as f64 / count
    };
    let last = order.iter().enumerate().rposition(holds);
    order.truncate(last.map_or(0, |last| last + 1));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(seed: &str) -> Settings {
        Settings::from([
            (Factor::HashSeed, seed.to_owned()),
            (Factor::State, "restored".to_owned()),
        ])
    }

    /// Ten controlled runs, and two of each of five other hash seeds.
    fn runs() -> Vec<Settings> {
        let varied =
            (1..=5).flat_map(|seed| [settings(&seed.to_string()), settings(&seed.to_string())]);
        (0..10).map(|_| settings("0")).chain(varied).collect()
    }

    fn ids(groups: impl IntoIterator<Item = u32>) -> Vec<Option<SnapshotId>> {
        groups.into_iter().map(|g| Some(SnapshotId(g))).collect()
    }

    fn compare() -> Comparison {
        let runs = runs();
        let runs: Vec<&Settings> = runs.iter().collect();
        Comparison::new(Factor::HashSeed, &runs).expect("hash seeds differ")
    }

    #[test]
    fn a_test_that_follows_the_factor_is_explained_whole() {
        let follows = ids((0..10).map(|_| 0).chain([1, 1, 2, 2, 3, 3, 4, 4, 5, 5]));
        let effect = assess(&compare(), &[follows, ids([0; 20])], 1);
        assert!((effect.effect - 1.0).abs() < 1e-9, "{effect:?}");
        assert!(effect.p < 0.001);
        assert_eq!(effect.tests.len(), 1);
        assert_eq!(effect.tests[0].test, 0);
    }

    #[test]
    fn a_test_that_is_another_in_every_run_is_not_the_factors_doing() {
        let effect = assess(&compare(), &[ids(0..20)], 1);
        assert!(effect.effect < 1e-9 && effect.p == 1.0, "{effect:?}");
        assert!(effect.tests.is_empty());
    }

    #[test]
    fn a_factor_that_is_another_in_every_run_explains_what_is_another_in_every_run() {
        let random = (0..10).map(|_| settings("random"));
        let runs: Vec<Settings> = (0..10).map(|_| settings("0")).chain(random).collect();
        let runs: Vec<&Settings> = runs.iter().collect();
        let comparison = Comparison::new(Factor::HashSeed, &runs).expect("seeds differ");
        let follows = ids((0..10).map(|_| 0).chain(1..11));
        let effect = assess(&comparison, &[follows, ids(0..20)], 1);
        assert_eq!(effect.tests.len(), 1);
        assert!((effect.tests[0].effect - 1.0).abs() < 1e-9, "{effect:?}");
        assert_eq!(comparison.settings, ["0", "random"]);
    }

    #[test]
    fn a_coin_is_not_the_factors_doing() {
        let coin = ids([0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0]);
        let effect = assess(&compare(), &[coin], 1);
        assert!(effect.p > 0.05, "{effect:?}");
        assert!(effect.tests.is_empty());
    }

    #[test]
    fn runs_that_differ_in_two_factors_are_not_compared() {
        let mut other = settings("1");
        other.insert(Factor::State, "left".into());
        let base = settings("0");
        assert!(Comparison::new(Factor::HashSeed, &[&base, &other]).is_none());
        assert!(Comparison::new(Factor::HashSeed, &[&base, &base]).is_none());
    }

    #[test]
    fn permutations_stay_within_strata() {
        // The other factor alone decides; the hash seed differs within both of its settings.
        let mut all = Vec::new();
        let mut groups = Vec::new();
        for (group, state) in ["restored", "left"].iter().enumerate() {
            for seed in ["0", "0", "0", "1", "1", "1"] {
                let mut run = settings(seed);
                run.insert(Factor::State, (*state).to_owned());
                all.push(run);
                groups.push(group as u32);
            }
        }
        let all: Vec<&Settings> = all.iter().collect();
        let comparison = Comparison::new(Factor::HashSeed, &all).expect("seeds differ");
        let effect = assess(&comparison, &[ids(groups)], 1);
        assert_eq!((effect.effect, effect.p), (0.0, 1.0), "{effect:?}");
    }

    #[test]
    fn runs_a_test_is_missing_from_say_nothing() {
        let mut follows = ids((0..10).map(|_| 0).chain([1; 10]));
        follows[3] = None;
        follows[17] = None;
        let effect = assess(&compare(), &[follows], 1);
        assert_eq!(effect.tests.len(), 1);
    }
}
