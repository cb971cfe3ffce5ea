//! Stores to make pages of: documents as they are read back, of any size, and with names that mean harm.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Assertion, Campaign, Filter, Known, Part, Whole};
use crate::{detect, explain, fix, history, inject, measure, mutate, tune};

pub(super) const HOSTILE: &str =
    "t.py::<script>alert(1)</script>\"'&\u{1b}[2J\u{0}\u{202e}<img src=x onerror=alert(1)>";

pub(super) fn empty() -> Whole {
    Whole {
        project: "shop".into(),
        flakelab: "0.1.0".into(),
        made: "2026-01-02 03:04 UTC".into(),
        suite: None,
        campaigns: Vec::new(),
        detect: Part::Never,
        explanations: Vec::new(),
        fixes: Vec::new(),
        measure: Part::Never,
        mutate: Part::Never,
        sources: BTreeMap::new(),
        inject: Part::Never,
        filter: None,
        history: None,
    }
}

fn known<T>(what: T, command: &str) -> Known<T> {
    Known {
        what,
        ended: "2026-01-01 00:00 UTC".into(),
        command: command.into(),
    }
}

fn found<T>(what: T, command: &str) -> Part<T> {
    Part::Found(Box::new(known(what, command)))
}

fn read<T: serde::de::DeserializeOwned>(document: Value) -> T {
    serde_json::from_value(document).expect("a document is read back")
}

fn failure(message: &str) -> Value {
    json!({"phase": "call", "message": message, "at": "tests/test_a.py:3", "signature": "s"})
}

fn test(id: &str, class: &str, failed: u64, message: &str) -> Value {
    json!({
        "id": id, "class": class, "failure": failure(message), "why": "failed after 1 other test",
        "failure_rate": {"failed": failed, "of": 100, "rate": failed as f64 / 100.0, "low": 0.01, "high": 0.9},
        "reproduce": {"command": format!("pytest a.py::first '{id}'"), "verified": true, "order": [id]},
        "evidence": {"reruns": {"passed": 9, "failed": 9}, "isolated": {"passed": 10, "failed": 0},
                     "confirmed": {"passed": 0, "failed": 3}},
    })
}

fn detected(tests: Vec<Value>) -> detect::Document {
    read(json!({
        "schema": {"name": "flakelab.detect", "version": "1.7"}, "flakelab": "9", "tests": tests,
        "of_a_later_version": {"a": 1},
        "campaign": {
            "seed": 1, "orders": 104, "orders_by_kind": {}, "runs": 1, "executions": 1234, "processes": 1, "cpu_seconds": 1.0,
            "wall_seconds": 2.0, "jobs": 1, "python": "3.12", "pytest": "8", "plugins": [], "silenced_plugins": [],
            "isolation": "fork", "sandbox": "overlay", "out_of_budget": false, "collection_errors": [], "notes": [],
        },
        "confidence": {"random_orders": 100, "miss_probability": 0.01, "detectable_rate": 0.045,
                       "statement": "one that fails in at least 4.5 % would have been missed with probability 1 %"},
    }))
}

fn explained(
    test: &str,
    polluters: &[&[&str]],
    cleaners: &[&str],
    value: &str,
) -> explain::Explanation {
    let cleaners: Vec<Value> = cleaners
        .iter()
        .map(|c| json!({"polluters": [], "cleaners": [c]}))
        .collect();
    read(json!({
        "test": test, "class": "victim", "polluters": polluters, "state_setters": [], "cleaners": cleaners,
        "leaks": [{"kind": "global", "name": "shop.RATES", "before": value, "after": "0.5", "where": "tests/test_a.py:30",
                   "causal": true, "left_by": polluters.first().unwrap_or(&&[][..])}],
        "reproduce_verified": true,
    }))
}

fn fixed(test: &str, diff: &str) -> fix::Fix {
    read(json!({
        "test": test, "status": "fixed",
        "patches": [{
            "strategy": "restore", "site": "polluter", "reason": "shop.RATES is put back", "diff": diff,
            "verified": {"alone": [3, 3], "after": [{"tests": ["a"], "passed": 3, "of": 3}], "default_order": true,
                         "shuffles": [20, 20], "others": 63, "broken": [], "assertions_untouched": true},
        }],
    }))
}

pub(super) const DIFF: &str = "--- a/tests/test_a.py\n+++ b/tests/test_a.py\n@@ -1,3 +1,4 @@\n def test_a():\n-    RATES[\"x\"] = 1 < 2\n+    monkeypatch.setitem(RATES, \"x\", 1 < 2)\n \n     pass\n";

fn history(tests: usize, versions: usize, name: impl Fn(usize) -> String) -> history::Document {
    let names: Vec<String> = (0..versions).map(|v| format!("v{v}")).collect();
    let share = history::Share {
        hits: 3,
        of: 10,
        low: 0.1,
        high: 0.5,
    };
    let test = |at: usize| history::Test {
        id: name(at),
        entropy: 0.3,
        overall_entropy: 0.3,
        flip_rate: 0.2,
        transition_score: 0.25,
        flips_within_versions: share,
        runs: 4,
        flaky_runs: 1,
        executions: 12,
        decided: 12,
        failures: 3,
        versions: versions as u32,
        first_bad_version: names.first().cloned(),
        verdicts: names
            .iter()
            .enumerate()
            .map(|(v, version)| history::Verdicts {
                version: version.clone(),
                passed: 3,
                failed: (v % 3) as u32,
                errored: 0,
                skipped: 0,
                flips: 1,
                entropy: 0.3,
            })
            .collect(),
        history: Vec::new(),
    };
    history::Document {
        schema: detect::Schema::HISTORY,
        flakelab: "0.1.0".into(),
        tests: (0..tests).map(test).collect(),
        versions: names
            .iter()
            .map(|name| history::Version {
                name: name.clone(),
                ingested: 0,
            })
            .collect(),
        totals: history::Totals {
            tests: tests as u64,
            versions: versions as u64,
            runs: 10,
            reports: 10,
            executions: 100,
            flaky: tests as u64,
            found: tests as u64,
        },
    }
}

fn injected(class: &str) -> inject::Document {
    let totals = json!({
        "stable_tests": 9, "mutants": 20, "valid": 15, "order_dependent": 3, "victims": 2, "brittles": 1,
        "non_deterministic": 0, "assertion_failures": 2, "other_failures": 1, "tests_affected": 3,
    });
    let mut row = totals.clone();
    row["class"] = json!(class);
    row["size"] = json!(3);
    row["shared_fields"] = json!(0);
    row["fixture"] = json!(false);
    row["seconds"] = json!(1.0);
    read(json!({
        "schema": {"name": "flakelab.inject", "version": "1.0"}, "flakelab": "1", "project": "shop", "totals": totals,
        "classes_affected": 1, "classes": [row],
        "relations": {"class_size": null, "shared_fields": null, "fixture": null, "fixture_effect": null},
        "excluded": [],
        "campaign": {"seed": 1, "reruns": 5, "orders": 5, "scope": "suite", "include_fixtures": false, "evaluations": 1,
                     "evaluation_cpu_seconds": 1.0, "wall_seconds": 1.0, "python": "3", "pytest": "8"},
    }))
}

fn learned(assertions: usize, name: impl Fn(usize) -> String) -> Filter {
    let curves = || tune::Curves {
        all: 10,
        flaky: 2,
        revealing: 1,
        points: (0..8)
            .map(|at| tune::Point {
                threshold: f64::from(at) / 10.0,
                removed: Some(1.0 - f64::from(at) / 10.0),
                kept: Some(f64::from(at) / 8.0),
            })
            .collect(),
        balance: None,
        lossless: None,
    };
    Filter {
        curves: tune::Document {
            schema: detect::Schema::TUNE,
            flakelab: "0.1.0".into(),
            project: "shop".into(),
            learned: vec!["v1".into()],
            threshold: 0.4,
            assertions: curves(),
            tests: curves(),
        },
        assertions: (0..assertions)
            .map(|at| Assertion {
                test: name(at),
                file: "tests/test_a.py".into(),
                text: format!("assert {} < 2", name(at)),
                score: 1.04,
                runs: 10,
                failed: 2,
                values: 3,
            })
            .collect(),
    }
}

/// One of everything, named by `name`.
fn whole(tests: usize, name: impl Fn(usize) -> String, message: &str) -> Whole {
    let ids: Vec<String> = (0..tests).map(&name).collect();
    let (mutants, sources) = mutate::example::many(3, 40);
    let classes = ["victim", "brittle", "non_deterministic", "non_idempotent"];
    let first = ids.first().cloned().unwrap_or_default();
    let explanations = ids.iter().enumerate().map(|(at, id)| {
        let other = &ids[(at / 10 * 10 + 11) % ids.len()];
        let sets: [&[&str]; 2] = [&[other], &["tests/test_b.py::one", "tests/test_b.py::two"]];
        let e = explained(id, &sets, &["tests/test_b.py::cleans"], message);
        known(e, "flakelab explain x --seed 1")
    });
    let fixes = ids.iter().enumerate().filter(|(at, _)| at % 2 == 0);
    let fixes = fixes.map(|(at, id)| {
        let diff = DIFF.replace("\"x\"", &format!("\"x{}\"", at / 8));
        known(fixed(id, &diff), "flakelab fix x --seed 1")
    });
    Whole {
        suite: Some(tests),
        campaigns: ["detect", "explain", "fix", "measure", "mutate", "inject"]
            .map(|verb| Campaign {
                verb: verb.into(),
                ended: "2026-01-01 00:00 UTC".into(),
                command: format!("flakelab {verb} --seed 1"),
            })
            .into(),
        explanations: explanations.collect(),
        fixes: fixes.collect(),
        detect: found(
            detected(
                ids.iter()
                    .enumerate()
                    .map(|(at, id)| test(id, classes[at % 4], at as u64 % 100, message))
                    .collect(),
            ),
            "flakelab detect --seed 1",
        ),
        measure: found(measure::example::shop(), "flakelab measure --seed 1"),
        mutate: found(mutants, "flakelab mutate --seed 1"),
        sources,
        inject: found(injected(&first), "flakelab inject --seed 1"),
        filter: Some(learned(tests.min(70), &name)),
        history: Some(history(tests.min(100), 60, &name)),
        ..empty()
    }
}

pub(super) fn shop() -> Whole {
    whole(
        12,
        |at| format!("tests/test_a.py::TestA::test_{at}[x-{at}]"),
        "assert 1 == 2",
    )
}

/// What a suite of so many tests can come to, at worst: all of them flaky, explained, half of them fixed.
pub(super) fn large(tests: usize) -> Whole {
    let name = |at: usize| {
        let module = at / 20;
        format!("tests/unit/test_module_{module}.py::TestSomething::test_case_{at}[parameter-{at}]")
    };
    let mut whole = whole(
        tests,
        name,
        &"AssertionError: assert [1, 2] == [1, 3]\n".repeat(60),
    );
    let (mutants, sources) = mutate::example::many(40, 1_000);
    whole.mutate = found(mutants, "flakelab mutate");
    whole.sources = sources;
    whole.measure = found(measure::example::many(tests, 17, 4), "flakelab measure");
    whole
}

pub(super) fn hostile() -> Whole {
    let message = format!("{HOSTILE}\n").repeat(20_000);
    let name = |at: usize| format!("{at}{HOSTILE}{}", "<&\"".repeat(at * 40));
    let mut whole = whole(40, name, &message);
    whole.project = HOSTILE.into();
    whole.mutate = found(mutate::example::hostile(), HOSTILE);
    whole.fixes.push(known(fixed(&name(1), HOSTILE), HOSTILE));
    whole
}
