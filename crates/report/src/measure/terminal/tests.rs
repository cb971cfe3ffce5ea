use super::*;
use crate::measure::example;
use crate::tests;

fn plain(document: &Document, verbose: bool) -> String {
    tests::plain(terminal(document, verbose))
}

#[test]
fn what_varies_and_why() {
    insta::assert_snapshot!(plain(&example::shop(), false), @r#"
    shop: 3 tests, 20 runs in 2 configurations
    entropy in nats: 0 where all runs are alike, 2.30 where 10 runs all differ

    outcome                       nothing varies

    assertion                        suite   tests    range   false positives
      controlled                      0.90    0.30     0.33            14.8 %
      hash_seed                       1.56    0.52     0.67            29.6 %

    hash_seed explains 0.41 of the assertion entropy where nothing else differs (p 0.0005), 0.59 is unexplained; 1 test
      tests                  tests/test_cart.py::test_order
      most unstable element  tests/test_cart.py:12 list(names)  0: ['a', 'b'] | 1: (not there) and 2 more

    controlled: 1 test varies with every factor under control
      tests/test_cart.py::test_speed[a,"b"]
         0.90  assertion  tests/test_cart.py:20 elapsed < limit  6× 0.01 < 0.1 | 3× <b>�[31m0.02</b> < 0.1 | 1× not there

    latent: 1 comparison held every time, by less than it varies
      tests/test_cart.py::test_speed[a,"b"]  tests/test_cart.py:20 elapsed < limit
        held by 0.0123 at the least, 0.0800 ± 0.0312 on average (controlled, 10 runs)

    not varied: date, libfaketime is not installed
    note: 1 test was left out: it ends the process
    in 1 min 15 s (2 min 10 s CPU), seed 7
    "#);
}

#[test]
fn a_suite_that_never_varies() {
    insta::assert_snapshot!(plain(&example::quiet(), false), @r#"
    shop: 3 tests, 10 runs in 1 configuration
    entropy in nats: 0 where all runs are alike, 2.30 where 10 runs all differ

    nothing varies: all runs were alike, at every layer

    in 1 min 15 s (2 min 10 s CPU), seed 7
    "#);
}

#[test]
fn long_lists_are_cut_unless_all_is_wanted() {
    let document = example::many(400, 3, 8);
    let (short, all) = (plain(&document, false), plain(&document, true));
    assert!(short.lines().count() < 120, "{short}");
    assert!(short.contains("and 5 more elements"), "{short}");
    assert!(short.contains("(--verbose lists them)"), "{short}");
    assert!(!all.contains('…'), "{all}");
}

/// The first of those that have runs is another one; of it nothing is said that holds for the controlled runs.
#[test]
fn without_controlled_runs_no_other_configuration_is_taken_for_them() {
    let mut document = example::shop();
    document.configurations.remove(0);
    assert!(!plain(&document, false).contains("under control"));
    document.base = None;
    assert!(!plain(&document, false).contains("under control"));
    assert!(plain(&example::shop(), false).contains("under control"));
}
