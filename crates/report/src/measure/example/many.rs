//! A suite of any size, with what varies planted in it.

use super::super::*;
use super::{document, element, layer, settings, test};

const LAYERS: [&str; 4] = ["outcome", "assertion", "coverage", "state"];
const FACTORS: [&str; 13] = [
    "hash_seed",
    "random_seed",
    "timezone",
    "date",
    "locale",
    "umask",
    "cpus",
    "cpu_pressure",
    "network",
    "memory_layout",
    "file_order",
    "lasting_state",
    "interpreter",
];
const GROUPS: [&[usize]; 6] = [
    &[9, 1],
    &[8, 2],
    &[5, 5],
    &[6, 3, 1],
    &[4, 3, 2, 1],
    &[1; 10],
];

/// How many of a hundred tests vary with each layer and configuration.
fn share(configuration: usize, layer: usize) -> usize {
    [
        [1, 4, 8, 12],
        [2, 60, 35, 80],
        [10, 30, 90, 40],
        [0, 6, 0, 15],
    ][configuration % 4][layer]
}

/// `elements` of each test that varies.
pub(crate) fn many(tests: usize, configurations: usize, elements: usize) -> Document {
    let names = ["controlled"].into_iter().chain(FACTORS);
    let made = names.take(configurations).enumerate().map(|(at, name)| {
        let layers = LAYERS.iter().enumerate().map(|(depth, layer_name)| {
            let cases = (0..tests).map(|number| case(number, at, depth, elements));
            let suite: &[usize] = if at == 0 { &[9, 1] } else { &[4, 3, 2, 1] };
            layer(layer_name, suite, cases.collect())
        });
        Configuration {
            name: name.into(),
            settings: settings(if at == 0 { "" } else { name }, "0 | 1 | 2 | 3 | 4"),
            runs: 10,
            layers: layers.collect(),
        }
    });
    let mut document = document(made.collect());
    document.factors = effects(&document);
    document.latent = (0..4)
        .map(|at| Latent {
            test: format!("tests/unit/test_timing.py::test_budget[{at}]"),
            element: "tests/unit/test_timing.py:31 elapsed < budget".into(),
            configuration: "controlled".into(),
            smallest: 0.0004 * (at + 1) as f64,
            mean: 0.081,
            spread: 0.034,
            runs: 10,
        })
        .collect();
    document.unavailable = vec![Unavailable {
        factor: "date".into(),
        why: "libfaketime is not installed in the project's environment".into(),
    }];
    document.notes = vec!["2 tests were left out: they end the process".into()];
    document
}

fn case(number: usize, configuration: usize, depth: usize, elements: usize) -> Test {
    let id = format!(
        "tests/unit/test_module_{:02}.py::TestThing::test_case_{number}[param-{}]",
        number / 20,
        number % 7
    );
    if (number * 37 + depth * 11) % 100 >= share(configuration, depth) {
        return test(&id, &[10], Vec::new());
    }
    let groups = GROUPS[(number + configuration + depth) % GROUPS.len()];
    let made = (0..elements).map(|at| {
        let texts: Vec<String> = (0..groups.len())
            .map(|value| {
                format!(
                    "{{'order': ['apple', 'pear', 'plum'], 'id': {}, 'when': '2024-02-0{value}'}}",
                    at + value
                )
            })
            .collect();
        let mut values: Vec<(Option<&str>, usize)> = texts
            .iter()
            .zip(groups)
            .map(|(text, runs)| (Some(text.as_str()), *runs))
            .collect();
        if number.is_multiple_of(3)
            && let Some(last) = values.last_mut()
        {
            last.0 = None;
        }
        element(
            &format!(
                "tests/unit/test_module_{:02}.py:{} result",
                number / 20,
                10 + at
            ),
            &values,
        )
    });
    test(&id, groups, made.collect())
}

fn effects(document: &Document) -> Vec<FactorEffect> {
    let mut found = Vec::new();
    for (at, configuration) in document.configurations.iter().enumerate().skip(1) {
        for layer in &configuration.layers {
            let unstable = layer.tests.iter().filter(|t| t.flakiness.entropy > 0.0);
            let significant = at < 4;
            let tests = unstable
                .take(if significant { 40 } else { 0 })
                .map(|t| Affected {
                    id: t.id.clone(),
                    effect: 0.8,
                    p: 0.0005,
                    elements: t
                        .elements
                        .iter()
                        .take(3)
                        .map(|e| e.element.clone())
                        .collect(),
                    levels: Vec::new(),
                });
            found.push(FactorEffect {
                factor: FACTORS[at - 1].into(),
                layer: layer.layer.clone(),
                levels: ["0", "1", "2"].map(str::to_owned).to_vec(),
                effect: 0.7,
                p: if significant { 0.0005 } else { 0.31 },
                share: layer.average.entropy / (1.5 + at as f64),
                entropy: 3.2,
                unexplained: Some(1.6),
                entropy_change: Some(layer.average.entropy),
                range_change: Some(layer.average.range),
                tests: tests.collect(),
            });
        }
    }
    found.sort_by(|a, b| b.share.total_cmp(&a.share));
    found
}
