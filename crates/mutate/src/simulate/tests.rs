use proptest::prelude::*;

use super::*;

fn pair(test: u32, seen: u32, status: PairStatus, tries: &[bool]) -> MatrixPair {
    MatrixPair {
        test,
        seen,
        of: 3,
        status,
        tries: tries.to_vec(),
    }
}

fn matrix(micros: &[u64], mutants: Vec<Vec<MatrixPair>>) -> Matrix {
    let test = |(at, micros): (usize, &u64)| MatrixTest {
        id: format!("test_a.py::test_{at}"),
        micros: *micros,
    };
    Matrix {
        schema: MatrixSchema::default(),
        project: "shop".into(),
        tests: micros.iter().enumerate().map(test).collect(),
        mutants: mutants
            .into_iter()
            .enumerate()
            .map(|(at, pairs)| MatrixMutant {
                id: format!("m{at}"),
                pairs,
            })
            .collect(),
    }
}

/// Three mutants of four tests that take 100, 30, 50 and 20 microseconds; nothing kills the last.
fn example() -> Matrix {
    use PairStatus::{Killed, Survived, Timeout, Unknown};
    let (hit, no) = (true, false);
    matrix(
        &[100, 30, 50, 20],
        vec![
            vec![
                pair(0, 3, Killed, &[hit]),
                pair(1, 2, Killed, &[no, no, hit]),
                pair(2, 3, Survived, &[hit]),
                pair(3, 1, Unknown, &[no, no, no]),
            ],
            vec![
                pair(0, 1, Killed, &[no, hit]),
                pair(1, 2, Survived, &[no, no, hit]),
                pair(2, 0, Timeout, &[no]),
                pair(3, 3, Survived, &[hit]),
            ],
            vec![pair(0, 3, Survived, &[hit]), pair(3, 3, Unknown, &[no, no])],
        ],
    )
}

/// Micros and executions of both strategies.
fn costs(row: &Row, scheme: Scheme) -> [(f64, f64); 2] {
    let found = row.schemes.iter().find(|s| s.scheme == scheme);
    let found = found.expect("every scheme is there");
    [found.immediate, found.later].map(|c| ((c.seconds * 1e6 * 10.0).round() / 10.0, c.executions))
}

#[test]
fn table_6_worked_out_by_hand() {
    let row = simulate(&example(), 1);
    assert_eq!((row.tests, row.mutants, row.killable), (4, 3, 2));
    // First mutant: 2, 0 kills at once. Second: 3, then 1 three times and 0 twice; later: 3 1 0 2, then 1 0.
    assert_eq!(
        costs(&row, Scheme::Coverage),
        [
            (150.0 + 310.0, 2.0 + 6.0),
            (150.0 + (200.0 + 130.0), 2.0 + 6.0)
        ]
    );
    // 3 three times, 1 three times; later: 3 1 2 0. Second: 3, 1 three times, 2, 0 twice; later: 3 1 2 0, then 1 0.
    assert_eq!(
        costs(&row, Scheme::Time),
        [(60.0 + 90.0 + 360.0, 6.0 + 7.0), (200.0 + 330.0, 4.0 + 6.0)]
    );
    // 1 three times is less than 0 once; later 0 kills in the first round. Second: 0 twice; later all, then 0.
    assert_eq!(
        costs(&row, Scheme::Best),
        [(90.0 + 200.0, 3.0 + 2.0), (100.0 + 300.0, 1.0 + 5.0)]
    );
    // 2, 3 three times, 0; later 2 3 1 0. Second: everything before 0.
    assert_eq!(
        costs(&row, Scheme::Worst),
        [(210.0 + 360.0, 5.0 + 7.0), (200.0 + 330.0, 4.0 + 6.0)]
    );
}

#[test]
fn random_orders_are_averaged() {
    use PairStatus::{Killed, Survived};
    let of = |seed| {
        let pairs = vec![pair(0, 3, Killed, &[true]), pair(1, 3, Survived, &[true])];
        let matrix = matrix(&[100, 30], vec![pairs]);
        costs(&simulate(&matrix, seed), Scheme::Random)[0]
    };
    let first = |seed| {
        let other = |n: &u64| ranks(2, seed, *n)[1] == 0;
        (0..RANDOM_ORDERS).filter(other).count() as f64
    };
    let mut different = Vec::new();
    for seed in 0..20 {
        // 30 more, and one more execution, in every order in which the other test comes first.
        let before = first(seed) / RANDOM_ORDERS as f64;
        assert_eq!(of(seed), (100.0 + 30.0 * before, 1.0 + before));
        different.push(first(seed) as u32);
    }
    different.sort_unstable();
    different.dedup();
    assert!(different.len() > 2, "{different:?}");
    assert!(
        different.iter().all(|n| (1..10).contains(n)),
        "{different:?}"
    );
}

#[test]
fn strategies_are_compared_over_mutants_and_over_projects() {
    let row = simulate(&example(), 1);
    let of = |row: &Row, scheme| {
        let found = row.schemes.iter().find(|s| s.scheme == scheme);
        found.and_then(|s| s.wilcoxon)
    };
    // One mutant differs.
    let one = Signed {
        w: 0.0,
        p: 1.0,
        of: 2,
    };
    assert_eq!(of(&row, Scheme::Coverage), Some(one));
    let rows: Vec<Row> = (1..=6_u64)
        .map(|times| {
            let mut matrix = example();
            for test in &mut matrix.tests {
                test.micros *= times;
            }
            simulate(&matrix, 1)
        })
        .collect();
    let all = total(&rows);
    assert_eq!((all.project.as_str(), all.killable), ("6 projects", 12));
    assert_eq!(
        costs(&all, Scheme::Best),
        [(290.0 * 21.0, 30.0), (400.0 * 21.0, 36.0)]
    );
    // All six differ in one direction: 2 of 2^6 ways.
    let found = of(&all, Scheme::Best).expect("they differ");
    assert_eq!((found.w, found.of), (0.0, 6));
    assert!(found.w.is_sign_positive(), "it is written as 0");
    assert!((found.p - 2.0 / 64.0).abs() < 1e-12, "{found:?}");
}

#[test]
fn nothing_that_kills_costs_nothing() {
    let mut none = example();
    none.mutants.drain(..2);
    let row = simulate(&none, 1);
    assert_eq!(row.killable, 0);
    for scheme in &row.schemes {
        assert_eq!((scheme.immediate, scheme.wilcoxon), (Cost::default(), None));
    }
    assert_eq!(simulate(&matrix(&[], Vec::new()), 1).killable, 0);
    assert_eq!(total(&[]).killable, 0);
}

#[test]
fn a_matrix_is_read_as_it_was_written() {
    let text = r#"{"schema":{"name":"flakelab.mutate.matrix","version":"1.7"},"project":"p","new":1,
        "tests":[{"id":"a","micros":12}],
        "mutants":[{"id":"m","pairs":[{"test":0,"seen":3,"of":3,"status":"killed","tries":[false,true]}]}]}"#;
    let read = Matrix::read(text.as_bytes()).expect("a newer minor version can be read");
    assert_eq!(read.mutants[0].pairs[0].status, PairStatus::Killed);
    // A failure that also occurs without the mutant decides nothing.
    let unknown = text.replace("killed", "unknown");
    assert!(Matrix::read(unknown.as_bytes()).is_ok());
    let written = serde_json::to_vec(&example()).expect("text");
    assert_eq!(Matrix::read(&written[..]).expect("a matrix"), example());
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    use PairStatus::{Killed, Survived, Unknown};
    let said = |change: &dyn Fn(&mut Matrix)| {
        let mut matrix = example();
        change(&mut matrix);
        let text = serde_json::to_vec(&matrix).expect("text");
        Matrix::read(&text[..]).expect_err("refused").to_string()
    };
    let put = |new: MatrixPair| said(&|m| m.mutants[1].pairs[2] = new.clone());
    assert_eq!(
        put(pair(4, 3, Survived, &[true])),
        "mutant 1, pair 2: test 4 is not among 4 tests"
    );
    assert_eq!(
        put(pair(0, 3, Survived, &[true])),
        "mutant 1, pair 2: test 0 is there twice"
    );
    assert_eq!(
        put(pair(2, 4, Survived, &[true])),
        "mutant 1, pair 2: seen 4 times of 3"
    );
    assert_eq!(
        put(pair(2, 3, Killed, &[false])),
        "mutant 1, pair 2: is killed, and no execution hit the mutated code"
    );
    assert_eq!(
        put(pair(2, 3, Unknown, &[false; 10_001])),
        "mutant 1, pair 2: 10001 executions, more than 10000"
    );
    assert_eq!(
        said(&|m| m.tests[2].micros = u64::MAX),
        "test 2 takes 18446744073709551615 microseconds, more than a day"
    );
    assert_eq!(
        said(&|m| m.mutants[0].id = "x".repeat(10_001)),
        "mutant 0 has a name of more than 10000 characters"
    );
    assert_eq!(
        said(&|m| m.schema.version = "2.0".into()),
        "has the schema \"flakelab.mutate.matrix 2.0\" instead of \"flakelab.mutate.matrix\" 1.x"
    );
    let other = br#"{"schema":{"name":"flakelab.mutate","version":"1.0"},"mutants":3}"#;
    let found = Matrix::read(&other[..]).expect_err("refused").to_string();
    assert!(found.starts_with("has the schema \"flakelab.mutate 1.0\""));
    let found = Matrix::read(&b"[1"[..]).expect_err("refused").to_string();
    assert!(found.starts_with("is no matrix of `flakelab mutate --matrix`: "));
}

/// Any matrix that [`Matrix::check`] accepts.
fn any_matrix(first_hits: bool) -> impl Strategy<Value = Matrix> {
    let status = prop_oneof![
        Just(PairStatus::Killed),
        Just(PairStatus::Survived),
        Just(PairStatus::Unknown),
        Just(PairStatus::Timeout)
    ];
    let one = (status, 0..4_u32, 0..4_usize, any::<bool>());
    let mutant = prop::collection::vec(prop::option::of(one), 5);
    let mutants = prop::collection::vec(mutant, 0..6);
    let micros = prop::collection::vec(0..2_000_u64, 5);
    (micros, mutants).prop_map(move |(micros, mutants)| {
        let pairs = |mutant: Vec<Option<(PairStatus, u32, usize, bool)>>| {
            let all = mutant.into_iter().zip(0..);
            all.filter_map(|(one, test)| {
                let (status, seen, misses, hit) = one?;
                let mut tries = vec![false; if first_hits { 0 } else { misses }];
                let decided = matches!(status, PairStatus::Killed | PairStatus::Survived);
                if decided || first_hits || status == PairStatus::Timeout && hit {
                    tries.push(true);
                }
                let status = match status {
                    PairStatus::Unknown if first_hits => PairStatus::Survived,
                    status => status,
                };
                Some(pair(test, seen, status, &tries))
            })
            .collect()
        };
        matrix(&micros, mutants.into_iter().map(pairs).collect())
    })
}

/// All orders of so many things.
fn permutations(of: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for next in 0..of {
        all = all
            .into_iter()
            .flat_map(|order: Vec<usize>| {
                (0..=order.len()).map(move |at| {
                    let mut longer = order.clone();
                    longer.insert(at, next);
                    longer
                })
            })
            .collect();
    }
    all
}

proptest! {
    #[test]
    fn no_order_is_better_than_the_best_or_worse_than_the_worst(matrix in any_matrix(false), seed: u64) {
        matrix.check().expect("it can be");
        let row = simulate(&matrix, seed);
        for strategy in 0..2 {
            let of = |scheme| costs(&row, scheme)[strategy].0;
            for scheme in Scheme::ALL {
                prop_assert!(of(Scheme::Best) <= of(scheme) && of(scheme) <= of(Scheme::Worst), "{scheme:?}");
            }
        }
        // And each is the cost of an order.
        for mutant in &matrix.mutants {
            let steps = steps(&matrix, mutant);
            if !steps.iter().any(|step| step.kills) {
                continue;
            }
            for strategy in [Rerun::Immediate, Rerun::Later] {
                let every: Vec<u64> = permutations(steps.len())
                    .into_iter()
                    .map(|order| {
                        let order: Vec<Step> = order.into_iter().map(|at| steps[at]).collect();
                        play(&order, strategy).micros
                    })
                    .collect();
                let bound = |scheme| spent(&steps, scheme, strategy, &[]).micros;
                prop_assert_eq!(every.iter().min(), Some(&bound(Scheme::Best)));
                prop_assert_eq!(every.iter().max(), Some(&bound(Scheme::Worst)));
            }
        }
    }

    #[test]
    fn a_seed_gives_the_same_row_for_ever(matrix in any_matrix(false), seed: u64) {
        let row = simulate(&matrix, seed);
        prop_assert_eq!(&row, &simulate(&matrix, seed));
        let mut turned = matrix;
        for mutant in &mut turned.mutants {
            mutant.pairs.reverse();
        }
        prop_assert_eq!(row, simulate(&turned, seed), "the order of pairs in the file says nothing");
    }

    #[test]
    fn strategies_are_one_where_every_first_try_hits(matrix in any_matrix(true), seed: u64) {
        for scheme in simulate(&matrix, seed).schemes {
            prop_assert_eq!(scheme.immediate, scheme.later);
            prop_assert_eq!(scheme.wilcoxon, None);
        }
    }
}
