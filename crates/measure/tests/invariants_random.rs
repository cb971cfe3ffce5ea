//! Whatever is said holds, in whatever order samples came, for whatever values.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use flakelab_measure::infer;
use flakelab_model::{Datum, Point, Sample};
use support::oracle::{Row, holds};
use support::{Lcg, inferred, list, planted, word};

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "g"];

/// A value of one of some families, so that columns are often of one kind and often related.
fn value(family: u64, base: i64, random: &mut Lcg) -> Datum {
    match family {
        0 => Datum::Int(base),
        1 => Datum::Int(base + random.int(0, 3)),
        2 => Datum::Int(random.int(-4, 4)),
        3 => Datum::Int(3 * base - 2),
        4 => Datum::Int(6 * random.int(-50, 50) + 1),
        5 => Datum::Float(base as f64 / 4.0),
        6 => Datum::Bool(random.below(2) == 0),
        7 => word(random.below(5) as u32, 2),
        8 => list(&[base as f64, base as f64 + 1.0, random.int(-3, 3) as f64]),
        9 => list(&[base as f64 - 1.0, base as f64]),
        10 => Datum::Sized {
            kind: 7,
            length: random.below(6),
        },
        11 => Datum::Other {
            kind: random.below(3) as u32,
        },
        12 => list(&[base as f64]),
        _ => {
            let family = random.below(13);
            value(family, base, random)
        }
    }
}

fn random_rows(random: &mut Lcg) -> Vec<Vec<Datum>> {
    let families: Vec<u64> = NAMES.iter().map(|_| random.below(14)).collect();
    let gaps: Vec<u64> = NAMES.iter().map(|_| random.below(4)).collect();
    let samples = [1, 3, 7, 12, 50, 300][random.below(6) as usize];
    let row = |_| {
        let base = random.int(-20, 20);
        let cell = |(family, gap): (&u64, &u64)| match (gap, random.below(12)) {
            (0, 0) => Datum::None,
            (0 | 1, 1) => Datum::Missing,
            _ => value(*family, base, random),
        };
        families.iter().zip(&gaps).map(cell).collect()
    };
    (0..samples).map(row).collect()
}

#[test]
fn what_is_said_holds_for_every_sample() {
    let mut random = Lcg(1);
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for round in 0..2000 {
        let rows = random_rows(&mut random);
        for (element, value) in inferred(&NAMES, &rows) {
            for values in &rows {
                let row = Row {
                    names: &NAMES,
                    values,
                };
                assert!(
                    holds(&element, &value, &row),
                    "round {round}: {element}: {value} for {values:?}"
                );
            }
            let kind = element.rsplit("  ").next().unwrap_or_default();
            *kinds.entry(kind.to_owned()).or_default() += 1;
        }
    }
    // Otherwise the loop above showed less than it seems to.
    let expected = [
        "<",
        "<=",
        "==",
        "ascending",
        "constant",
        "in",
        "linear",
        "lower bound",
        "modulus",
        "no duplicates",
        "not None",
        "not zero",
        "one of",
        "subset",
        "type",
        "upper bound",
    ];
    for kind in expected {
        assert!(
            kinds.get(kind).is_some_and(|n| *n >= 5),
            "{kind}: {kinds:?}"
        );
    }
}

#[test]
fn the_order_of_samples_does_not_matter() {
    let mut random = Lcg(2);
    for _ in 0..300 {
        let mut rows = random_rows(&mut random);
        let found = inferred(&NAMES, &rows);
        random.shuffle(&mut rows);
        assert_eq!(found, inferred(&NAMES, &rows));
    }
}

/// Values that break careless arithmetic.
fn hostile(random: &mut Lcg) -> Datum {
    let ints = [i64::MIN, i64::MIN + 1, i64::MAX, i64::MAX - 1, 0, -1, 1];
    let floats = [
        f64::MIN,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        -0.0,
        5e-324,
        -9_223_372_036_854_775_808.0,
        9_223_372_036_854_775_808.0,
    ];
    let float = floats[random.below(9) as usize];
    match random.below(8) {
        0..3 => Datum::Int(ints[random.below(7) as usize]),
        3 => Datum::Float(float),
        4 => Datum::Numbers {
            length: [0, 1, 3, u64::MAX][random.below(4) as usize],
            items: vec![float; random.below(4) as usize],
        },
        5 => word([0, 1, u32::MAX][random.below(3) as usize], u64::MAX),
        6 => Datum::Sized {
            kind: [0, u32::MAX][random.below(2) as usize],
            length: u64::MAX,
        },
        _ => Datum::Other { kind: u32::MAX },
    }
}

#[test]
fn hostile_values_are_survived_in_any_order() {
    let mut random = Lcg(3);
    for round in 0..2000 {
        // Columns of one kind reach further than mixed ones.
        let only_ints = round % 2 == 0;
        let mut rows: Vec<Vec<Datum>> = (0..40)
            .map(|_| {
                let mut row: Vec<Datum> = NAMES.iter().map(|_| hostile(&mut random)).collect();
                if only_ints {
                    row.retain(|value| matches!(value, Datum::Int(_)));
                }
                row
            })
            .collect();
        let found = inferred(&NAMES, &rows);
        random.shuffle(&mut rows);
        assert_eq!(found, inferred(&NAMES, &rows));
    }
}

#[test]
fn a_trace_that_does_not_fit_together_says_what_it_can() {
    let mut trace = planted(&["a"], &[vec![Datum::Int(1)]]);
    trace.points.push(Point {
        name: u32::MAX,
        variables: vec![0],
    });
    trace.points[0].variables.push(u32::MAX);
    trace.points[0].variables.push(0);
    let too_many = vec![Datum::Int(1); 9];
    let samples: Vec<Sample> = [
        (0, too_many),
        (0, vec![]),
        (1, vec![Datum::Int(1)]),
        (7, vec![]),
    ]
    .into_iter()
    .map(|(point, values)| Sample { point, values })
    .collect();
    let expected = BTreeSet::from([
        ("f  a  constant".to_owned(), "1 or missing".to_owned()),
        ("f  w0  constant".to_owned(), "1 or missing".to_owned()),
    ]);
    assert_eq!(infer(&trace, &samples), expected);
}

#[test]
fn wide_points_and_many_samples_are_bounded() {
    let names: Vec<String> = (0..70).map(|n| format!("v{n:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let rows: Vec<Vec<Datum>> = (0..3000)
        .map(|sample| {
            (0..70)
                .map(|n| Datum::Int(sample * sample % 1009 * (n + 1)))
                .collect()
        })
        .collect();
    let found = inferred(&names, &rows);
    let about = |name: &str| found.iter().filter(|(e, _)| e.contains(name)).count();
    assert!(about("v63") > 0);
    assert_eq!(about("v64"), 0, "the 65th variable");
    let lines = found.iter().filter(|(e, _)| e.ends_with("linear"));
    assert_eq!(lines.count(), 11, "twelve are paired");
}
