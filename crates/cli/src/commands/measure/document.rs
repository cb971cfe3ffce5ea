//! A measurement as a document.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use flakelab_lab::Lab;
use flakelab_measure::{
    Comparison, Factor, Flakiness, Layer, Means, Measured, Measurement, Pool, Run, Settings,
    SnapshotId, Unstable, assess, false_positives, latent, of_suite, of_test, unstable,
};
use flakelab_model::{Suite, TestIndex};
use flakelab_report::detect::Schema;
use flakelab_report::measure as report;
use flakelab_runners::pytest::PytestLab;

use crate::project;
use crate::workbench::Workbench;

/// Elements named for a test, and values for an element.
const MOST_ELEMENTS: usize = 50;
const MOST_VALUES: usize = 10;
/// Elements named as those a factor changes.
const MOST_CHANGED: usize = 5;
const MOST_LATENT: usize = 200;
/// With fewer runs of two settings no arrangement of them is rare enough.
const FEWEST_RUNS: u32 = 5;

/// What the document says about the campaign besides its runs.
pub(super) struct About<'a> {
    pub(super) bench: &'a Workbench,
    pub(super) lab: &'a PytestLab,
    pub(super) layers: &'a BTreeSet<Layer>,
    pub(super) factors: &'a [Factor],
    pub(super) means: &'a Means,
    pub(super) runs: u32,
    pub(super) wall: Duration,
}

pub(super) fn build(measurement: Measurement, about: &About<'_>) -> report::Document {
    let Measurement {
        mut pool,
        base,
        configurations,
        notes,
    } = measurement;
    let suite = about.lab.suite();
    let notes = notes
        .into_iter()
        .chain(remarks(&configurations, about))
        .collect();
    let measured: Vec<report::Configuration> = configurations
        .iter()
        .map(|configuration| one(&mut pool, configuration, about.layers, suite))
        .collect();
    let cpu: Duration = configurations
        .iter()
        .flat_map(|c| &c.runs)
        .map(|r| r.cpu)
        .sum();
    let total_runs = configurations.iter().map(|c| c.runs.len()).sum();
    report::Document {
        schema: Schema::MEASURE,
        flakelab: env!("CARGO_PKG_VERSION").into(),
        project: about.bench.project_name(),
        environment: environment(about),
        layers: about
            .layers
            .iter()
            .map(|layer| layer.word().into())
            .collect(),
        factors: factors(&pool, &configurations, &base, about, suite),
        latent: latent_flakes(&pool, &configurations, suite),
        configurations: measured,
        base: Some(base),
        unavailable: about
            .means
            .unavailable
            .iter()
            .filter(|(factor, _)| about.factors.contains(factor))
            .map(|(factor, why)| report::Unavailable {
                factor: factor.word().into(),
                why: why.clone(),
            })
            .collect(),
        notes,
        campaign: report::Campaign {
            seed: about.bench.seed,
            runs: about.runs,
            total_runs,
            tests: suite.len(),
            cpu_seconds: round(cpu.as_secs_f64()),
            wall_seconds: round(about.wall.as_secs_f64()),
        },
    }
}

/// What a reader must know to judge the numbers.
fn remarks(configurations: &[Measured], about: &About<'_>) -> Vec<String> {
    let mut remarks = Vec::new();
    let runs = || configurations.iter().flat_map(|c| &c.runs);
    let missing = |test: usize| {
        let outcomes = runs().filter_map(|run| run.snapshots.get(&Layer::Outcome));
        outcomes.filter(|tests| tests[test].is_none()).count()
    };
    let absent = (0..about.lab.suite().len())
        .filter(|test| missing(*test) > 0)
        .count();
    if absent > 0 {
        remarks.push(format!(
            "{absent} tests did not run in some runs, because a test before them ended the process or the run; those \
             runs say nothing about them"
        ));
    }
    let unstable = about.lab.facts().unstable.len();
    if unstable > 0 {
        remarks.push(format!(
            "{unstable} tests are left out: their ids change from collection to collection"
        ));
    }
    if about.runs < FEWEST_RUNS && configurations.len() > 2 {
        remarks.push(format!(
            "with {} runs of each configuration few arrangements of settings are rare enough to be told from chance: a factor \
             that is not named may matter all the same; {FEWEST_RUNS} runs can do it, 10 are better",
            about.runs
        ));
    }
    remarks
}

fn round(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

fn environment(about: &About<'_>) -> report::Environment {
    let facts = about.lab.facts();
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    report::Environment {
        os: format!("{} {}", std::env::consts::OS, kernel.trim()),
        arch: std::env::consts::ARCH.into(),
        cpus: about.means.cpus,
        python: facts.python.clone(),
        pytest: facts.pytest.clone(),
        plugins: facts.plugins.clone(),
        commit: project::commit(&project::tree(&about.bench.project)),
    }
}

/// For each test its snapshots in these runs.
fn by_test<'a>(
    runs: impl Iterator<Item = &'a Run> + Clone,
    layer: Layer,
    tests: usize,
) -> Vec<Vec<Option<SnapshotId>>> {
    (0..tests)
        .map(|test| {
            let of = |run: &Run| *run.snapshots.get(&layer)?.get(test)?;
            runs.clone().map(of).collect()
        })
        .collect()
}

fn one(
    pool: &mut Pool,
    configuration: &Measured,
    layers: &BTreeSet<Layer>,
    suite: &Suite,
) -> report::Configuration {
    let layers = layers.iter().map(|layer| {
        let tests = by_test(configuration.runs.iter(), *layer, suite.len());
        let whole = of_suite(pool, &tests, layer.is_shared());
        let each: Vec<Flakiness> = tests.iter().map(|test| of_test(pool, test)).collect();
        let count = each.len().max(1) as f64;
        report::Layer {
            layer: layer.word().into(),
            suite: flakiness(&whole),
            average: report::Average {
                entropy: round(each.iter().map(|f| f.entropy).sum::<f64>() / count),
                range: round(each.iter().map(|f| f.range as f64).sum::<f64>() / count),
            },
            false_positives: false_positives(&tests).map(round),
            tests: each
                .iter()
                .enumerate()
                .map(|(test, found)| report::Test {
                    id: suite.id(TestIndex(test as u32)).to_string(),
                    flakiness: flakiness(found),
                    elements: elements(pool, &unstable(pool, &tests[test])),
                })
                .collect(),
        }
    });
    report::Configuration {
        name: configuration.name.clone(),
        settings: settings(&configuration.runs),
        runs: configuration.runs.len(),
        layers: layers.collect(),
    }
}

fn settings(runs: &[Run]) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for run in runs {
        for (factor, setting) in &run.settings {
            let seen = found.entry(factor.word().to_owned()).or_default();
            if !seen.contains(&setting.as_str()) {
                seen.push(setting);
            }
        }
    }
    found
        .into_iter()
        .map(|(factor, settings)| (factor, settings.join(" | ")))
        .collect()
}

fn flakiness(found: &Flakiness) -> report::Flakiness {
    report::Flakiness {
        entropy: round(found.entropy),
        range: found.range,
        groups: found.groups.clone(),
    }
}

fn elements(pool: &Pool, found: &[Unstable]) -> Vec<report::Element> {
    found
        .iter()
        .take(MOST_ELEMENTS)
        .map(|unstable| report::Element {
            element: pool.name(unstable.element).to_owned(),
            entropy: round(unstable.entropy),
            values: unstable
                .values
                .iter()
                .take(MOST_VALUES)
                .map(|(values, runs)| {
                    let names: Vec<&str> = values.iter().map(|value| pool.name(*value)).collect();
                    report::Seen {
                        value: (!names.is_empty()).then(|| names.join(" | ")),
                        runs: *runs,
                    }
                })
                .collect(),
        })
        .collect()
}

/// Of every factor that was varied, at every layer; the largest share first.
fn factors(
    pool: &Pool,
    configurations: &[Measured],
    base: &str,
    about: &About<'_>,
    suite: &Suite,
) -> Vec<report::FactorEffect> {
    let runs: Vec<&Run> = configurations.iter().flat_map(|c| &c.runs).collect();
    let settings: Vec<&Settings> = runs.iter().map(|run| &run.settings).collect();
    let mut found = Vec::new();
    for layer in about.layers {
        let tests = by_test(runs.iter().copied(), *layer, suite.len());
        let (varied, comparisons): (Vec<Factor>, Vec<Comparison>) = Factor::ALL
            .into_iter()
            .filter_map(|factor| Some((factor, Comparison::new(factor, &settings)?)))
            .unzip();
        let effects = assess(&comparisons, &tests, about.bench.seed);
        let effects = varied.into_iter().zip(&comparisons).zip(effects);
        for ((factor, comparison), effect) in effects {
            let average = |name: &str, of: fn(&Flakiness) -> f64| {
                let runs = &configurations.iter().find(|c| c.name == name)?.runs;
                let tests = by_test(runs.iter(), *layer, suite.len());
                let sum: f64 = tests.iter().map(|test| of(&of_test(pool, test))).sum();
                Some(sum / tests.len().max(1) as f64)
            };
            let change = |of: fn(&Flakiness) -> f64| {
                let varied = average(factor.word(), of);
                let base = average(base, of);
                Some(round(varied? - base?))
            };
            let compared: Vec<usize> = comparison.runs().collect();
            found.push(report::FactorEffect {
                factor: factor.word().into(),
                layer: layer.word().into(),
                levels: comparison.settings.clone(),
                effect: round(effect.effect),
                p: round(effect.p),
                share: round(effect.share()),
                entropy: round(effect.explained),
                unexplained: Some(round((effect.observed - effect.explained).max(0.0))),
                entropy_change: change(|f| f.entropy),
                range_change: change(|f| f.range as f64),
                tests: effect
                    .tests
                    .iter()
                    .map(|affected| report::Affected {
                        id: suite.id(TestIndex(affected.test as u32)).to_string(),
                        effect: round(affected.effect),
                        p: round(affected.p),
                        elements: changed(pool, &tests[affected.test], &compared),
                        levels: by_level(pool, &tests[affected.test], comparison),
                    })
                    .collect(),
            });
        }
    }
    found.sort_by(|a, b| {
        let layers = || a.layer.cmp(&b.layer).then(a.factor.cmp(&b.factor));
        b.share
            .total_cmp(&a.share)
            .then(a.p.total_cmp(&b.p))
            .then_with(layers)
    });
    found
}

/// What its most unstable element was under each setting, most of the time.
fn by_level(
    pool: &Pool,
    test: &[Option<SnapshotId>],
    comparison: &Comparison,
) -> Vec<report::Level> {
    let compared: Vec<Option<SnapshotId>> = comparison.runs().map(|run| test[run]).collect();
    let Some(first) = unstable(pool, &compared).into_iter().next() else {
        return Vec::new();
    };
    let mut levels = Vec::new();
    for (setting, runs) in comparison.by_setting() {
        let mut seen: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
        for id in runs.iter().filter_map(|run| test[*run]) {
            let pairs = pool.content(id).iter().filter(|(e, _)| *e == first.element);
            *seen
                .entry(pairs.map(|(_, value)| pool.name(*value)).collect())
                .or_default() += 1;
        }
        if let Some((value, _)) = seen.iter().max_by_key(|(_, times)| **times) {
            levels.push(report::Level {
                setting: setting.to_owned(),
                value: (!value.is_empty()).then(|| value.join(" | ")),
                others: seen.len() - 1,
            });
        }
    }
    levels
}

fn changed(pool: &Pool, test: &[Option<SnapshotId>], compared: &[usize]) -> Vec<String> {
    let runs: Vec<Option<SnapshotId>> = compared.iter().map(|run| test[*run]).collect();
    unstable(pool, &runs)
        .iter()
        .take(MOST_CHANGED)
        .map(|unstable| pool.name(unstable.element).to_owned())
        .collect()
}

fn latent_flakes(pool: &Pool, configurations: &[Measured], suite: &Suite) -> Vec<report::Latent> {
    let mut found: Vec<report::Latent> = Vec::new();
    // Under the same settings: what another date does to a margin is the date's doing.
    let same = |c: &&Measured| c.runs.iter().all(|run| run.settings == c.runs[0].settings);
    for configuration in configurations.iter().filter(same) {
        for flake in latent(&configuration.runs) {
            let test = suite.id(flake.test).to_string();
            let element = pool.name(flake.element).to_owned();
            // Once, where it was seen first.
            if found.iter().any(|f| f.test == test && f.element == element) {
                continue;
            }
            found.push(report::Latent {
                test,
                element,
                configuration: configuration.name.clone(),
                smallest: flake.smallest,
                mean: flake.mean,
                spread: flake.spread,
                runs: flake.runs,
            });
        }
    }
    found.truncate(MOST_LATENT);
    found
}
