//! Explanations of planted suites: who, with whom, and what of it matters.

use std::time::Duration;

use flakelab_explain::{Explanation, Mode, Settings, Stage, Target, Watch, explain, failing_in};
use flakelab_lab::fake::{FakeLab, Rule, leak};
use flakelab_model::{Class, Order, TestIndex, Timeout};

struct Nobody;

impl Watch for Nobody {
    fn target(&mut self, _: TestIndex, _: usize, _: usize) {}
    fn stage(&mut self, _: Stage, _: usize) {}
    fn run_done(&mut self) {}
}

fn settings(mode: Mode) -> Settings {
    Settings {
        seed: 1,
        mode,
        all: false,
        state: true,
        confirmations: 3,
        orders: 60,
        budget: None,
        timeout: Timeout {
            test: Duration::from_secs(1),
            run: Duration::from_secs(1),
        },
        impatient: true,
        clock: false,
    }
}

/// Forty tests, the given ones planted.
fn suite(planted: &[(usize, Rule)]) -> FakeLab {
    let mut rules = vec![Rule::Passes; 40];
    for (at, rule) in planted {
        rules[*at] = rule.clone();
    }
    FakeLab::new(rules, 7)
}

fn target(test: u32) -> Target {
    Target {
        test: TestIndex(test),
        class: None,
        orders: Vec::new(),
    }
}

fn one(lab: &mut FakeLab, settings: &Settings, target: Target) -> Explanation {
    let mut found = explain(lab, settings, &mut Nobody, vec![target]).expect("it runs");
    assert_eq!(found.len(), 1);
    found.remove(0)
}

fn sets(e: &Explanation) -> Vec<Vec<u32>> {
    let mut sets: Vec<Vec<u32>> = e
        .culprits
        .iter()
        .map(|c| {
            let mut tests: Vec<u32> = c.tests.iter().map(|t| t.0).collect();
            tests.sort_unstable();
            tests
        })
        .collect();
    sets.sort();
    sets
}

fn victim(polluters: &[&[u32]], cleaners: &[u32]) -> Rule {
    Rule::Victim {
        polluters: polluters.iter().map(|set| set.to_vec()).collect(),
        cleaners: cleaners.to_vec(),
    }
}

#[test]
fn every_mode_finds_the_one_polluter_and_its_cleaner() {
    for mode in [Mode::Probe, Mode::Pairs, Mode::Delta] {
        let mut lab = suite(&[(20, victim(&[&[5]], &[31]))]);
        let e = one(&mut lab, &settings(mode), target(20));
        assert_eq!(e.class, Class::Victim);
        assert_eq!(sets(&e), [[5]], "{mode:?}");
        let cleaners: Vec<_> = e.cleanings.iter().map(|c| c.cleaners.clone()).collect();
        assert_eq!(cleaners, [[TestIndex(31)]], "{mode:?}");
        let order = e.reproduce.expect("an order").0;
        assert_eq!(order, [TestIndex(5), TestIndex(20)]);
    }
}

#[test]
fn polluters_that_only_work_together_are_found_and_nothing_else_is_named() {
    for planted in [&[3u32, 33][..], &[8, 9, 30], &[1, 2, 25, 30, 39]] {
        let mut lab = suite(&[(20, victim(&[planted], &[]))]);
        for mode in [Mode::Probe, Mode::Delta] {
            let e = one(&mut lab, &settings(mode), target(20));
            assert_eq!(sets(&e), [planted.to_vec()], "{mode:?}");
        }
    }
}

#[test]
fn all_finds_every_set_and_every_cleaner() {
    let mut lab = suite(&[(20, victim(&[&[5], &[6], &[11, 12]], &[30, 31, 32, 33]))]);
    let mut wanted = settings(Mode::Probe);
    wanted.all = true;
    let e = one(&mut lab, &wanted, target(20));
    assert_eq!(sets(&e), [vec![5], vec![6], vec![11, 12]]);
    for polluters in [vec![5], vec![6], vec![11, 12]] {
        let mut cleaners: Vec<u32> = e
            .cleanings
            .iter()
            .filter(|c| {
                let mut tests: Vec<u32> = c.polluters.iter().map(|t| t.0).collect();
                tests.sort_unstable();
                tests == polluters
            })
            .map(|c| c.cleaners[0].0)
            .collect();
        cleaners.sort_unstable();
        assert_eq!(cleaners, [30, 31, 32, 33], "{polluters:?}");
    }
}

#[test]
fn cleaners_that_only_work_together_are_found_and_nothing_else_is_named() {
    let rule = Rule::CleanedTogether {
        polluter: 5,
        cleaners: vec![12, 33],
    };
    let mut lab = suite(&[(20, rule)]);
    let e = one(&mut lab, &settings(Mode::Probe), target(20));
    assert_eq!(sets(&e), [[5]]);
    let cleaners: Vec<_> = e.cleanings.iter().map(|c| c.cleaners.clone()).collect();
    assert_eq!(cleaners, [[TestIndex(12), TestIndex(33)]]);
}

#[test]
fn a_brittle_gets_its_setters_and_no_cleaners() {
    let setters = vec![vec![4], vec![17, 18]];
    let mut lab = suite(&[(20, Rule::Brittle { setters })]);
    let mut wanted = settings(Mode::Probe);
    wanted.all = true;
    let e = one(&mut lab, &wanted, target(20));
    assert_eq!(e.class, Class::Brittle);
    assert_eq!(sets(&e), [vec![4], vec![17, 18]]);
    assert!(e.cleanings.is_empty());
    assert_eq!(e.reproduce.expect("an order").0, [TestIndex(20)]);
}

#[test]
fn the_leak_that_matters_is_told_from_those_that_do_not() {
    let mut lab = suite(&[(20, victim(&[&[7, 8]], &[]))]);
    // Every planted test leaves something; only that of 7 and 8 matters, and either is enough.
    let e = one(&mut lab, &settings(Mode::Probe), target(20));
    let causal: Vec<_> = e.leaks.iter().filter(|l| l.causal).collect();
    let mut names: Vec<&str> = causal.iter().map(|l| l.leak.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, [leak(7).name, leak(8).name]);
    assert_eq!(causal[0].leak.at.as_deref(), Some("fake.py:7"));
}

#[test]
fn a_state_set_up_by_two_tests_takes_both() {
    // Undoing one of two setters makes it fail again: each is necessary on its own.
    let setters = vec![vec![7, 8]];
    let mut lab = suite(&[(20, Rule::Brittle { setters })]);
    let e = one(&mut lab, &settings(Mode::Probe), target(20));
    assert_eq!(e.leaks.iter().filter(|l| l.causal).count(), 2);
}

#[test]
fn pollution_by_chance_is_reported_with_its_rate() {
    let rule = Rule::FlakyAfter {
        polluter: 5,
        percent: 60,
        otherwise: 0,
    };
    let mut lab = suite(&[(20, rule)]);
    for mode in [Mode::Probe, Mode::Pairs, Mode::Delta] {
        for class in [None, Some(Class::NonDeterministic)] {
            let mut known = target(20);
            known.class = class;
            known.orders = vec![Order((0..=20).map(TestIndex).collect())];
            let e = one(&mut lab, &settings(mode), known);
            assert_eq!(sets(&e), [[5]], "{mode:?} {:?}", e.notes);
            assert_eq!(e.class, Class::NonDeterministic);
            let rate = e.culprits[0].rate.expect("a rate");
            assert_eq!(rate.of, 40);
            assert!((10..40).contains(&rate.failed), "{rate:?}");
            assert_eq!(
                e.reproduce.expect("an order").0,
                [TestIndex(5), TestIndex(20)]
            );
        }
    }
}

#[test]
fn nobody_is_blamed_for_what_a_test_does_alone() {
    let rule = Rule::FlakyAfter {
        polluter: 5,
        percent: 30,
        otherwise: 20,
    };
    let mut lab = suite(&[(20, rule)]);
    for mode in [Mode::Probe, Mode::Pairs, Mode::Delta] {
        let mut known = target(20);
        known.orders = vec![Order((0..=20).map(TestIndex).collect())];
        let e = one(&mut lab, &settings(mode), known);
        assert!(e.culprits.is_empty(), "{mode:?} {:?}", e.culprits);
    }
}

#[test]
fn what_only_forks_show_is_not_published() {
    let mut lab = suite(&[(20, Rule::VictimInForks { polluter: 5 })]);
    let e = one(&mut lab, &settings(Mode::Probe), target(20));
    assert!(e.culprits.is_empty());
    assert_eq!(e.class, Class::Stable);
    assert!(
        e.notes
            .iter()
            .any(|n| n.contains("fresh interpreters did not")),
        "{:?}",
        e.notes
    );
}

#[test]
fn a_test_that_does_not_depend_on_order_is_said_to_be_so() {
    let mut lab = suite(&[(21, Rule::Fails)]);
    let stable = one(&mut lab, &settings(Mode::Probe), target(20));
    assert_eq!(stable.class, Class::Stable);
    let failing = one(&mut lab, &settings(Mode::Probe), target(21));
    assert_eq!(failing.class, Class::AlwaysFailing);
    assert!(stable.culprits.is_empty() && failing.culprits.is_empty());
}

#[test]
fn a_test_that_varies_alone_is_asked_about_its_surroundings() {
    let mut lab = suite(&[(20, Rule::Flaky { percent: 50 })]);
    let mut varying = target(20);
    varying.class = Some(Class::NonDeterministic);
    let e = one(&mut lab, &settings(Mode::Probe), varying);
    assert_eq!(e.factors.len(), 5);
    assert!(e.factors.iter().all(|f| !f.decides), "{:?}", e.factors);
    assert!(e.culprits.is_empty());
}

#[test]
fn a_failing_order_from_elsewhere_gives_the_targets() {
    let mut lab = suite(&[(20, victim(&[&[5]], &[])), (21, Rule::Fails)]);
    let order = Order((0..40).map(TestIndex).collect());
    let wanted = settings(Mode::Probe);
    let late = Settings {
        budget: Some(Duration::ZERO),
        ..wanted.clone()
    };
    let cut = failing_in(&mut lab, &late, &mut Nobody, std::slice::from_ref(&order));
    let (targets, cut_short) = cut.expect("it runs");
    assert!(targets.is_empty() && cut_short);
    let (targets, cut_short) =
        failing_in(&mut lab, &wanted, &mut Nobody, &[order]).expect("it runs");
    assert!(!cut_short);
    let tests: Vec<u32> = targets.iter().map(|t| t.test.0).collect();
    assert_eq!(tests, [20]);
    let e = one(&mut lab, &wanted, targets[0].clone());
    assert_eq!(sets(&e), [[5]]);
}

#[test]
fn a_probe_costs_two_executions_for_every_test_of_the_order() {
    let mut lab = suite(&[(39, victim(&[&[0]], &[]))]);
    let mut known = target(39);
    known.orders = vec![Order((0..40).map(TestIndex).collect())];
    let before = lab.runs;
    let mut wanted = settings(Mode::Probe);
    wanted.state = false;
    one(&mut lab, &wanted, known);
    // 39 probes, one pair, cleaners, confirmations: nothing grows with the square of the order.
    assert!(lab.runs - before < 39 + 39 + 30, "{}", lab.runs - before);
}

#[test]
fn a_brittle_that_an_import_sets_up_is_said_to_need_no_run() {
    let needs = Rule::PassesWith {
        file: "m3.py".into(),
    };
    let mut lab = suite(&[(5, needs)]);
    let e = one(&mut lab, &settings(Mode::Probe), target(5));
    assert_eq!(e.class, Class::Brittle);
    assert!(
        sets(&e).iter().all(|set| matches!(set[..], [30..40])),
        "{:?}",
        sets(&e)
    );
    let said = e
        .notes
        .iter()
        .any(|n| n.starts_with("it passes before them as well"));
    assert!(said, "{:?}", e.notes);
    assert!(e.leaks.is_empty());
}

#[test]
fn a_leak_that_could_not_be_put_back_is_named_and_not_taken_for_harmless() {
    let mut lab = suite(&[(20, victim(&[&[5]], &[]))]);
    lab.stuck = vec![5];
    let e = one(&mut lab, &settings(Mode::Probe), target(20));
    assert_eq!(sets(&e), [[5]]);
    assert!(e.leaks.iter().all(|found| !found.causal), "{:?}", e.leaks);
    let name = leak(5).name;
    let named =
        |note: &String| note.contains("could not be, and may be it") && note.ends_with(&name);
    assert!(e.notes.iter().any(named), "{:?}", e.notes);
}

#[test]
fn what_no_cold_interpreter_shows_is_not_published() {
    let mut lab = suite(&[(20, Rule::VictimUnlessCold { polluter: 5 })]);
    let e = one(&mut lab, &settings(Mode::Probe), target(20));
    assert!(e.culprits.is_empty(), "{:?}", e.culprits);
    assert_ne!(e.class, Class::Victim);
}
