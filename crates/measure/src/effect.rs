//! What each factor does: how much of the entropy between runs that differ in nothing else goes with its settings.
//!
//! The statistic is the mutual information between the factor's setting and the group a run falls into. Its
//! expectation and its p-value come from permuting settings among those runs: a test that is another in every run
//! shares as much "information" with shuffled settings as with the true ones, and so gets an effect of nought.

use std::collections::{BTreeMap, BTreeSet};

use crate::arrange;
use crate::factor::{Factor, Settings};
use crate::pool::SnapshotId;

/// Permutations that are drawn, and how many are so few that every one is looked at; fewer where there are many tests to
/// permute for.
const PERMUTATIONS: usize = 9_999;
const FEW: usize = 10_000;
const MOST_WORK: usize = 40_000_000;
/// Those of five runs of each of two settings are 252: they are always looked at.
const LEAST_FEW: usize = 1_000;
/// Share of false names among the tests that are named at a layer, for all factors together, after Benjamini and Hochberg.
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
    /// Nats that could have been, summed over all tests that vary in these runs.
    pub observed: f64,
    /// The most affected first.
    pub tests: Vec<Affected>,
}

impl Effect {
    /// Of what varies between runs that differ in nothing but the factor, the part that goes with it, test by test: what
    /// varies in tests that are not named is left unexplained.
    pub fn share(&self) -> f64 {
        if self.observed < SLACK {
            0.0
        } else {
            (self.explained / self.observed).clamp(0.0, 1.0)
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Affected {
    /// Its number in the suite.
    pub test: usize,
    pub effect: f64,
    pub p: f64,
}

/// What is equal but for rounding counts as equal.
const SLACK: f64 = 1e-9;

/// One test under one factor, before it is known which are named.
struct Suspect {
    affected: Affected,
    explained: f64,
}

/// What each factor does at a layer. For each test its snapshot in every run of the campaign.
pub fn assess(
    comparisons: &[Comparison],
    tests: &[Vec<Option<SnapshotId>>],
    seed: u64,
) -> Vec<Effect> {
    let (mut effects, suspects): (Vec<Effect>, Vec<Vec<Suspect>>) = comparisons
        .iter()
        .map(|comparison| one(comparison, tests, seed))
        .unzip();
    // All factors at once: whoever tries sixteen of them has sixteen chances to be wrong about a test.
    let suspects: Vec<(usize, Suspect)> = suspects
        .into_iter()
        .enumerate()
        .flat_map(|(factor, tests)| tests.into_iter().map(move |test| (factor, test)))
        .collect();
    let p_values: Vec<f64> = suspects.iter().map(|(_, s)| s.affected.p).collect();
    let named: BTreeSet<usize> = discoveries(&p_values).into_iter().collect();
    for (at, (factor, suspect)) in suspects.into_iter().enumerate() {
        if named.contains(&at) {
            effects[factor].explained += suspect.explained;
            effects[factor].tests.push(suspect.affected);
        }
    }
    for effect in &mut effects {
        effect
            .tests
            .sort_by(|a, b| b.effect.total_cmp(&a.effect).then(a.test.cmp(&b.test)));
    }
    effects
}

/// One factor, no test of which is named yet.
fn one(
    comparison: &Comparison,
    tests: &[Vec<Option<SnapshotId>>],
    seed: u64,
) -> (Effect, Vec<Suspect>) {
    let grouped: Vec<(usize, Grouped)> = tests
        .iter()
        .enumerate()
        .filter_map(|(test, runs)| Some((test, group(comparison, runs)?)))
        .collect();
    if grouped.is_empty() {
        let effect = Effect {
            p: 1.0,
            ..Effect::default()
        };
        return (effect, Vec::new());
    }
    let size: usize = comparison.strata.iter().map(Vec::len).sum();
    let table = Logs::up_to(size);
    let labels: Vec<Vec<usize>> = comparison
        .strata
        .iter()
        .map(|runs| runs.iter().map(|(_, level)| *level).collect())
        .collect();
    let found: Vec<(f64, f64)> = grouped
        .iter()
        .map(|(_, groups)| comparison.information(&labels, groups, &table))
        .collect();
    let observed: f64 = found.iter().map(|(shared, _)| shared).sum();
    let affordable = MOST_WORK / (grouped.len() * size);
    let mut sums = vec![0.0; grouped.len()];
    let mut as_much = vec![0usize; grouped.len()];
    let mut as_much_in_all = 0usize;
    let looked = arrange::each(
        &labels,
        affordable.clamp(LEAST_FEW, FEW),
        affordable.clamp(199, PERMUTATIONS),
        seed,
        &mut |labels| {
            let mut all = 0.0;
            for (at, (_, groups)) in grouped.iter().enumerate() {
                let (shared, _) = comparison.information(labels, groups, &table);
                sums[at] += shared;
                as_much[at] += usize::from(shared >= found[at].0 - SLACK);
                all += shared;
            }
            as_much_in_all += usize::from(all >= observed - SLACK);
        },
    );
    let expected: Vec<f64> = sums
        .iter()
        .map(|sum| sum / looked.arrangements as f64)
        .collect();
    let own: f64 = found.iter().map(|(_, own)| own).sum();
    let by_chance: f64 = expected.iter().sum();
    let suspects: Vec<Suspect> = grouped
        .iter()
        .enumerate()
        .map(|(at, (test, _))| {
            let (shared, own) = found[at];
            Suspect {
                affected: Affected {
                    test: *test,
                    effect: beyond(shared, expected[at], own),
                    p: looked.p(as_much[at]),
                },
                explained: (shared - expected[at]).max(0.0),
            }
        })
        .collect();
    let effect = Effect {
        effect: beyond(observed, by_chance, own),
        p: looked.p(as_much_in_all),
        observed: (own - by_chance).max(0.0),
        ..Effect::default()
    };
    (effect, suspects)
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
    if possible < SLACK {
        0.0
    } else {
        ((shared - by_chance) / possible).clamp(0.0, 1.0)
    }
}

/// The positions of p-values that hold together, after Benjamini and Hochberg: below the level, so that nothing is named
/// where the best of all arrangements only just reaches it.
fn discoveries(p_values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let count = p_values.len() as f64;
    let holds =
        |(rank, at): (usize, &usize)| p_values[*at] < FALSE_DISCOVERIES * (rank + 1) as f64 / count;
    let last = order.iter().enumerate().rposition(holds);
    order.truncate(last.map_or(0, |last| last + 1));
    order
}

#[cfg(test)]
mod tests;
