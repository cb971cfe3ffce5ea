//! `flakelab measure` on the example where every test but the controls has one planted factor.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use crate::support::{Project, environment, root};
use serde_json::Value;

/// The test, its factor, and factors that may be named as well because they come to the same.
const PLANTED: [(&str, &str, &[&str]); 9] = [
    ("test_tour", "hash-seed", &[]),
    ("test_greeting", "date", &[]),
    ("test_sunrise", "timezone", &[]),
    ("test_degrees", "locale", &[]),
    ("test_readings", "state", &[]),
    // Runs beside each other, or on fewer processors than they are, are under load.
    ("test_is_quick", "load", &["parallel", "cpus"]),
    ("test_gust", "random-seed", &[]),
    ("test_buffer_page", "addresses", &[]),
    ("test_links", "network", &[]),
];
const CONTROLS: [&str; 3] = [
    "test_average_is_always_the_same",
    "test_addresses_uuids_and_times_are_masked",
    "test_sets_are_compared_whatever_their_order",
];

fn name(id: &Value) -> &str {
    id.as_str()
        .and_then(|id| id.split("::").nth(1))
        .expect("an id")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn every_planted_factor_is_named_and_the_controls_do_not_vary() {
    let project = Project::example("weather").with("clock");
    let dir = tempfile::tempdir().expect("a directory");
    let (html, csv) = (dir.path().join("page.html"), dir.path().join("table.csv"));
    let run = project.measure(&[
        "--runs",
        "8",
        "--layers",
        "outcome,assertions,code,behaviour",
        "--html",
        html.to_str().expect("utf-8"),
        "--csv",
        csv.to_str().expect("utf-8"),
    ]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let document = &run.document;
    assert_eq!(document["schema"]["name"], "flakelab.measure");
    assert_eq!(
        document["unavailable"],
        serde_json::json!([]),
        "{}",
        run.stderr
    );

    for layer in ["assertions", "behaviour"] {
        let mut named: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for effect in list(&document["factors"]) {
            if effect["layer"] == layer {
                for test in list(&effect["tests"]) {
                    let factor = effect["factor"].as_str().expect("a factor");
                    named.entry(name(&test["id"])).or_default().insert(factor);
                }
            }
        }
        for (test, factor, besides) in PLANTED {
            let found = named.remove(test).unwrap_or_default();
            assert!(found.contains(factor), "{layer}: {test}: {found:?}");
            let others = found.iter().find(|f| **f != factor && !besides.contains(f));
            assert_eq!(others, None, "{layer}: {test}: {found:?}");
        }
        assert!(named.is_empty(), "{layer}: {named:?}");
    }
    what_does_not_vary(document);
    values_are_shown(document);
    let rows = std::fs::read_to_string(&csv).expect("a table");
    assert!(
        rows.contains("hash-seed,assertions,test_weather.py::test_tour,8,"),
        "{rows}"
    );
    let json = dir.path().join("document.json");
    std::fs::write(&json, document.to_string()).expect("written");
    opens_in_a_browser(&html, &json);
}

fn what_does_not_vary(document: &Value) {
    for configuration in list(&document["configurations"]) {
        for layer in list(&configuration["layers"]) {
            for test in list(&layer["tests"]) {
                let controlled = configuration["name"] == "controlled"
                    // Whether the machine is idle is not ours to say.
                    && name(&test["id"]) != "test_is_quick";
                if CONTROLS.contains(&name(&test["id"])) || controlled {
                    assert_eq!(test["entropy"], 0.0, "{}: {test}", configuration["name"]);
                    assert_eq!(test["range"], 0, "{test}");
                }
            }
        }
        let outcomes = &configuration["layers"][0];
        assert_eq!(outcomes["layer"], "outcome");
        assert_eq!(
            outcomes["suite"]["entropy"], 0.0,
            "every test always passes"
        );
    }
}

fn values_are_shown(document: &Value) {
    let configurations = list(&document["configurations"]);
    let state = configurations
        .iter()
        .find(|c| c["name"] == "state")
        .expect("state");
    let layer = &list(&state["layers"])[1];
    assert_eq!(layer["layer"], "assertions");
    let readings = list(&layer["tests"])
        .iter()
        .find(|t| name(&t["id"]) == "test_readings");
    let readings = readings.expect("the test");
    // The first run finds no file, the second finds 1, the rest more.
    assert_eq!(readings["groups"], serde_json::json!([6, 1, 1]));
    let element = &readings["elements"][0];
    assert_eq!(element["element"], "test_weather.py:26:4 left");
    assert_eq!(
        element["values"][0],
        serde_json::json!({"value": "3", "runs": 6})
    );
    assert!(state["settings"]["state"] == "left" && state["settings"]["hash-seed"] == "0");
}

fn opens_in_a_browser(page: &std::path::Path, document: &std::path::Path) {
    let checked = Command::new(environment("browser").join("bin/python"))
        .arg(root().join("tests/browser/check_measure.py"))
        .arg(page)
        .arg("--document")
        .arg(document)
        .output()
        .expect("the check runs");
    let said = String::from_utf8_lossy(&checked.stdout);
    assert!(
        checked.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&checked.stderr)
    );
}
