use super::*;

fn settings(seed: &str) -> Settings {
    Settings::from([
        (Factor::HashSeed, seed.to_owned()),
        (Factor::State, "restored".to_owned()),
    ])
}

/// Ten controlled runs, and two of each of five other hash seeds.
fn runs() -> Vec<Settings> {
    let varied =
        (1..=5).flat_map(|seed| [settings(&seed.to_string()), settings(&seed.to_string())]);
    (0..10).map(|_| settings("0")).chain(varied).collect()
}

fn ids(groups: impl IntoIterator<Item = u32>) -> Vec<Option<SnapshotId>> {
    groups.into_iter().map(|g| Some(SnapshotId(g))).collect()
}

fn assess_one(comparison: &Comparison, tests: &[Vec<Option<SnapshotId>>], seed: u64) -> Effect {
    let mut effects = assess(std::slice::from_ref(comparison), tests, seed);
    effects.remove(0)
}

fn compare() -> Comparison {
    let runs = runs();
    let runs: Vec<&Settings> = runs.iter().collect();
    Comparison::new(Factor::HashSeed, &runs).expect("hash seeds differ")
}

#[test]
fn a_test_that_follows_the_factor_is_explained_whole() {
    let follows = ids((0..10).map(|_| 0).chain([1, 1, 2, 2, 3, 3, 4, 4, 5, 5]));
    let effect = assess_one(&compare(), &[follows, ids([0; 20])], 1);
    assert!((effect.effect - 1.0).abs() < 1e-9, "{effect:?}");
    assert!(effect.p < 0.001);
    assert_eq!(effect.tests.len(), 1);
    assert_eq!(effect.tests[0].test, 0);
}

#[test]
fn a_test_that_is_another_in_every_run_is_not_the_factors_doing() {
    let effect = assess_one(&compare(), &[ids(0..20)], 1);
    assert!(effect.effect < 1e-9 && effect.p == 1.0, "{effect:?}");
    assert!(effect.tests.is_empty());
}

#[test]
fn a_factor_that_is_another_in_every_run_explains_what_is_another_in_every_run() {
    let random = (0..10).map(|_| settings("random"));
    let runs: Vec<Settings> = (0..10).map(|_| settings("0")).chain(random).collect();
    let runs: Vec<&Settings> = runs.iter().collect();
    let comparison = Comparison::new(Factor::HashSeed, &runs).expect("seeds differ");
    let follows = ids((0..10).map(|_| 0).chain(1..11));
    let effect = assess_one(&comparison, &[follows, ids(0..20)], 1);
    assert_eq!(effect.tests.len(), 1);
    assert!((effect.tests[0].effect - 1.0).abs() < 1e-9, "{effect:?}");
    assert_eq!(comparison.settings, ["0", "random"]);
}

#[test]
fn a_coin_is_not_the_factors_doing() {
    let coin = ids([0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0]);
    let effect = assess_one(&compare(), &[coin], 1);
    assert!(effect.p > 0.05, "{effect:?}");
    assert!(effect.tests.is_empty());
}

#[test]
fn runs_that_differ_in_two_factors_are_not_compared() {
    let mut other = settings("1");
    other.insert(Factor::State, "left".into());
    let base = settings("0");
    assert!(Comparison::new(Factor::HashSeed, &[&base, &other]).is_none());
    assert!(Comparison::new(Factor::HashSeed, &[&base, &base]).is_none());
}

#[test]
fn permutations_stay_within_strata() {
    // The other factor alone decides; the hash seed differs within both of its settings.
    let mut all = Vec::new();
    let mut groups = Vec::new();
    for (group, state) in ["restored", "left"].iter().enumerate() {
        for seed in ["0", "0", "0", "1", "1", "1"] {
            let mut run = settings(seed);
            run.insert(Factor::State, (*state).to_owned());
            all.push(run);
            groups.push(group as u32);
        }
    }
    let all: Vec<&Settings> = all.iter().collect();
    let comparison = Comparison::new(Factor::HashSeed, &all).expect("seeds differ");
    let effect = assess_one(&comparison, &[ids(groups)], 1);
    assert_eq!((effect.effect, effect.p), (0.0, 1.0), "{effect:?}");
}

#[test]
fn runs_a_test_is_missing_from_say_nothing() {
    let mut follows = ids((0..10).map(|_| 0).chain([1; 10]));
    follows[3] = None;
    follows[17] = None;
    let effect = assess_one(&compare(), &[follows], 1);
    assert_eq!(effect.tests.len(), 1);
}

/// Three runs under control, and three with the factor varied.
fn three_and_three(levels: [&str; 3]) -> Comparison {
    let runs: Vec<Settings> = ["0"; 3].into_iter().chain(levels).map(settings).collect();
    let runs: Vec<&Settings> = runs.iter().collect();
    Comparison::new(Factor::HashSeed, &runs).expect("seeds differ")
}

#[test]
fn where_the_rarest_arrangement_is_not_rare_enough_nothing_is_named_whatever_the_seed() {
    for seed in 0..30 {
        let comparison = three_and_three(["1", "2", "3"]);
        let follows = ids([0, 0, 0, 1, 2, 3]);
        let effect = assess_one(&comparison, &[follows], seed);
        assert_eq!(effect.p, 0.05, "6 of 120 arrangements say as much");
        assert!(effect.tests.is_empty());
        assert_eq!((effect.explained, effect.share()), (0.0, 0.0));
        let comparison = three_and_three(["1", "1", "1"]);
        let effect = assess_one(&comparison, &[ids([0, 0, 0, 1, 1, 1])], seed);
        assert_eq!(effect.p, 0.1, "2 of 20");
    }
}

/// Its p-value is below the level, but not below a sixteenth of it.
#[test]
fn whoever_tries_many_factors_needs_rarer_arrangements() {
    let runs: Vec<Settings> = (0..10)
        .map(|at| settings(if at < 4 { "0" } else { "1" }))
        .collect();
    let runs: Vec<&Settings> = runs.iter().collect();
    let comparison = Comparison::new(Factor::HashSeed, &runs).expect("seeds differ");
    let coin = ids([0, 0, 0, 1, 1, 1, 1, 1, 1, 1]);
    let effect = assess_one(&comparison, std::slice::from_ref(&coin), 1);
    assert_eq!(effect.tests.len(), 1, "{effect:?}");
    let mut many = vec![compare(); 15];
    many.push(comparison);
    let mut of_all: Vec<Option<SnapshotId>> = coin;
    of_all.extend([0, 1, 1, 0, 1, 0, 0, 1, 0, 1].map(|g| Some(SnapshotId(g))));
    let all = assess(&many, &[of_all], 1);
    assert!(all.iter().all(|effect| effect.tests.is_empty()), "{all:?}");
}

/// A test that follows the factor, and one that is another in every run: what nothing explains is in the denominator.
#[test]
fn what_no_test_is_named_for_is_unexplained() {
    let follows = ids((0..10).map(|_| 0).chain([1, 1, 2, 2, 3, 3, 4, 4, 5, 5]));
    let effect = assess_one(&compare(), &[follows.clone(), ids(0..20)], 1);
    assert_eq!(effect.tests.len(), 1);
    assert!(effect.share() > 0.3 && effect.share() < 0.7, "{effect:?}");
    let effect = assess_one(&compare(), &[follows], 1);
    assert!((effect.share() - 1.0).abs() < 1e-9, "{effect:?}");
}
