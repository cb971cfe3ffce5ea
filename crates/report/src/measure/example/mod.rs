//! Documents made by hand.

mod many;

use std::collections::BTreeMap;

use super::*;

pub(crate) use many::many;

fn entropy(groups: &[usize]) -> f64 {
    let counts: Vec<u64> = groups.iter().map(|g| *g as u64).collect();
    flakelab_stats::entropy(&counts).unwrap_or(0.0)
}

fn flakiness(range: usize, groups: &[usize]) -> Flakiness {
    Flakiness {
        entropy: entropy(groups),
        range,
        groups: groups.to_vec(),
    }
}

pub(super) fn test(id: &str, groups: &[usize], elements: Vec<Element>) -> Test {
    Test {
        id: id.into(),
        flakiness: flakiness(elements.len(), groups),
        elements,
    }
}

pub(super) fn element(name: &str, values: &[(Option<&str>, usize)]) -> Element {
    let groups: Vec<usize> = values.iter().map(|(_, runs)| *runs).collect();
    Element {
        element: name.into(),
        entropy: entropy(&groups),
        values: values
            .iter()
            .map(|(value, runs)| Seen {
                value: value.map(str::to_owned),
                runs: *runs,
            })
            .collect(),
    }
}

pub(super) fn layer(name: &'static str, suite: &[usize], tests: Vec<Test>) -> Layer {
    let of = tests.len().max(1) as f64;
    let sum = |value: fn(&Test) -> f64| tests.iter().map(value).sum::<f64>();
    let runs = suite.iter().sum::<usize>().saturating_sub(1) as f64;
    let differing: usize = tests
        .iter()
        .map(|t| t.flakiness.groups.iter().skip(1).sum::<usize>())
        .sum();
    Layer {
        layer: name.into(),
        suite: flakiness(sum(|t| t.flakiness.range as f64) as usize, suite),
        average: Average {
            entropy: sum(|t| t.flakiness.entropy) / of,
            range: sum(|t| t.flakiness.range as f64) / of,
        },
        false_positives: Some(differing as f64 * 100.0 / (of * runs)),
        tests,
    }
}

fn settings(varied: &str, levels: &str) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> = [
        ("hash_seed", "0"),
        ("timezone", "UTC"),
        ("locale", "C.UTF-8"),
        ("umask", "022"),
    ]
    .map(|(factor, setting)| (factor.to_owned(), setting.to_owned()))
    .into();
    if !varied.is_empty() {
        all.insert(varied.into(), levels.into());
    }
    all
}

fn document(configurations: Vec<Configuration>) -> Document {
    Document {
        schema: Schema {
            name: "flakelab.measure".into(),
            version: "1.0".into(),
        },
        flakelab: "0.1.0".into(),
        project: "shop".into(),
        environment: Environment {
            os: "Linux 6.1".into(),
            arch: "x86_64".into(),
            cpus: 2,
            python: "3.11.2".into(),
            pytest: "8.3.4".into(),
            plugins: vec!["pytest-cov 5.0.0".into()],
            commit: Some("4f1c2d9".into()),
        },
        layers: configurations
            .first()
            .map(|c| c.layers.iter().map(|l| l.layer.clone()).collect())
            .unwrap_or_default(),
        campaign: Campaign {
            seed: 7,
            runs: 10,
            total_runs: configurations.iter().map(|c| c.runs).sum(),
            tests: configurations
                .first()
                .and_then(|c| c.layers.first())
                .map_or(0, |l| l.tests.len()),
            cpu_seconds: 130.0,
            wall_seconds: 75.0,
        },
        base: configurations.first().map(|c| c.name.clone()),
        configurations,
        factors: Vec::new(),
        latent: Vec::new(),
        unavailable: Vec::new(),
        notes: Vec::new(),
    }
}

/// Three tests that never vary.
pub(super) fn quiet() -> Document {
    let tests = || ["a", "b", "c"].map(|n| test(n, &[10], Vec::new())).to_vec();
    document(vec![Configuration {
        name: "controlled".into(),
        settings: settings("", ""),
        runs: 10,
        layers: vec![layer("outcome", &[10], tests())],
    }])
}

/// Three tests, one of them varies with the hash seed, one always; with text that wants to be more than text.
pub(crate) fn shop() -> Document {
    const SET: &str = "tests/test_cart.py::test_order";
    const TIMED: &str = "tests/test_cart.py::test_speed[a,\"b\"]";
    const CALM: &str = "tests/test_cart.py::test_empty";
    let timed = || {
        test(
            TIMED,
            &[6, 3, 1],
            vec![element(
                "tests/test_cart.py:20 elapsed < limit",
                &[
                    (Some("0.01 < 0.1"), 6),
                    (Some("<b>\u{1b}[31m0.02</b> < 0.1"), 3),
                    (None, 1),
                ],
            )],
        )
    };
    let order = |groups: &[usize]| {
        let values: [(Option<&str>, usize); 2] = [
            (Some("['apple', 'pear']"), groups[0]),
            (
                Some("['pear', 'apple']"),
                groups.get(1).copied().unwrap_or(0),
            ),
        ];
        let seen = &values[..groups.len()];
        let elements = match groups.len() {
            1 => Vec::new(),
            _ => vec![element("tests/test_cart.py:12 list(names)", seen)],
        };
        test(SET, groups, elements)
    };
    let calm = || test(CALM, &[10], Vec::new());
    let quiet = || {
        layer(
            "outcome",
            &[10],
            [SET, TIMED, CALM].map(|t| test(t, &[10], vec![])).to_vec(),
        )
    };
    let mut made = document(vec![
        Configuration {
            name: "controlled".into(),
            settings: settings("", ""),
            runs: 10,
            layers: vec![
                quiet(),
                layer("assertion", &[6, 3, 1], vec![order(&[10]), timed(), calm()]),
            ],
        },
        Configuration {
            name: "hash_seed".into(),
            settings: settings("hash_seed", "0 | 1 | 2"),
            runs: 10,
            layers: vec![
                quiet(),
                layer(
                    "assertion",
                    &[3, 2, 2, 2, 1],
                    vec![order(&[6, 4]), timed(), calm()],
                ),
            ],
        },
    ]);
    let effect = |share, p, tests| FactorEffect {
        factor: "hash_seed".into(),
        layer: "assertion".into(),
        levels: vec!["0".into(), "1".into(), "2".into()],
        effect: share,
        p,
        share,
        entropy: 0.6,
        unexplained: Some(0.863),
        entropy_change: Some(0.22),
        range_change: Some(0.33),
        tests,
    };
    let affected = Affected {
        id: SET.into(),
        effect: 0.93,
        p: 0.0005,
        elements: vec!["tests/test_cart.py:12 list(names)".into()],
        levels: vec![
            Level {
                setting: "0".into(),
                value: Some("['a', 'b']".into()),
                others: 0,
            },
            Level {
                setting: "1".into(),
                value: None,
                others: 2,
            },
        ],
    };
    made.factors = vec![effect(0.41, 0.0005, vec![affected])];
    made.factors.push(FactorEffect {
        factor: "timezone".into(),
        ..effect(0.02, 0.6, Vec::new())
    });
    made.latent = vec![Latent {
        test: TIMED.into(),
        element: "tests/test_cart.py:20 elapsed < limit".into(),
        configuration: "controlled".into(),
        smallest: 0.0123,
        mean: 0.08,
        spread: 0.0312,
        runs: 10,
    }];
    made.unavailable = vec![Unavailable {
        factor: "date".into(),
        why: "libfaketime is not installed".into(),
    }];
    made.notes = vec!["1 test was left out: it ends the process".into()];
    made
}
