//! `flakelab measure` on small projects: what layers see, how configurations are made, what goes wrong.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::support::{Project, environment};
use serde_json::{Value, json};

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn configuration<'a>(document: &'a Value, name: &str) -> &'a Value {
    let found = list(&document["configurations"])
        .iter()
        .find(|c| c["name"] == name);
    found.unwrap_or_else(|| panic!("no configuration {name}"))
}

/// A test at a layer of a configuration.
fn test<'a>(document: &'a Value, name: &str, layer: &str, test: &str) -> &'a Value {
    let layers = list(&configuration(document, name)["layers"]);
    let layer = layers
        .iter()
        .find(|l| l["layer"] == layer)
        .expect("a layer");
    let end = format!("::{test}");
    let found = list(&layer["tests"])
        .iter()
        .find(|t| t["id"].as_str().is_some_and(|id| id.ends_with(&end)));
    found.unwrap_or_else(|| panic!("no test {test}"))
}

fn elements(test: &Value) -> BTreeSet<&str> {
    list(&test["elements"])
        .iter()
        .filter_map(|e| e["element"].as_str())
        .collect()
}

const SEEDED: [&str; 4] = ["--factors", "random-seed", "--runs", "6"];

#[test]
fn every_kind_of_assertion_is_seen_with_its_place() {
    let project = Project::new(&[(
        "test_kinds.py",
        r#"import random
import unittest

import pytest


def draw():
    return random.randint(0, 10**6)


def test_chained():
    assert -1 < draw() < 10**7


def test_and():
    assert draw() >= 0 and draw() >= 0


def test_shortened():
    assert True or draw()


def test_raises():
    with pytest.raises(ValueError):
        raise ValueError(draw())


class TestOld(unittest.TestCase):
    def test_method(self):
        self.assertGreaterEqual(draw(), 0)


class Sulky:
    def __init__(self):
        self.number = draw()

    def __repr__(self):
        raise RuntimeError

    __eq__ = __hash__ = __len__ = __bool__ = __repr__


def test_sulky():
    assert Sulky() is not Sulky()
"#,
    )]);
    let run = project.measure(&SEEDED);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let seen = |name: &str| elements(test(&run.document, "random-seed", "assertions", name));
    let file = "test_kinds.py";
    assert_eq!(
        seen("test_chained"),
        [format!("{file}:12:4 right")]
            .iter()
            .map(String::as_str)
            .collect()
    );
    assert_eq!(seen("test_and").len(), 2, "{:?}", seen("test_and"));
    assert!(seen("test_shortened").is_empty());
    assert!(
        seen("test_raises")
            .iter()
            .all(|e| e.starts_with("test_kinds.py:24:")),
        "{:?}",
        seen("test_raises")
    );
    assert_eq!(seen("test_raises").len(), 1);
    assert_eq!(seen("test_method").len(), 1);
    // Objects count by their type alone, unless fields are asked for.
    assert!(seen("test_sulky").is_empty());
    for (verdicts, layer) in [(0.0, "verdicts"), (0.0, "outcome")] {
        assert_eq!(
            test(&run.document, "random-seed", layer, "test_and")["entropy"],
            verdicts
        );
    }

    std::fs::write(
        project.path().join("flakelab.toml"),
        "[measure.fields]\n\"test_kinds.Sulky\" = [\"number\"]\n",
    )
    .expect("written");
    let run = project.measure(&SEEDED);
    let seen = elements(test(
        &run.document,
        "random-seed",
        "assertions",
        "test_sulky",
    ));
    assert_eq!(seen.len(), 2, "{seen:?}");
}

#[test]
fn verdicts_outcomes_code_and_margins_are_kept_apart() {
    let project = Project::new(&[
        (
            "shop.py",
            "import random\n\n\ndef rare():\n    return 1\n\n\ndef price():\n    if random.random() < 0.5:\n        return rare()\n    return 2\n",
        ),
        (
            "test_shop.py",
            "import random\n\nimport shop\n\n\ndef test_path():\n    assert shop.price() > -99\n\n\ndef test_fails_at_times():\n    assert shop.price() == 2\n\n\ndef test_close():\n    assert random.uniform(0.0, 1.0) < 1.0\n",
        ),
    ]);
    let run = project.measure(&[
        "--factors",
        "random-seed",
        "--runs",
        "10",
        "--layers",
        "outcome,assertions,code,lines,behaviour",
    ]);
    let document = &run.document;
    let at = |layer: &str, name: &str| test(document, "random-seed", layer, name);
    assert_eq!(at("outcome", "test_path")["entropy"], 0.0);
    assert_eq!(at("verdicts", "test_path")["entropy"], 0.0);
    assert!(at("assertions", "test_path")["entropy"].as_f64() > Some(0.0));
    assert_eq!(
        elements(at("code", "test_path")),
        BTreeSet::from(["shop.py:rare"])
    );
    assert_eq!(
        elements(at("lines", "test_path")),
        BTreeSet::from(["shop.py:5", "shop.py:10", "shop.py:11"])
    );
    assert!(
        elements(at("behaviour", "test_path")).contains("shop.py:price:exit  return  constant"),
        "{:?}",
        at("behaviour", "test_path")
    );
    let failing = at("outcome", "test_fails_at_times");
    assert!(failing["entropy"].as_f64() > Some(0.0));
    let values: BTreeSet<&str> = list(&failing["elements"])
        .iter()
        .flat_map(|e| list(&e["values"]))
        .filter_map(|v| v["value"].as_str())
        .collect();
    // As plain pytest says it.
    assert!(
        values.iter().any(|v| v.contains("assert 1 == 2")),
        "{values:?}"
    );
    assert!(at("verdicts", "test_fails_at_times")["entropy"].as_f64() > Some(0.0));
    let latent: Vec<&str> = list(&document["latent"])
        .iter()
        .filter_map(|l| l["test"].as_str())
        .collect();
    assert_eq!(latent, ["test_shop.py::test_close"]);
    let effects = list(&document["factors"]);
    assert!(
        effects.iter().all(|e| e["factor"] == "random-seed"),
        "{effects:?}"
    );
    assert!(
        effects
            .iter()
            .any(|e| e["layer"] == "code" && e["share"] == 1.0),
        "{effects:?}"
    );
}

#[test]
fn configurations_of_the_file_are_combined_and_the_preset_has_its_nine() {
    let project = Project::new(&[
        (
            "test_surroundings.py",
            "import os\nimport sys\nimport time\n\n\ndef test_zone():\n    assert time.tzname[0] != ''\n\n\ndef test_mask():\n    old = os.umask(0)\n    os.umask(old)\n    assert old >= 0\n",
        ),
        (
            "flakelab.toml",
            "[measure]\nruns = 2\nlayers = ['outcome', 'assertions']\n[measure.configurations.office]\ntimezone = ['CET-1', 'JST-9']\numask = ['002', '077']\norder = 'reverse'\n",
        ),
    ]);
    let run = project.measure(&["--factors", "none"]);
    let names: Vec<&str> = list(&run.document["configurations"])
        .iter()
        .filter_map(|c| c["name"].as_str())
        .collect();
    assert_eq!(names.len(), 6, "{names:?}");
    assert!(
        names.contains(&"office timezone=JST-9 umask=077"),
        "{names:?}"
    );
    let effects: BTreeSet<(&str, &str)> = list(&run.document["factors"])
        .iter()
        .filter(|e| e["layer"] == "assertions")
        .map(|e| {
            (
                e["factor"].as_str().expect("a factor"),
                e["levels"][1].as_str().expect("two"),
            )
        })
        .collect();
    // Each factor within runs that agree in the other one.
    assert_eq!(
        effects,
        BTreeSet::from([("timezone", "JST-9"), ("umask", "077")])
    );

    let runtime = environment("pytest7").join("bin/python");
    let run = project.measure(&[
        "--preset",
        "gao",
        "--runtime",
        runtime.to_str().expect("utf-8"),
    ]);
    let names: Vec<&str> = list(&run.document["configurations"])
        .iter()
        .filter_map(|c| c["name"].as_str())
        .filter(|name| !name.starts_with("office"))
        .collect();
    let expected = [
        "best",
        "uncontrolled",
        "no-init",
        "delay-0ms",
        "delay-50ms",
        "delay-100ms",
        "delay-200ms",
    ];
    assert_eq!(names[..7], expected);
    assert!(
        names[7].starts_with("python ") && names.len() == 8,
        "{names:?}"
    );
    assert_eq!(
        configuration(&run.document, "delay-200ms")["settings"]["delay"],
        "200"
    );
    // This environment has no library for the clock; that is said.
    let unavailable = list(&run.document["unavailable"]);
    assert!(
        unavailable.iter().any(|u| u["factor"] == "date"),
        "{unavailable:?}"
    );
    assert_eq!(
        configuration(&run.document, "best")["settings"]["date"],
        "system"
    );
}

#[test]
fn without_a_sandbox_state_is_said_to_be_unavailable() {
    let project = Project::new(&[("test_a.py", "def test_a():\n    assert 1 == 1\n")]);
    let run = project.measure(&[
        "--factors",
        "state,umask",
        "--runs",
        "2",
        "--sandbox",
        "off",
    ]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.document["unavailable"][0]["factor"], "state");
    let names: Vec<&Value> = list(&run.document["configurations"])
        .iter()
        .map(|c| &c["name"])
        .collect();
    assert_eq!(
        names,
        [
            &json!("controlled"),
            &json!("uncontrolled"),
            &json!("umask")
        ]
    );
}

#[test]
fn an_interrupted_measurement_goes_on() {
    let project = Project::new(&[(
        "test_slow.py",
        "import random\nimport time\n\n\ndef test_slow():\n    time.sleep(0.4)\n    assert random.random() < 2\n",
    )]);
    let python = project.python();
    let args = [
        "measure",
        "--python",
        python.to_str().expect("utf-8"),
        "--seed",
        "3",
        "--runs",
        "4",
        "--factors",
        "random-seed",
    ];
    let mut child = project.flakelab(&args).spawn().expect("flakelab runs");
    let store = project.path().join(".flakelab/store.sqlite");
    let deadline = Instant::now() + Duration::from_secs(60);
    let runs = || {
        let db = rusqlite::Connection::open(&store).ok()?;
        db.query_row("SELECT count(*) FROM results", [], |row| {
            row.get::<_, i64>(0)
        })
        .ok()
    };
    while runs().unwrap_or(0) < 3 {
        assert!(Instant::now() < deadline, "no run was kept");
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().expect("killed");
    child.wait().expect("ended");
    let before = runs().expect("a store");
    assert!((3..12).contains(&before), "{before}");
    let output = project
        .flakelab(&args)
        .arg("--resume")
        .output()
        .expect("flakelab runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("were taken from the store"), "{said}");
    assert_eq!(runs(), Some(12));
}

#[test]
fn bad_input_gets_one_clear_error_with_a_hint() {
    let project = Project::new(&[("test_a.py", "def test_a():\n    pass\n")]);
    for (args, said, hint) in [
        (&["--runs", "1"][..], "--runs 1", ""),
        (
            &["--layers", "outcom"],
            "`outcom` is no layer",
            "did you mean `outcome`?",
        ),
        (
            &["--factors", "timezne"],
            "`timezne` is no factor",
            "did you mean `timezone`?",
        ),
        (
            &["--unmask", "colour"],
            "`colour` is no mask",
            "known are address",
        ),
        (
            &["--source", "nowhere"],
            "nowhere",
            "--source takes a directory",
        ),
        (&["--runtime", "nowhere"], "nowhere", ""),
        (
            &["--preset", "gao", "--factors", "load"],
            "cannot be used with",
            "",
        ),
        (&["--resume"], "no campaign to resume", "start one"),
    ] {
        let python = project.python();
        let mut all = vec!["measure", "--python", python.to_str().expect("utf-8")];
        all.extend(args);
        let output = project.flakelab(&all).output().expect("flakelab runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(
            stderr.contains(said) && stderr.contains(hint),
            "{args:?}: {stderr}"
        );
    }
    std::fs::write(
        project.path().join("flakelab.toml"),
        "[measure.configurations.x]\nnetwork = 'slow'\n",
    )
    .expect("written");
    let output = project
        .flakelab(&[
            "measure",
            "--python",
            project.python().to_str().expect("utf-8"),
        ])
        .output();
    let stderr = String::from_utf8(output.expect("flakelab runs").stderr).expect("utf-8");
    assert!(
        stderr.contains("`slow` is no setting of network, which takes `on` or `off`"),
        "{stderr}"
    );
}
