//! Each kind of invariant about one variable: where it holds, where a sample refutes it, where samples are few.

mod support;

use flakelab_model::Datum;
use support::{about, floats, ints, list, said, word};

const NOTHING: [&str; 0] = [];

/// Whole numbers without any pattern that is looked for, around zero.
fn scattered(count: i64) -> impl Iterator<Item = i64> {
    (1..=count).map(|n| (n * n * 7919) % 10_007 - 5000)
}

#[test]
fn constants_take_one_sample() {
    assert_eq!(about(ints([5])), ["x  constant: 5"]);
    assert_eq!(about(ints([5; 50])), ["x  constant: 5"]);
    assert_eq!(about(floats([0.0, -0.0])), ["x  constant: 0.0"]);
    assert_eq!(about([Datum::None, Datum::None]), ["x  constant: None"]);
    assert_eq!(about([word(3, 2)]), ["x  constant: \"w3\""]);
    assert_eq!(about([Datum::Bool(true)]), ["x  constant: True"]);
    let lists = [list(&[1.0, 2.5]), list(&[1.0, 2.5])];
    assert_eq!(about(lists), ["x  constant: [1.0, 2.5]"]);
    assert_eq!(about(ints([])), NOTHING);
    assert_eq!(about([Datum::Missing]), NOTHING);
}

#[test]
fn at_most_three_values_are_listed() {
    assert_eq!(about(ints([10, 9, 10])), ["x  one of: {9, 10}"]);
    assert_eq!(about(ints([3, 1, 2, 1])), ["x  one of: {1, 2, 3}"]);
    assert_eq!(about(ints([3, 1, 2, 4])), NOTHING);
    assert_eq!(
        about([word(2, 1), word(1, 1)]),
        ["x  one of: {\"w1\", \"w2\"}"]
    );
    assert_eq!(
        about([Datum::None, Datum::Int(1)]),
        ["x  one of: {1, None}"]
    );
    let lists = [list(&[2.0]), list(&[])];
    assert_eq!(about(lists), ["x  one of: {[2.0], []}"]);
}

#[test]
fn both_truth_values_say_nothing() {
    let both = || (0..11).map(|n| Datum::Bool(n % 2 == 0));
    assert_eq!(about(both()), NOTHING);
    assert_eq!(about(both().chain(both())), ["x  not None: bool"]);
    let with_none = both().chain([Datum::None]);
    assert_eq!(about(with_none), ["x  one of: {False, True, None}"]);
}

#[test]
fn bounds_take_samples_at_the_bound() {
    let thrice = || (0..30).map(|n| 20 + n % 10);
    assert_eq!(
        about(ints(thrice())),
        ["x  lower bound: 20", "x  upper bound: 29"]
    );
    // One far off takes the place of the upper bound, and makes the lower one stand out.
    assert_eq!(about(ints(thrice().chain([400]))), ["x  lower bound: 20"]);
    assert_eq!(about(ints((0..10).map(|n| 20 + n))), NOTHING);
    // As many as expected from above, but only one at the bound.
    assert_eq!(about(ints(thrice().chain([19]))), ["x  upper bound: 29"]);
}

#[test]
fn bounds_of_floats() {
    let values = (0..200).map(|n| if n % 2 == 0 { 0.5 } else { 1.0 + f64::from(n) });
    assert_eq!(about(floats(values)), ["x  lower bound: 0.5"]);
    let unbounded = (0..50).map(|n| f64::from(n % 5)).chain([f64::INFINITY; 5]);
    assert_eq!(about(floats(unbounded)), ["x  lower bound: 0.0"]);
    let nan = (0..50).map(|n| f64::from(n % 5)).chain([f64::NAN]);
    assert_eq!(about(floats(nan)), ["x  not None: float"]);
}

#[test]
fn a_modulus_leaves_one_rest() {
    let steps = |count| scattered(count).map(|n| 8 * n + 1);
    // 0.875^35 is below the limit, 0.875^34 is not.
    assert_eq!(about(ints(steps(35))), ["x  modulus: 1 mod 8"]);
    assert_eq!(about(ints(steps(34))), ["x  not None: int"]);
    assert_eq!(about(ints(steps(99).chain([2]))), ["x  not None: int"]);
    let whole_floats = floats(steps(99).map(|n| n as f64));
    assert_eq!(about(whole_floats), ["x  not None: float"]);
    // Bounds of such numbers count steps, and zero is out of reach.
    let thrice = (0..30).map(|n| 25 + 10 * (n % 7));
    assert_eq!(
        about(ints(thrice.clone().chain(thrice))),
        [
            "x  lower bound: 25",
            "x  modulus: 5 mod 10",
            "x  upper bound: 85"
        ]
    );
}

#[test]
fn never_zero() {
    let enough = || scattered(400).filter(|n| *n != 0);
    assert!(enough().count() >= 228);
    assert_eq!(about(ints(enough())), ["x  not zero"]);
    assert_eq!(about(ints(enough().chain([0]))), ["x  not None: int"]);
    assert_eq!(about(ints(enough().take(227))), ["x  not None: int"]);
    assert_eq!(about(floats(enough().map(|n| n as f64))), ["x  not zero"]);
    // A bound above zero says more.
    let above = (0..400).map(|n| 1 + n % 10);
    assert_eq!(
        about(ints(above)),
        ["x  lower bound: 1", "x  upper bound: 10"]
    );
}

#[test]
fn never_none() {
    let numbers = |count| scattered(count).map(Datum::Int);
    assert_eq!(about(numbers(12)), ["x  not None: int"]);
    assert_eq!(about(numbers(11)), NOTHING);
    assert_eq!(about(numbers(20).chain([Datum::None])), NOTHING);
    assert_eq!(
        about(numbers(12).chain([Datum::Missing])),
        ["x  not None: int or missing"]
    );
}

#[test]
fn what_speaks_of_some_samples_says_so() {
    let values = (0..30).map(|n| Datum::Int(20 + n % 10));
    let with_none = values.clone().chain([Datum::None]);
    assert_eq!(
        about(with_none.clone()),
        ["x  lower bound: 20 or None", "x  upper bound: 29 or None"]
    );
    assert_eq!(
        about(with_none.chain([Datum::Missing])),
        [
            "x  lower bound: 20 or None or missing",
            "x  upper bound: 29 or None or missing"
        ]
    );
    let missing = [Datum::Int(3), Datum::Missing];
    assert_eq!(about(missing), ["x  constant: 3 or missing"]);
}

#[test]
fn types_that_vary_are_listed() {
    let mixed = [word(1, 1), Datum::Int(1), Datum::Int(2), Datum::Int(3)];
    assert_eq!(about(mixed.clone()), ["x  type: {int, str}"]);
    let more = mixed.into_iter().chain([Datum::None]);
    assert_eq!(about(more.clone()), ["x  type: {int, str} or None"]);
    // w5 and w6 stand for the names of classes here; four types are too many.
    let objects = [Datum::Other { kind: 5 }, Datum::Other { kind: 6 }];
    assert_eq!(about(objects.clone()), ["x  type: {w5, w6}"]);
    assert_eq!(about(more.chain(objects)), NOTHING);
    let many = (0..12).map(|kind| Datum::Other { kind });
    assert_eq!(about(many), ["x  not None"]);
}

#[test]
fn sized_things_have_a_type_and_a_length() {
    let sized = |lengths: Vec<u64>| {
        lengths
            .into_iter()
            .map(|length| Datum::Sized { kind: 5, length })
    };
    assert_eq!(
        about(sized(vec![3, 3])),
        ["len(x)  constant: 3", "x  type: w5"]
    );
    assert_eq!(
        about(sized(vec![4, 3])),
        ["len(x)  one of: {3, 4}", "x  type: w5"]
    );
    let many = (0..60).map(|n| 10 + n % 6).collect();
    assert_eq!(
        about(sized(many)),
        [
            "len(x)  lower bound: 10",
            "len(x)  upper bound: 15",
            "x  type: w5"
        ]
    );
    assert_eq!(about(sized((0..9).collect())), ["x  type: w5"]);
}

#[test]
fn texts_of_one_length() {
    let texts = |lengths: [u64; 4]| (0..4).zip(lengths).map(|(text, length)| word(text, length));
    assert_eq!(about(texts([2, 2, 2, 2])), ["len(x)  constant: 2"]);
    assert_eq!(about(texts([2, 2, 2, 3])), NOTHING);
    assert_eq!(
        about(texts([2, 2, 2, 3]).take(3)),
        ["x  one of: {\"w0\", \"w1\", \"w2\"}"]
    );
}

/// Lists of three elements, all different.
fn lists(count: u32) -> impl Iterator<Item = Datum> + Clone {
    (0..count).map(|n| list(&[f64::from(n), f64::from(n + 1), f64::from(n + 1 + n % 7)]))
}

#[test]
fn sorted_sequences() {
    assert_eq!(about(lists(7)), ["len(x)  constant: 3", "x  ascending"]);
    assert_eq!(about(lists(6)), ["len(x)  constant: 3"]);
    let refuted = lists(20).chain([list(&[2.0, 1.0, 3.0])]);
    assert_eq!(about(refuted), ["len(x)  constant: 3"]);
    let nan = lists(20).chain([list(&[2.0, f64::NAN, 3.0])]);
    assert_eq!(about(nan), ["len(x)  constant: 3"]);
    let falling = (0..7).map(|n| list(&[f64::from(n), f64::from(-n)]));
    assert_eq!(about(falling), ["len(x)  constant: 2", "x  descending"]);
    // One element is sorted anyway.
    let single = (0..20).map(|n| list(&[f64::from(n)]));
    assert_eq!(about(single), ["len(x)  constant: 1"]);
    // What was not kept may be anything.
    let cut = lists(20).chain([Datum::Numbers {
        length: 100,
        items: (0..64).map(f64::from).collect(),
    }]);
    assert_eq!(about(cut), ["len(x)  one of: {3, 100}"]);
}

#[test]
fn sequences_without_duplicates() {
    let different = |count| {
        (0..count).map(|n| list(&[f64::from(n % 9), f64::from(10 + n), -1.0 - f64::from(n)]))
    };
    assert_eq!(
        about(different(44)),
        ["len(x)  constant: 3", "x  no duplicates"]
    );
    assert_eq!(about(different(43)), ["len(x)  constant: 3"]);
    for twice in [[5.0, 1.0, 5.0], [0.0, 1.0, -0.0], [f64::NAN, 1.0, 2.0]] {
        let refuted = different(60).chain([list(&twice)]);
        assert_eq!(about(refuted), ["len(x)  constant: 3"], "{twice:?}");
    }
}

#[test]
fn elements_name_the_point_and_do_not_depend_on_where_a_variable_stands() {
    let rows = |a: i64, b: i64| vec![vec![Datum::Int(a), Datum::Int(b)]];
    assert_eq!(
        said(&["a", "b"], &rows(1, 2)),
        said(&["b", "a"], &rows(2, 1))
    );
    let found = support::inferred(&["price"], &[vec![Datum::Int(7)]]);
    let expected = ("f  price  constant".to_owned(), "7".to_owned());
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [expected]);
}
