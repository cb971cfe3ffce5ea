//! `flakelab mutate` on `examples/parcels`, where it is known which code is reached in some runs only, and by what.

use std::collections::BTreeSet;

use crate::support::mutants::judged;
use crate::support::{Project, Run};

/// Reached by one test: by the order of a set, or by chance.
const BY_CHANCE: [&str; 4] = ["counter", "left", "greet", "smile"];
/// What the functions do shows in tests that run later in the same process, and do not reach them there.
const SHOWS_LATER: [&str; 2] = ["look_up", "open_up"];
/// Passes now and then.
const FLAKY: &str = "tests/test_office.py::test_scale";

/// The mutants of functions are all unknown.
#[track_caller]
fn all_unknown(run: &Run, scopes: &[&str]) {
    for scope in scopes {
        let found = run.scope(scope);
        let unknown = found.iter().all(|(_, status)| status == "unknown");
        assert!(unknown, "{scope}: {found:#?}");
    }
}

/// Every mutant of a function is killed but for these.
#[track_caller]
fn killed_but(run: &Run, scope: &str, survivors: &[&str]) {
    for (says, status) in run.scope(scope) {
        let expected = if survivors.contains(&says.as_str()) {
            "survived"
        } else {
            "killed"
        };
        assert_eq!(status, expected, "{scope}: {says}");
    }
}

#[track_caller]
fn check_third(run: &Run) {
    killed_but(run, "weigh", &[]);
    killed_but(
        run,
        "weigh_again",
        &[
            "`weight * 1` became `weight / 1`",
            "`weight * 1 + 0` became `weight * 1 - 0`",
        ],
    );
    killed_but(run, "ink", &[]);
}

#[track_caller]
fn check_lines(run: &Run) {
    killed_but(
        run,
        "lines",
        &[
            "`count * 1` became `count / 1`",
            "`count * 1 + 0` became `count * 1 - 0`",
        ],
    );
}

/// What no rung changes.
#[track_caller]
fn check_always(run: &Run) {
    // Reached by a test only after another one, which has nothing to do with it.
    let ring = run.mutants().iter().find(|m| m["line"] == 54);
    let ring = ring.expect("a mutant of `return bell` where somebody opened");
    assert_eq!(ring["status"], "unknown", "{ring:#}");
    let missed = [String::from("tests/test_office.py::test_bell")];
    assert_eq!(pairs(ring), missed);
    // Fails without a mutant as well where it is alone: only what it never says without one counts.
    let of = |says: &str| {
        let found = run.scope("queue").into_iter().find(|(s, _)| s == says);
        found.unwrap_or_else(|| panic!("no mutant {says}")).1
    };
    assert_eq!(of("`1` became `0`"), "unknown");
    assert_eq!(of("`len(_open) + 1` became `len(_open) - 1`"), "unknown");
    assert_eq!(of("`len(_open) + 1` became `None`"), "killed");
    assert!(
        run.set_aside()
            .contains(&"tests/test_office.py::test_queue".to_owned())
    );
    for mutant in run.mutants() {
        let killers = mutant["killed_by"].as_array().expect("tests");
        assert!(!killers.iter().any(|test| test == FLAKY), "{mutant:#}");
        assert_eq!(killers.is_empty(), mutant["status"] != "killed");
        assert_eq!(mutant["confirmed"], mutant["status"] == "killed");
    }
    // Whatever was unknown at first was resolved by some rung, or is unknown.
    let ladder = run.document["ladder"].as_array().expect("rungs");
    let resolved: u64 = ladder.iter().filter_map(|r| r["mutants"].as_u64()).sum();
    let unknown = run.number("/totals/unknown");
    assert_eq!(run.number("/unknown_at_first"), unknown + resolved);
}

fn pairs(mutant: &serde_json::Value) -> Vec<String> {
    let pairs = mutant["unknown_pairs"].as_array().into_iter().flatten();
    pairs.filter_map(|p| Some(p.as_str()?.to_owned())).collect()
}

fn office(seed: &str, reruns: &str) -> Run {
    let project = Project::example("parcels");
    project.mutate(&[
        "--seed",
        seed,
        "--only",
        "parcels/office.py",
        "--reruns",
        reruns,
        "--",
        "tests/test_office.py",
    ])
}

#[test]
fn without_reruns_what_a_test_misses_is_unknown() {
    let run = office("1", "0");
    all_unknown(&run, &["weigh", "weigh_again", "ink", "lines"]);
    for mutant in run.mutants() {
        let test = match mutant["scope"].as_str().expect("a scope") {
            "weigh" | "weigh_again" => "test_third_weight",
            "ink" => "test_third_stamp",
            "lines" => "test_report",
            _ => continue,
        };
        assert_eq!(pairs(mutant), [format!("tests/test_office.py::{test}")]);
        assert_eq!(mutant["tests"], 1);
    }
    check_always(&run);
    let (low, high) = (
        &run.document["score"]["low"],
        &run.document["score"]["high"],
    );
    let (low, high) = (low.as_f64().expect("low"), high.as_f64().expect("high"));
    let of = |name: &str| run.number(&format!("/totals/{name}")) as f64;
    let counted = of("killed") + of("survived") + of("unknown");
    assert!((low - of("killed") / counted).abs() < 1e-9);
    assert!((high - (of("killed") + of("unknown")) / counted).abs() < 1e-9);
    assert_eq!(run.code, 1);
}

#[test]
fn each_rung_resolves_what_was_planted_for_it() {
    let same = office("2", "5,0,0,0");
    check_third(&same);
    all_unknown(&same, &["lines"]);
    check_always(&same);
    // Every third execution in the process.
    let third = same.document["ladder"][1]["pairs"].as_u64();
    assert!(third >= Some(9), "{:#}", same.document["ladder"]);

    let forks = office("3", "5,5,5,0");
    check_third(&forks);
    all_unknown(&forks, &["lines"]);
    check_always(&forks);

    let fresh = office("4", "5,0,0,1");
    check_third(&fresh);
    check_lines(&fresh);
    check_always(&fresh);
    let last = &fresh.document["ladder"][5];
    assert_eq!(last["rung"], "fresh interpreter");
    let lines = fresh.scope("lines").len() as u64;
    assert!(last["mutants"].as_u64() >= Some(lines), "{last:#}");
}

/// `len(town) / 1` is what `len(town) * 1` is: all three tests pass, and only the first in a process looks it up.
#[test]
fn what_only_the_first_test_of_a_process_reaches_takes_processes_of_their_own() {
    let project = Project::example("parcels");
    let run = |reruns: &str| {
        project.mutate(&[
            "--fresh",
            "--coverage",
            "isolated",
            "--reruns",
            reruns,
            "--only",
            "parcels/office.py",
            "--",
            "tests/test_office.py",
            "-k",
            "zone",
        ])
    };
    let same = "`len(town) * 1` became `len(town) / 1`";
    // Who goes first is the quickest, which is another one on a busy machine: so many of them miss it.
    for (reruns, status, missing) in [
        ("0", "unknown", 2),
        ("5,0,0,0", "unknown", 2),
        ("0,1,0,0", "unknown", 1),
        ("0,1,1,0", "survived", 0),
        ("0,2,0,0", "survived", 0),
    ] {
        let run = run(reruns);
        let mutant = run.mutants().iter().find(|m| m["says"] == same);
        let mutant = mutant.expect("the mutant");
        assert_eq!(mutant["status"], status, "{reruns}: {mutant:#}");
        let missed = pairs(mutant);
        assert_eq!(missed.len(), missing, "{reruns}: {missed:?}");
        let zone = |test: &String| test.starts_with("tests/test_office.py::test_zone_is_");
        assert!(missed.iter().all(zone), "{reruns}: {missed:?}");
        // What the first test looked up makes others fail that never reached it: they are run alone, and kill.
        for (says, status) in run.scope("look_up") {
            assert!(says == same || status == "killed", "{reruns}: {says}");
        }
    }
}

/// The statuses of all that does not depend on chance.
#[test]
fn statuses_are_those_of_plain_pytest_and_the_same_in_every_campaign() {
    let project = Project::example("parcels");
    let first = project.mutate(&["--seed", "1", "--jobs", "2", "--hits", "20000"]);
    check_third(&first);
    check_lines(&first);
    check_always(&first);
    assert_eq!(
        first.statuses_in("refund"),
        BTreeSet::from(["not covered".into()])
    );
    let endless = |run: &Run| -> Vec<String> {
        let mutants = run.scope("days_left").into_iter();
        let endless = mutants.filter(|(_, status)| status == "timeout");
        endless.map(|(says, _)| says).collect()
    };
    assert_eq!(
        endless(&first),
        [
            "`hours -= 24` is gone",
            "`hours -= 24` became `hours += 24`",
            "`hours -= 24` became `hours = 24`",
        ]
    );
    assert_eq!(first.number("/totals/timeout"), 3);
    assert_eq!(first.number("/totals/error"), 0);

    // At least as much as in the paper.
    let ladder = first.document["ladder"].as_array().expect("rungs");
    let resolved: u64 = ladder.iter().filter_map(|r| r["mutants"].as_u64()).sum();
    let unknown = first.number("/unknown_at_first");
    assert!(unknown >= 17, "{unknown}");
    assert!(
        resolved as f64 / unknown as f64 >= 0.794,
        "{resolved} of {unknown}"
    );

    let verdicts = judged(&project, &first, &["--deselect", FLAKY]);
    let varying: Vec<&str> = [&BY_CHANCE[..], &SHOWS_LATER].concat();
    for mutant in first.mutants() {
        let plain = verdicts[mutant["id"].as_str().expect("an id")];
        let scope = mutant["scope"].as_str().expect("a scope");
        let expected = match mutant["status"].as_str().expect("a status") {
            _ if varying.contains(&scope) => continue,
            "killed" => plain == 1 || plain == 2,
            "survived" | "not covered" => plain == 0,
            "timeout" => plain == -1,
            "unknown" => true,
            other => panic!("{other}"),
        };
        assert!(expected, "plain pytest: {plain}\n{mutant:#}");
    }

    let again = project.mutate(&[
        "--seed", "2", "--jobs", "1", "--hits", "20000", "--rerun", "later", "--fresh",
    ]);
    assert_eq!(again.statuses(&BY_CHANCE), first.statuses(&BY_CHANCE));
    // Coverage is another one in functions that are reached by a count, or after something else.
    let isolated = project.mutate(&[
        "--seed",
        "3",
        "--jobs",
        "3",
        "--hits",
        "20000",
        "--coverage",
        "isolated",
        "--fresh",
    ]);
    let planted = [
        &varying[..],
        &[
            "weigh",
            "weigh_again",
            "ink",
            "ring",
            "report",
            "lines",
            "queue",
        ],
    ]
    .concat();
    assert_eq!(isolated.statuses(&planted), first.statuses(&planted));
    killed_but(
        &isolated,
        "look_up",
        &["`len(town) * 1` became `len(town) / 1`"],
    );
    let none = BTreeSet::from(["not covered".to_owned()]);
    for scope in ["weigh", "weigh_again", "ink", "lines", "queue"] {
        assert_eq!(isolated.statuses_in(scope), none, "{scope}");
    }
    killed_but(&isolated, "report", &[]);
}
