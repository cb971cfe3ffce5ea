use std::collections::BTreeMap;

use flakelab_model::Reported::{self, Errored, Failed, Passed, Skipped};

use super::*;
use crate::Location;

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().expect("tempdir");
    let store = Store::open(Location::given(dir.path())).expect("store");
    (dir, store)
}

fn file(ingest: &mut Ingest<'_>, run: &str, digest: &str, rows: &[(&str, Reported)]) -> Begun {
    let begun = ingest.begin_file(run, digest.as_bytes()).expect("begun");
    if begun == Begun::New {
        for (name, outcome) in rows {
            ingest
                .execution(name, *outcome, 1, Sequel::Another)
                .expect("row");
        }
        ingest.end_file().expect("ended");
    }
    begun
}

/// What the rows of every test add up to, by version and name.
fn added_up(store: &Store) -> BTreeMap<(i64, String), Tally> {
    let mut names = BTreeMap::new();
    store
        .history_tests(|id, name| drop(names.insert(id, name.to_owned())))
        .expect("names");
    let ids: Vec<i64> = names.keys().copied().collect();
    let mut all: BTreeMap<(i64, String), Tally> = BTreeMap::new();
    for (test, runs) in store.history_rows(&ids).expect("rows") {
        for run in runs {
            let mut tally = Tally::default();
            for outcome in run.outcomes {
                tally.add(outcome);
            }
            tally.close_run();
            let key = (run.version, names[&test].clone());
            all.entry(key).or_default().append(&tally);
        }
    }
    all
}

fn tallies(store: &Store) -> BTreeMap<(i64, String), Tally> {
    let mut all = BTreeMap::new();
    let each = |version, test, tally| {
        let name = store.history_test_name(test).expect("a name");
        all.insert((version, name), tally);
    };
    store.history_tallies(each).expect("tallies");
    all
}

#[test]
fn tallies_are_what_the_rows_add_up_to() {
    let (_dir, store) = store();
    for (version, flip) in [("1", Failed), ("2", Errored), ("1", Passed)] {
        let mut ingest = store.ingest(version);
        for run in ["a", "b"] {
            let digest = format!("{version}{run}{flip:?}");
            let rows = [("x", Passed), ("y", flip), ("z", Skipped), ("y", Passed)];
            assert_eq!(file(&mut ingest, run, &digest, &rows), Begun::New);
        }
        ingest.commit().expect("committed");
    }
    let found = tallies(&store);
    assert_eq!(found, added_up(&store));
    let y = found[&(1, "y".to_owned())];
    assert_eq!(
        (y.passed, y.failed, y.flips, y.runs, y.flaky),
        (6, 2, 3, 4, 2)
    );
    assert_eq!(store.history_totals().expect("totals").executions, 24);
}

#[test]
fn the_same_content_counts_once_in_a_run_of_a_version() {
    let (_dir, store) = store();
    for (version, run, expected) in [
        ("1", "a", Begun::New),
        ("1", "a", Begun::Known),
        ("1", "b", Begun::New),
        ("2", "a", Begun::New),
    ] {
        let mut ingest = store.ingest(version);
        let begun = file(&mut ingest, run, "same", &[("x", Passed)]);
        assert_eq!(begun, expected, "{version} {run}");
        ingest.commit().expect("committed");
    }
    assert_eq!(store.history_totals().expect("totals").files, 3);
}

#[test]
fn an_abandoned_report_leaves_nothing_and_the_others_stay() {
    let (_dir, store) = store();
    let mut ingest = store.ingest("1");
    file(&mut ingest, "a", "1", &[("x", Passed)]);
    ingest.begin_file("b", b"2").expect("begun");
    for name in ["x", "only here"] {
        ingest
            .execution(name, Failed, 1, Sequel::Another)
            .expect("row");
    }
    ingest.abandon_file().expect("abandoned");
    file(&mut ingest, "c", "3", &[("y", Passed), ("x", Passed)]);
    ingest.commit().expect("committed");
    let totals = store.history_totals().expect("totals");
    assert_eq!((totals.runs, totals.files, totals.tests), (2, 2, 2));
    assert_eq!(tallies(&store), added_up(&store));
    assert_eq!(tallies(&store)[&(1, "x".to_owned())].failed, 0);
}

#[test]
fn what_is_not_committed_is_not_there() {
    let (_dir, store) = store();
    let mut ingest = store.ingest("1");
    file(&mut ingest, "a", "1", &[("x", Passed)]);
    drop(ingest);
    assert_eq!(store.history_totals().expect("totals").versions, 0);
}

#[test]
fn more_names_than_memory_allows_give_the_same() {
    let many: Vec<String> = (0..50).map(|n| format!("test {n}")).collect();
    let rows: Vec<(&str, Reported)> = many
        .iter()
        .chain(&many[..10])
        .enumerate()
        .map(|(at, name)| (name.as_str(), if at % 3 == 0 { Failed } else { Passed }))
        .collect();
    let (_dir, store) = store();
    let mut ingest = store.ingest("1");
    ingest.most_name_bytes = 500;
    file(&mut ingest, "a", "1", &rows[20..30]);
    file(&mut ingest, "b", "2", &rows);
    ingest.begin_file("c", b"3").expect("begun");
    for (name, _) in &rows {
        ingest
            .execution(name, Errored, 1, Sequel::Another)
            .expect("row");
    }
    ingest.abandon_file().expect("abandoned");
    file(&mut ingest, "d", "4", &rows[5..]);
    ingest.commit().expect("committed");
    let clear = |mut all: BTreeMap<(i64, String), Tally>| {
        // A report that is written in pieces counts its runs in pieces.
        all.values_mut().for_each(|t| (t.runs, t.flaky) = (0, 0));
        all
    };
    assert_eq!(clear(tallies(&store)), clear(added_up(&store)));
}

#[test]
fn a_retry_says_that_the_pass_before_was_none() {
    let (_dir, store) = store();
    let mut ingest = store.ingest("1");
    ingest.begin_file("a", b"1").expect("begun");
    for (name, outcome, suite, sequel) in [
        ("x", Passed, 1, Sequel::Retry),
        ("y", Passed, 1, Sequel::Retry),
        ("x", Passed, 1, Sequel::Retry),
        ("y", Failed, 1, Sequel::Retry),
        ("y", Errored, 1, Sequel::Teardown),
        // Another suite of the same report: a run of its own.
        ("x", Passed, 2, Sequel::Retry),
    ] {
        ingest.execution(name, outcome, suite, sequel).expect("row");
    }
    ingest.end_file().expect("ended");
    ingest.commit().expect("committed");
    let rows = store.history_rows(&[1, 2]).expect("rows");
    assert_eq!(rows[&1][0].outcomes, [Failed, Passed, Passed]);
    assert_eq!(rows[&2][0].outcomes, [Failed, Failed]);
}
