//! Each kind of invariant about two variables: where it holds, where a sample refutes it, where samples are
//! few, and where something stronger says it.

mod support;

use flakelab_model::Datum;
use support::{about_pairs, list, said, word};

const NOTHING: [&str; 0] = [];

/// Whole numbers in no order, each once.
fn scattered(count: i64) -> impl Iterator<Item = i64> + Clone {
    (1..=count).map(|n| (n * n * 7919) % 10_007)
}

/// How far y is from x, so that the two are on no line.
fn uneven(x: i64) -> i64 {
    x % 13 + 1
}

fn int_pairs(pairs: impl IntoIterator<Item = (i64, i64)>) -> Vec<(Datum, Datum)> {
    let data = |(x, y)| (Datum::Int(x), Datum::Int(y));
    pairs.into_iter().map(data).collect()
}

#[test]
fn equal_numbers() {
    let same = |count| scattered(count).map(|x| (x, x));
    assert_eq!(about_pairs(int_pairs(same(7))), ["x, y  =="]);
    // A line takes fewer samples, but this one would say the same.
    assert_eq!(about_pairs(int_pairs(same(6))), NOTHING);
    let other = int_pairs(same(9).chain([(1, 2), (2, 1)]));
    assert_eq!(about_pairs(other), NOTHING);
    let mixed = scattered(9).map(|x| (Datum::Int(x), Datum::Float(x as f64)));
    assert_eq!(about_pairs(mixed), ["x, y  =="]);
    let nan = scattered(9).map(|x| (x as f64, x as f64));
    let nan = nan.chain([(f64::NAN, f64::NAN)]);
    let nan = nan.map(|(x, y)| (Datum::Float(x), Datum::Float(y)));
    assert_eq!(about_pairs(nan), NOTHING);
}

#[test]
fn equal_texts_truth_values_and_sequences() {
    let texts = |lengths: fn(u32) -> u64| (0..7).map(move |n| (word(n, 2), word(n, lengths(n))));
    assert_eq!(about_pairs(texts(|_| 2)), ["x, y  =="]);
    // Masked texts that had different lengths.
    assert_eq!(about_pairs(texts(|n| u64::from(n) + 1)), NOTHING);
    assert_eq!(about_pairs(texts(|_| 2).take(6)), NOTHING);
    let truths = (0..8).map(|n| (Datum::Bool(n % 3 == 0), Datum::Bool(n % 3 == 0)));
    assert_eq!(about_pairs(truths), ["x, y  =="]);
    let lists = (0..8).map(|n| (list(&[f64::from(n)]), list(&[f64::from(n)])));
    assert_eq!(about_pairs(lists), ["x, y  =="]);
}

#[test]
fn less_and_less_or_equal() {
    let apart = |count| scattered(count).map(|x| (x, x + uneven(x)));
    assert_eq!(about_pairs(int_pairs(apart(7))), ["x, y  <"]);
    assert_eq!(about_pairs(int_pairs(apart(6))), NOTHING);
    let touching = || apart(7).chain([(5, 5)]);
    assert_eq!(about_pairs(int_pairs(touching())), ["x, y  <="]);
    assert_eq!(about_pairs(int_pairs(touching().chain([(5, 4)]))), NOTHING);
    let mirrored = touching().map(|(x, y)| (y, x));
    assert_eq!(about_pairs(int_pairs(mirrored)), ["y, x  <="]);
    let mirrored = apart(7).map(|(x, y)| (y, x));
    assert_eq!(about_pairs(int_pairs(mirrored)), ["y, x  <"]);
}

#[test]
fn some_samples_without_a_value() {
    let gaps = [
        (Datum::None, Datum::Int(1)),
        (Datum::Int(1), Datum::Missing),
    ];
    let apart = int_pairs(scattered(7).map(|x| (x, x + uneven(x))));
    assert_eq!(
        about_pairs(apart.into_iter().chain(gaps.clone())),
        ["x, y  <: or None or missing"]
    );
    // Only samples with both are counted.
    let few = int_pairs(scattered(6).map(|x| (x, x + uneven(x))));
    assert_eq!(about_pairs(few.into_iter().chain(gaps)), NOTHING);
}

#[test]
fn orders_that_bounds_imply_are_not_said() {
    // Both have three values, and those are listed.
    let listed = int_pairs((0..20).map(|n| (n % 3, 10 + n * n % 3)));
    assert_eq!(about_pairs(listed), NOTHING);
    let constant = int_pairs(scattered(20).map(|x| (x, 20_000)));
    assert_eq!(about_pairs(constant), NOTHING);
}

#[test]
fn linear_functions() {
    let line = |a: i64, b: i64, count| {
        let on_line = int_pairs(scattered(count).map(move |x| (x - 5000, a * (x - 5000) + b)));
        about_pairs(on_line)
    };
    assert_eq!(line(3, -1, 4), ["x, y  linear: y = 3*x - 1"]);
    assert_eq!(line(3, -1, 3), NOTHING);
    assert_eq!(line(-1, 0, 50), ["x, y  linear: y = -x"]);
    // That y is below x follows.
    assert_eq!(line(1, -7, 50), ["x, y  linear: y = x - 7"]);
    let refuted = int_pairs(scattered(50).map(|x| (x, 3 * x)).chain([(20_000, 1)]));
    assert_eq!(about_pairs(refuted), NOTHING);
    let halved = int_pairs(scattered(50).map(|x| (2 * x - 9001, x)));
    assert_eq!(about_pairs(halved), ["x, y  linear: x = 2*y - 9001"]);
    let fraction = int_pairs(scattered(50).map(|x| (2 * x - 9001, 3 * x - 13_000)));
    assert_eq!(about_pairs(fraction), ["x, y  linear: 2*y = 3*x + 1003"]);
}

#[test]
fn linear_functions_of_floats_are_rounded() {
    let line = |a: f64, b: f64| {
        let x = scattered(50).map(|x| x as f64 / 10.0 - 500.0);
        about_pairs(x.map(|x| (Datum::Float(x), Datum::Float(a * x + b))))
    };
    assert_eq!(line(0.1, 0.0), ["x, y  linear: y = 0.1*x"]);
    assert_eq!(line(-2.0, 0.3), ["x, y  linear: y = -2*x + 0.3"]);
    // Large offsets do not make everything a line.
    let clock = (0..50).map(|n| (1.7e9 + f64::from(n), 1.7e9 + f64::from(n * n % 17)));
    let clock = clock.map(|(x, y)| (Datum::Float(x), Datum::Float(y)));
    assert_eq!(about_pairs(clock), NOTHING);
    for odd in [f64::NAN, f64::INFINITY, f64::MAX] {
        let pairs = scattered(50)
            .map(|x| (x as f64, 2.0 * x as f64))
            .chain([(odd, odd)]);
        let said = about_pairs(pairs.map(|(x, y)| (Datum::Float(x), Datum::Float(y))));
        assert!(!said.iter().any(|line| line.contains("linear")), "{said:?}");
    }
}

#[test]
fn numbers_in_sequences() {
    let inside = |count| {
        scattered(count).map(|x| {
            let x = x as f64;
            (Datum::Int(x as i64), list(&[x + 1.5, x, x - 1.5]))
        })
    };
    assert_eq!(about_pairs(inside(7)), ["x, y  in"]);
    assert_eq!(about_pairs(inside(6)), NOTHING);
    let refuted = inside(20).chain([(Datum::Int(3), list(&[]))]);
    assert_eq!(about_pairs(refuted), NOTHING);
    let swapped = inside(7).map(|(x, y)| (y, x));
    assert_eq!(about_pairs(swapped), ["y, x  in"]);
    let nan = inside(20).chain([(Datum::Float(f64::NAN), list(&[f64::NAN]))]);
    assert_eq!(about_pairs(nan), NOTHING);
}

#[test]
fn sequences_in_sequences() {
    let inside = |count| {
        scattered(count).map(|x| {
            let x = x as f64;
            (list(&[x]), list(&[x + 1.5, x]))
        })
    };
    assert_eq!(about_pairs(inside(7)), ["x, y  subset"]);
    assert_eq!(about_pairs(inside(6)), NOTHING);
    let swapped = inside(7).map(|(x, y)| (y, x));
    assert_eq!(about_pairs(swapped), ["y, x  subset"]);
    let refuted = inside(20).chain([(list(&[1.0]), list(&[2.0]))]);
    assert_eq!(about_pairs(refuted), NOTHING);
    // Empty ones are in anything.
    let empty = scattered(20).map(|x| (list(&[]), list(&[x as f64])));
    assert_eq!(about_pairs(inside(6).chain(empty)), NOTHING);
    let turned = inside(7).map(|(_, y)| match &y {
        Datum::Numbers { items, .. } => (list(&[items[1], items[0]]), y),
        _ => (Datum::None, Datum::None),
    });
    assert_eq!(about_pairs(turned), ["x, y  same elements"]);
    // The end of x was not kept, so nobody knows.
    let cut = Datum::Numbers {
        length: 65,
        items: vec![1.0; 64],
    };
    let cut = inside(20).chain([(cut, list(&[1.0]))]);
    assert_eq!(about_pairs(cut), NOTHING);
}

/// Pairs of `rows` over variables `a`, `b`, …
fn pairs_of(rows: Vec<Vec<i64>>) -> Vec<String> {
    let names = ["a", "b", "c", "d"];
    let width = rows[0].len();
    let rows: Vec<_> = rows.into_iter().map(support::ints).collect();
    let mut said = said(&names[..width], &rows);
    said.retain(|line| line.contains(", "));
    said
}

#[test]
fn the_first_of_equal_variables_speaks_for_all() {
    let rows = scattered(20).map(|x| vec![x - uneven(x), x, x, x]);
    assert_eq!(
        pairs_of(rows.collect()),
        ["a, b  <", "b, c  ==", "b, d  =="]
    );
}

#[test]
fn an_order_through_a_third_variable_is_not_said() {
    let rows = || scattered(20).map(|x| vec![x, x + uneven(x), x + uneven(x) + x % 3]);
    assert_eq!(pairs_of(rows().collect()), ["a, b  <", "b, c  <="]);
    let backwards = rows().map(|mut row| {
        row.reverse();
        row
    });
    assert_eq!(pairs_of(backwards.collect()), ["b, a  <=", "c, b  <"]);
    // x <= y <= z does not imply x < z.
    let strict = scattered(20).map(|x| vec![x, x + x % 2, x + x % 2 + (x + 1) % 2 + x % 3]);
    assert_eq!(
        pairs_of(strict.collect()),
        ["a, b  <=", "a, c  <", "b, c  <="]
    );
}

#[test]
fn lines_through_a_common_variable_are_not_said_twice() {
    let rows = scattered(20).map(|x| vec![x - 5000, 2 * (x - 5000), 3 * (x - 5000)]);
    assert_eq!(
        pairs_of(rows.collect()),
        ["a, b  linear: b = 2*a", "a, c  linear: c = 3*a"]
    );
}
