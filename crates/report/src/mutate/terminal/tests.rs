use super::*;
use crate::mutate::example;
use crate::tests;

fn plain(document: &Document, verbose: bool) -> String {
    tests::plain(terminal(document, verbose))
}

#[test]
fn what_survives_and_what_the_score_is() {
    insta::assert_snapshot!(plain(&example::shop(), false), @r#"
    survived shop/cart.py:4:20 Cart.total  `<` became `<=`
      4 tests hit it, none failed (comparison, m1)
        @@ -4 +4 @@
        -        if self.sum < limit:
        +        if self.sum <= limit:

    survived shop/tax.py:1:21 tax  `0.2` became `1.2`
      1 test hit it, none failed (default argument, m8)
        @@ -1 +1 @@
        -def tax(price, rate=0.2):
        +def tax(price, rate=1.2):

    unknown shop/cart.py:10:13 Cart.wait  `wait` was removed
      1 of 2 tests never hit it, none that did failed (removed call, m4)
      not hit by  tests/test_cart.py::test_waits
        @@ -10 +10 @@
        -            wait(0.1)
        +            pass

    timeout shop/cart.py:9:15 Cart.wait  the condition became `True`
      ran out of time (condition, m5)
      because  more than 2.0 s of CPU time, twice
        @@ -9 +9 @@
        -        while not self.done:
        +        while True:

    error shop/cart.py:14:11 <module>  `Cart()` became `None`
      could not be run (removed call, m6)
      because  the interpreter could not be started
        @@ -14 +14 @@
        -DEFAULT = Cart()
        +DEFAULT = None

    set aside: 1 test did not pass without a mutant; how they fail there kills nothing
      tests/test_cart.py::test_flaky  failed in coverage run 2 of 3

    coverage that differs from run to run
      statements            3 of 120 (2.5 %)
      tests                 2 of 8 (25.0 %)
      pairs of both         4 of 310 (1.3 %)
      shop/cart.py:10 in 1 of 3 runs of tests/test_cart.py::test_waits
      … and 3 more pairs

    reruns of what was not hit: pairs that hit the mutant at last, by rerun
                                 1       2   pairs mutants
      same process           1,204       0   1,204       3
      process per mutant         2       –       2       1
      fresh interpreter          1       –       1       0

    mutants
      killed                       2
      survived                     2
      unknown                      1
      timeout                      1  not part of the score
      error                        1  not part of the score
      not covered                  1  not part of the score
      never run: 2 equal to the original, 1 equal to another mutant, 3 excluded
      pairs of mutant and test: 9 killed, 12 survived, 1 unknown, 2 timeout

    score 40.0 % – 60.0 %: 2 of 5 mutants killed; 1 is unknown, and leaves the range open
    1,234 runs in 1 min 15 s (2 min 10 s CPU), seed 7
    coverage default, 3 reruns; up to 5 reruns on each rung, at once
    "#);
}

#[test]
fn a_suite_that_notices_everything() {
    insta::assert_snapshot!(plain(&example::clean(), false), @r#"
    mutants
      killed                       1
      survived                     0
      unknown                      0
      timeout                      0  not part of the score
      error                        0  not part of the score
      not covered                  0  not part of the score
      pairs of mutant and test: 9 killed, 12 survived, 1 unknown, 2 timeout

    score 100.0 %: 1 of 1 mutant killed
    1,234 runs in 1 min 15 s (2 min 10 s CPU), seed 7
    coverage default, 3 reruns; up to 5 reruns on each rung, at once
    "#);
}

#[test]
fn long_lists_are_cut_unless_all_is_wanted() {
    let (document, _) = example::many(10, 200);
    let (short, all) = (plain(&document, false), plain(&document, true));
    let told = |text: &str| {
        text.lines()
            .filter(|line| line.starts_with("survived shop/"))
            .count() as u64
    };
    assert_eq!(told(&short), 20);
    assert_eq!(told(&all), document.totals.survived);
    let more = document.totals.survived - 20;
    assert!(short.contains(&format!(
        "… and {more} more survived (--verbose lists them)"
    )));
}

#[test]
fn a_suites_text_takes_no_more_than_its_room() {
    let text = plain(&example::hostile(), false);
    assert!(text.len() < 60_000, "{}", text.len());
    assert!(
        text.lines().all(|line| !line.starts_with("::error")),
        "{text}"
    );
}
