//! Detection against planted truth: the fake lab knows what each test is.

use std::time::{Duration, Instant};

use flakelab_detect::{Detection, Settings, Stage, Watch, detect};
use flakelab_lab::fake::{FakeLab, Rule};
use flakelab_lab::orders::Kind;
use flakelab_lab::{Lab, LabError, Sink};
use flakelab_model::{Class, Order, RunRequest, Suite, TestIndex, Timeout};
use proptest::prelude::*;

struct Nobody;

impl Watch for Nobody {
    fn stage(&mut self, _: Stage, _: usize) {}
    fn run_done(&mut self, _: Stage) {}
    fn suspects(&mut self, _: usize) {}
}

fn settings() -> Settings {
    Settings {
        seed: 1,
        orders: 100,
        mix: vec![Kind::Global, Kind::Nested],
        given: Vec::new(),
        rerun_orders: 3,
        reruns: 3,
        isolated: 10,
        confirmations: 3,
        budget: None,
        timeout: Timeout {
            test: Duration::from_secs(60),
            run: Duration::from_secs(60),
        },
        impatient: true,
        alone: true,
        twice: true,
        pairs: 50,
    }
}

fn run(rules: &[Rule], settings: &Settings) -> Detection {
    let mut lab = FakeLab::new(rules.to_vec(), 7);
    detect(&mut lab, settings, &mut Nobody).expect("the fake lab never breaks")
}

/// `count` stable tests with some rules planted among them, the first at position 3.
fn suite(count: usize, planted: Vec<Rule>) -> Vec<Rule> {
    let mut rules = vec![Rule::Passes; count];
    for (at, rule) in planted.into_iter().enumerate() {
        rules[3 + 2 * at] = rule;
    }
    rules
}

fn check(rules: &[Rule], expected: &[(u32, Class)]) -> Detection {
    let detection = run(rules, &settings());
    let found: Vec<(u32, Class)> = detection
        .findings
        .iter()
        .map(|f| (f.test.0, f.class))
        .collect();
    assert_eq!(found, expected, "{:#?}", detection.findings);
    detection
}

fn victim(polluters: &[&[u32]], cleaners: &[u32]) -> Rule {
    Rule::Victim {
        polluters: polluters.iter().map(|set| set.to_vec()).collect(),
        cleaners: cleaners.to_vec(),
    }
}

#[test]
fn a_clean_suite_has_no_findings() {
    let detection = check(&suite(30, vec![]), &[]);
    assert_eq!(detection.random_orders(), 100);
    assert_eq!(detection.orders[&Kind::Original], 1);
    assert_eq!(detection.orders[&Kind::Reverse], 1);
    assert!(detection.notes.is_empty(), "{:?}", detection.notes);
}

#[test]
fn a_victim_comes_with_its_polluter() {
    let detection = check(
        &suite(30, vec![victim(&[&[20]], &[])]),
        &[(3, Class::Victim)],
    );
    let finding = &detection.findings[0];
    let command = finding.reproduce.as_ref().expect("a command");
    assert_eq!(command.order, [20, 3].map(TestIndex));
    assert!(command.plain);
    assert_eq!((finding.isolated.passed, finding.isolated.failed), (10, 0));
    assert_eq!((finding.confirmed.passed, finding.confirmed.failed), (0, 3));
    assert!(
        finding.rate.failed > 20 && finding.rate.of == 100,
        "{:?}",
        finding.rate
    );
}

#[test]
fn a_victim_with_many_cleaners_is_found_by_pairs() {
    // One polluter, all other tests clean: random orders of 40 tests fail about once in 40.
    let cleaners: Vec<u32> = (0..40).filter(|t| *t != 20 && *t != 3).collect();
    let detection = check(
        &suite(40, vec![victim(&[&[20]], &cleaners)]),
        &[(3, Class::Victim)],
    );
    let command = detection.findings[0].reproduce.as_ref().expect("a command");
    assert_eq!(command.order, [20, 3].map(TestIndex));
}

#[test]
fn polluters_that_work_only_together_are_all_named() {
    for set in [vec![5u32, 25], vec![1, 9, 17], vec![2, 8, 14, 20, 26]] {
        let detection = check(
            &suite(30, vec![victim(&[&set], &[])]),
            &[(3, Class::Victim)],
        );
        let command = detection.findings[0].reproduce.as_ref().expect("a command");
        let mut named: Vec<u32> = command.order[..command.order.len() - 1]
            .iter()
            .map(|t| t.0)
            .collect();
        named.sort_unstable();
        assert_eq!(named, set);
    }
}

#[test]
fn a_brittle_comes_with_its_state_setter() {
    let rules = suite(
        30,
        vec![Rule::Brittle {
            setters: vec![vec![0]],
        }],
    );
    let detection = check(&rules, &[(3, Class::Brittle)]);
    let finding = &detection.findings[0];
    assert_eq!(
        finding.passing_order.as_deref(),
        Some(&[0, 3].map(TestIndex)[..])
    );
    assert_eq!(
        finding.reproduce.as_ref().expect("a command").order,
        [TestIndex(3)]
    );
}

#[test]
fn a_brittle_that_passes_in_every_order_is_found_alone() {
    // Every other test sets its state: only a run of its own shows it.
    let setters = (0..30).filter(|t| *t != 3).map(|t| vec![t]).collect();
    let mut settings = settings();
    settings.pairs = 0;
    settings.mix = vec![Kind::Classes];
    let detection = run(&suite(30, vec![Rule::Brittle { setters }]), &settings);
    assert_eq!(detection.findings.len(), 1);
    assert_eq!(detection.findings[0].class, Class::Brittle);
}

#[test]
fn a_brittle_that_needs_the_import_of_another_file_is_found_before_and_behind_it() {
    // Three files: test 3 is of the first, test 25 of the last.
    let needs = || Rule::PassesWith {
        file: "m1.py".into(),
    };
    let mut rules = suite(30, vec![needs()]);
    rules[25] = needs();
    let detection = check(&rules, &[(3, Class::Brittle), (25, Class::Brittle)]);
    for finding in &detection.findings {
        let test = finding.test;
        let passing = finding.passing_order.as_deref();
        assert_eq!(passing, Some(&[TestIndex(10), test][..]));
        assert_eq!(finding.reproduce.as_ref().expect("a command").order, [test]);
        assert!(
            finding
                .why
                .ends_with("with `m1.py::test_10` collected, before or after it"),
            "{}",
            finding.why
        );
    }
}

#[test]
fn that_some_files_were_not_run_on_their_own_is_said() {
    let mut settings = settings();
    (settings.orders, settings.pairs) = (1, 0);
    let notes = |tests| run(&suite(tests, vec![]), &settings).notes;
    assert!(notes(3_000).is_empty());
    let said = "300 of 301 files were also run without the others, chosen by the seed";
    assert_eq!(notes(3_010), [said]);
}

#[test]
fn chance_is_told_from_order() {
    let detection = check(
        &suite(30, vec![Rule::Flaky { percent: 40 }]),
        &[(3, Class::NonDeterministic)],
    );
    assert_eq!(detection.findings[0].order_effect, None);
}

#[test]
fn chance_and_order_together_are_named_as_both() {
    let rule = Rule::FlakyAfter {
        polluter: 20,
        percent: 60,
        otherwise: 0,
    };
    let detection = check(&suite(30, vec![rule]), &[(3, Class::NonDeterministic)]);
    let p = detection.findings[0]
        .order_effect
        .expect("the order matters");
    assert!(p < 0.01, "{p}");
}

#[test]
fn non_idempotent_always_failing_and_masked_tests_are_told_apart() {
    let rules = suite(
        30,
        vec![
            Rule::Once,
            Rule::Fails,
            Rule::Skips,
            Rule::SkippedAfter { test: 20 },
        ],
    );
    check(
        &rules,
        &[
            (3, Class::NonIdempotent),
            (5, Class::AlwaysFailing),
            (9, Class::Masked),
        ],
    );
}

#[test]
fn a_test_that_ends_the_process_the_second_time_hides_no_other() {
    let crashes = Rule::CrashesAgain;
    let detection = check(
        &suite(30, vec![crashes.clone(), Rule::Once, crashes, Rule::Once]),
        &[3, 5, 7, 9].map(|test| (test, Class::NonIdempotent)),
    );
    assert!(detection.notes.is_empty(), "{:?}", detection.notes);
}

#[test]
fn teardown_errors_that_move_are_position_dependent() {
    // Tests 10 to 19 are one module.
    let mut rules = suite(30, vec![]);
    for rule in &mut rules[10..20] {
        *rule = Rule::BadTeardown;
    }
    let expected: Vec<_> = (10..20).map(|t| (t, Class::PositionDependent)).collect();
    check(&rules, &expected);
}

#[test]
fn what_only_forks_show_is_not_published() {
    let detection = check(
        &suite(30, vec![Rule::VictimInForks { polluter: 20 }]),
        &[(3, Class::Unconfirmed)],
    );
    assert!(detection.findings[0].reproduce.is_none());
}

#[test]
fn a_cold_interpreter_outvotes_fresh_forks() {
    check(
        &suite(30, vec![Rule::VictimUnlessCold { polluter: 20 }]),
        &[(3, Class::Unconfirmed)],
    );
}

#[test]
fn a_suite_that_forks_do_not_suit_is_run_in_fresh_interpreters() {
    let rules = suite(30, vec![Rule::FailsInForks, victim(&[&[20]], &[])]);
    let detection = check(&rules, &[(5, Class::Victim)]);
    assert!(
        detection
            .notes
            .iter()
            .any(|note| note.contains("1 test behaves differently in forked processes")),
        "{:?}",
        detection.notes
    );
}

/// How many runs a campaign makes in pristine interpreters.
struct Counted {
    lab: FakeLab,
    pristine: usize,
}

impl Lab for Counted {
    fn suite(&self) -> &Suite {
        self.lab.suite()
    }

    fn run(&mut self, batch: &[RunRequest], sink: &mut Sink<'_>) -> Result<(), LabError> {
        let pristine = batch.iter().filter(|r| r.isolation.is_pristine());
        self.pristine += pristine.count();
        self.lab.run(batch, sink)
    }
}

#[test]
fn one_test_that_forks_do_not_suit_does_not_take_them_from_the_others() {
    let mut rules = suite(150, vec![Rule::FailsInForks, victim(&[&[20]], &[])]);
    let campaign = |rules: &[Rule]| {
        let lab = FakeLab::new(rules.to_vec(), 7);
        let mut lab = Counted { lab, pristine: 0 };
        let detection = detect(&mut lab, &settings(), &mut Nobody).expect("it never breaks");
        let classes: Vec<_> = detection
            .findings
            .iter()
            .map(|f| (f.test.0, f.class))
            .collect();
        assert_eq!(classes, [(5, Class::Victim)], "{:#?}", detection.findings);
        let said = |note: &String| note.starts_with("1 test behaves differently");
        (lab.pristine, detection.notes.iter().any(said))
    };
    let (one, said) = campaign(&rules);
    assert!(said && one < 60, "{one} runs");
    rules[30..34].fill(Rule::FailsInForks);
    let (many, _) = campaign(&rules);
    assert!(many > 250, "{many} runs");
}

#[test]
fn a_given_order_is_enough() {
    let mut settings = settings();
    settings.orders = 0;
    settings.pairs = 0;
    settings.twice = false;
    settings.given = vec![Order([7, 20, 8, 3, 9].map(TestIndex).to_vec())];
    let detection = run(&suite(30, vec![victim(&[&[20]], &[])]), &settings);
    assert_eq!(detection.findings.len(), 1);
    assert_eq!(detection.findings[0].class, Class::Victim);
    assert_eq!(detection.orders[&Kind::Given], 1);
}

#[test]
fn a_spent_budget_is_admitted() {
    let mut settings = settings();
    settings.budget = Some(Duration::ZERO);
    let detection = run(&suite(30, vec![victim(&[&[20]], &[])]), &settings);
    assert!(detection.out_of_budget);
    assert_eq!(detection.random_orders(), 0);
    assert!(detection.findings.iter().all(|f| f.class == Class::NotRun));
    assert!(!detection.notes.is_empty());
}

/// Answers so many runs of the search; what has until the end of the whole budget is always answered.
struct Hurried {
    lab: FakeLab,
    /// Later than any share of the search, and before the end of the budget.
    search_ends: Instant,
    left: usize,
}

/// Until when each batch may take, in the order of the batches.
struct Overheard {
    lab: FakeLab,
    until: Vec<Instant>,
}

impl Lab for Overheard {
    fn suite(&self) -> &Suite {
        self.lab.suite()
    }

    fn run(&mut self, batch: &[RunRequest], sink: &mut Sink<'_>) -> Result<(), LabError> {
        self.until
            .extend(batch.iter().find_map(|request| request.until));
        self.lab.run(batch, sink)
    }
}

/// How many different ends of runs a campaign has: of the search, of the search while nothing varies, of all.
fn ends(tests: Vec<Rule>) -> usize {
    let mut settings = settings();
    settings.budget = Some(Duration::from_secs(3600));
    let mut lab = Overheard {
        lab: FakeLab::new(tests, 7),
        until: Vec::new(),
    };
    detect(&mut lab, &settings, &mut Nobody).expect("the fake lab never breaks");
    lab.until.sort();
    lab.until.dedup();
    lab.until.len()
}

#[test]
fn a_search_that_finds_nothing_to_verify_takes_what_verification_would() {
    // The baseline has the usual share.
    assert_eq!(ends(suite(30, Vec::new())), 2);
    assert_eq!(ends(suite(30, vec![victim(&[&[20]], &[])])), 3);
}

impl Lab for Hurried {
    fn suite(&self) -> &Suite {
        self.lab.suite()
    }

    fn run(&mut self, batch: &[RunRequest], sink: &mut Sink<'_>) -> Result<(), LabError> {
        let until = batch.first().and_then(|request| request.until);
        if until.is_none_or(|until| until > self.search_ends) {
            return self.lab.run(batch, sink);
        }
        let answered = batch.len().min(self.left);
        self.left -= answered;
        self.lab.run(&batch[..answered], sink)
    }
}

#[test]
fn orders_are_short_also_when_the_search_was_ended_by_its_share_of_the_budget() {
    let mut settings = settings();
    settings.budget = Some(Duration::from_secs(3600));
    let set = [1u32, 9, 17];
    let mut lab = Hurried {
        lab: FakeLab::new(suite(30, vec![victim(&[&set], &[])]), 7),
        search_ends: Instant::now() + Duration::from_secs(3500),
        left: 60,
    };
    let detection = detect(&mut lab, &settings, &mut Nobody).expect("the fake lab never breaks");
    assert!(detection.out_of_budget);
    assert!(
        detection.notes[0].starts_with("the budget ended the search after 5"),
        "{:?}",
        detection.notes
    );
    assert_eq!(detection.findings.len(), 1, "{:#?}", detection.findings);
    let finding = &detection.findings[0];
    assert_eq!(finding.class, Class::Victim);
    let command = finding.reproduce.as_ref().expect("a command");
    let mut named: Vec<u32> = command.order.iter().map(|t| t.0).collect();
    assert_eq!(named.pop(), Some(3));
    named.sort_unstable();
    assert_eq!(named, set);
}

#[test]
fn the_same_seed_gives_the_same_campaign() {
    let rules = suite(
        30,
        vec![
            victim(&[&[20], &[4, 6]], &[9]),
            Rule::Brittle {
                setters: vec![vec![1, 2]],
            },
        ],
    );
    let first = run(&rules, &settings());
    let second = run(&rules, &settings());
    assert_eq!(first.runs, second.runs);
    assert_eq!(
        format!("{:?}", first.findings),
        format!("{:?}", second.findings)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A shortened order still shows the failure, and no test can be left out of it.
    #[test]
    fn shortened_orders_are_minimal(polluters in prop::collection::btree_set(0u32..20, 1..4), cleaner in 0u32..20, seed in 0u64..1000) {
        prop_assume!(!polluters.contains(&3) && cleaner != 3 && !polluters.contains(&cleaner));
        let set: Vec<u32> = polluters.into_iter().collect();
        let mut settings = settings();
        settings.seed = seed;
        let rules = suite(20, vec![victim(&[&set], &[cleaner])]);
        let detection = run(&rules, &settings);
        prop_assert_eq!(detection.findings.len(), 1);
        let finding = &detection.findings[0];
        prop_assert_eq!(finding.class, Class::Victim);
        let mut named: Vec<u32> = finding.reproduce.as_ref().expect("a command").order.iter().map(|t| t.0).collect();
        prop_assert_eq!(named.pop(), Some(3));
        named.sort_unstable();
        prop_assert_eq!(named, set);
    }
}
