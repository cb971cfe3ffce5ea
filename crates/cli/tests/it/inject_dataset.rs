//! `flakelab inject` on an example: the data set against what was thought out by hand, judged by git and plain
//! pytest.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::support::datasets::{
    FEW, Folder, inject, jsonl, mutants, orders, run, single, text, texts,
};
use crate::support::patches::{added, commit, git};
use crate::support::{Project, Run, root};
use serde_json::Value;

#[test]
fn the_ledger_gives_the_mutants_that_were_thought_out() {
    let project = Project::example("ledger");
    commit(&project);
    let folder = Folder::new();
    let set = folder.set("set");
    let run = inject(&project, &set, &FEW);
    assert_eq!(run.code, 1, "{}", run.stderr);
    as_thought_out(&set);
    the_whole_data_set_is_there(&project, &set, &run);
    verify_and_evaluate(&project, &set);
    damage_is_told(&project, &set);
    what_no_longer_shows_is_named(&project, &set);
}

fn as_thought_out(set: &Path) {
    let expected = jsonl(&root().join("examples/ledger/expected-mutants.jsonl"));
    let found = jsonl(&set.join("mutants.jsonl"));
    let ids =
        |entries: &[Value]| -> Vec<String> { entries.iter().map(|e| text(&e["id"])).collect() };
    assert_eq!(ids(&found), ids(&expected));
    for (found, expected) in found.iter().zip(&expected) {
        for field in ["statement", "class"] {
            assert_eq!(found[field], expected[field], "{found:#}");
        }
        assert_eq!(found["failure"]["kind"], expected["failure"], "{found:#}");
        for field in ["polluters", "state_setters"] {
            // One is enough to show it; others may stay unnamed, and nobody else may be.
            let (some, all) = (single(&found[field]), texts(&expected[field]));
            assert!(some.is_subset(&all), "{found:#}");
            assert_eq!(some.is_empty(), all.is_empty(), "{found:#}");
        }
        let cleanings = found["cleaners"].as_array().into_iter().flatten();
        let cleaners: BTreeSet<String> = cleanings.flat_map(|c| texts(&c["cleaners"])).collect();
        assert_eq!(cleaners, texts(&expected["cleaners"]), "{found:#}");
        let (passing, failing) = (orders(found, "passing"), orders(found, "failing"));
        match text(&found["class"]).as_str() {
            "victim" => assert_eq!(found["alone"], serde_json::json!([3, 3])),
            "brittle" => assert_eq!(found["alone"], serde_json::json!([0, 3])),
            "invalid" => assert!(passing.is_empty() && failing.is_empty(), "{found:#}"),
            // All the stable ones of this example fail wherever they run.
            _ => assert!(passing.is_empty() && failing.len() == 20, "{found:#}"),
        }
        assert_eq!(found["why_invalid"].is_string(), found["valid"] == false);
        assert_eq!(found["patch"].is_string(), found["valid"] == true);
    }
}

fn the_whole_data_set_is_there(project: &Project, set: &Path, run: &Run) {
    let manifest = fs::read_to_string(set.join("manifest.json")).expect("a manifest");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    let name = project.path().file_name().expect("a name");
    assert_eq!(manifest["project"], name.to_str().expect("utf-8"));
    assert_eq!(manifest["seed"], 1);
    assert_eq!(manifest["reruns"], 3);
    assert_eq!(manifest["orders"], 20);
    assert_eq!(manifest["scope"], "suite");
    assert_eq!(manifest["include_fixtures"], false);
    assert_eq!(manifest["flakelab"], env!("CARGO_PKG_VERSION"));
    assert!(text(&manifest["python"]).starts_with("3."), "{manifest:#}");
    assert_eq!(text(&manifest["commit"]).len(), 40, "{manifest:#}");
    let pytest = format!("pytest=={}", text(&manifest["pytest"]));
    assert!(
        texts(&manifest["packages"]).contains(&pytest),
        "{manifest:#}"
    );

    let entries = mutants(set);
    let all: BTreeSet<String> = entries.values().map(|entry| text(&entry["test"])).collect();
    let orders_of_all = jsonl(&set.join("orders.jsonl"));
    assert_eq!(orders_of_all.len(), 20);
    for (number, order) in orders_of_all.iter().enumerate() {
        assert_eq!(order["order"], number);
        assert_eq!(order["tests"].as_array().map(Vec::len), Some(all.len()));
        assert_eq!(texts(&order["tests"]), all);
    }
    for entry in entries.values().filter(|entry| entry["valid"] == true) {
        let mut ran = [orders(entry, "passing"), orders(entry, "failing")].concat();
        ran.sort_unstable();
        assert!(ran.into_iter().eq(0..20), "{entry:#}");
        let patch = fs::read_to_string(set.join(text(&entry["patch"]))).expect("a patch");
        let (applies, said) = git(project, &["apply", "--check", "-"], Some(&patch));
        assert!(applies, "{said}\n{patch}");
        let gone = crate::support::patches::removed(&patch);
        let statement = text(&entry["statement"]);
        let statement = statement.trim_end_matches('…');
        assert!(gone[0].trim().starts_with(statement), "{patch}");
        let instead: Vec<&str> = added(&patch).iter().map(|line| line.trim()).collect();
        assert!(instead.is_empty() || instead == ["pass"], "{patch}");
    }
    assert!(jsonl(&set.join("excluded.jsonl")).is_empty());

    // Counted by hand from the expectation file.
    let totals = &run.document["totals"];
    for (field, count) in [
        ("stable_tests", 8),
        ("mutants", 16),
        ("valid", 13),
        ("order_dependent", 7),
        ("victims", 5),
        ("brittles", 2),
        ("non_deterministic", 0),
        ("assertion_failures", 5),
        ("other_failures", 2),
        ("tests_affected", 7),
    ] {
        assert_eq!(totals[field], count, "{field}: {totals:#}");
    }
    let readme = fs::read_to_string(set.join("README.md")).expect("a README");
    for line in [
        "| stable tests | 8 |",
        "| valid mutants | 13 |",
        "| order-dependent mutants | 7 |",
        "| order-dependent, of valid mutants | 53.8 % |",
        "| % OD tests: stable tests with one | 87.5 % |",
        "| % OD classes: test classes with one | 100.0 % |",
        "| % victims | 71.4 % |",
        "| % exceptions: fail by another exception | 28.6 % |",
    ] {
        assert!(readme.contains(line), "{line}\n{readme}");
    }
    let csv = fs::read_to_string(set.join("classes.csv")).expect("a table");
    let rows: Vec<&str> = csv.lines().skip(1).collect();
    assert_eq!(
        rows,
        [
            "tests/test_book.py,3,0,false,3,5,4,3,1,2,0,1,2,3",
            "tests/test_currency.py::TestCurrency,2,0,false,2,2,2,1,1,0,0,1,0,1",
            "tests/test_entries.py,3,0,false,3,9,7,3,3,0,0,3,0,3",
        ]
    );
    let page = fs::read_to_string(set.join("report.html")).expect("a page");
    assert!(page.matches("<svg").count() >= 3 && page.contains("test_entries.py"));
    assert!(!page.contains("<script") && !page.contains("http://") && !page.contains("src="));
}

fn verify_and_evaluate(project: &Project, set: &Path) {
    let set = set.to_str().expect("utf-8");
    let verified = run(project, &["verify", set], &["--format", "json"]);
    assert_eq!(verified.code, 0, "{}\n{}", verified.stdout, verified.stderr);
    assert_eq!(verified.document["entries"], 7);
    assert_eq!(verified.document["shown"], 7);
    let file = tempfile::NamedTempFile::new().expect("a file");
    let place = file.path().to_str().expect("utf-8");
    let verified = run(project, &["verify", set], &["--sample", "1", "-o", place]);
    let kept = fs::read_to_string(file.path()).expect("a text");
    for text in [&verified.stdout, &kept] {
        assert!(text.contains("1 of 1 entry still show"), "{text}");
    }

    // A brittle and a victim.
    let few = ["--sample", "2", "--orders", "10"];
    let evaluated = run(
        project,
        &["evaluate", set],
        &[&few[..], &["--format", "json"]].concat(),
    );
    assert_eq!(evaluated.code, 0, "{}", evaluated.stderr);
    for (field, value) in [
        ("entries", 2),
        ("found", 2),
        ("right_class", 2),
        ("others", 0),
        ("before", 0),
    ] {
        assert_eq!(
            evaluated.document[field], value,
            "{field}: {}",
            evaluated.stdout
        );
    }
    for field in ["recall", "precision"] {
        assert_eq!(evaluated.document[field], 1.0, "{}", evaluated.stdout);
    }
    let said = run(
        project,
        &["evaluate", set],
        &["--sample", "1", "--orders", "5"],
    )
    .stdout;
    for words in [
        "recall 100.0 % (2.5 % – 100.0 %): 1 of 1 injected test found, 1 in the right class",
        "precision at least 100.0 % (2.5 % – 100.0 %): 0 further reported",
    ] {
        assert!(said.contains(words), "{said}");
    }
}

fn damage_is_told(project: &Project, set: &Path) {
    let refused = |set: &Path, words: &[&str]| {
        let place = set.to_str().expect("utf-8");
        for word in ["verify", "evaluate"] {
            let run = run(project, &[word, place], &[]);
            assert_eq!(run.code, 2, "{}\n{}", run.stdout, run.stderr);
            for word in words {
                assert!(run.stderr.contains(word), "{word}: {}", run.stderr);
            }
        }
    };
    refused(&set.join("nowhere"), &["is no data set", "manifest.json"]);
    for (name, from, to, words) in [
        (
            "manifest.json",
            "\"format\": 1",
            "\"format\": 99",
            &["newer flakelab"][..],
        ),
        (
            "manifest.json",
            "\"seed\"",
            "\"sead\"",
            &["manifest.json", "seed"],
        ),
        (
            "mutants.jsonl",
            "\"brittle\"",
            "\"brutal\"",
            &["mutants.jsonl, line 1", "brutal"],
        ),
        (
            "orders.jsonl",
            "{\"order\":1,",
            "{\"order\":1",
            &["orders.jsonl, line 2"],
        ),
    ] {
        let path = set.join(name);
        let whole = fs::read_to_string(&path).expect("a file");
        assert!(whole.contains(from));
        fs::write(&path, whole.replacen(from, to, 1)).expect("written");
        refused(set, words);
        fs::write(&path, whole).expect("written");
    }
    let place = set.to_str().expect("utf-8");
    let again = run(project, &[], &["--seed", "1", "-o", place]);
    assert_eq!(again.code, 2);
    assert!(
        again.stderr.contains("has a data set already"),
        "{}",
        again.stderr
    );
}

/// The helper of one file goes into a fixture, a patch no longer fits, another is lost, a third is led
/// out of the data set.
fn what_no_longer_shows_is_named(project: &Project, set: &Path) {
    let write =
        |name: &str, text: &str| fs::write(project.path().join(name), text).expect("written");
    write(
        "tests/conftest.py",
        "import ledger\nimport pytest\n\n\n@pytest.fixture(autouse=True)\ndef empty():\n    ledger.reset()\n",
    );
    let name = "tests/test_currency.py";
    let code = fs::read_to_string(project.path().join(name)).expect("code");
    write(
        name,
        &code.replace("ledger.use(\"EUR\")", "ledger.use(\"E\" + \"UR\")"),
    );
    let entries = mutants(set);
    let patch = |id: &str| text(&entries[id]["patch"]);
    fs::remove_file(set.join(patch("tests/test_book.py::test_open#1"))).expect("removed");
    let listed = set.join("mutants.jsonl");
    let lines = fs::read_to_string(&listed).expect("mutants");
    let away = lines.replace(
        &patch("tests/test_book.py::test_title#1"),
        "../elsewhere.patch",
    );
    fs::write(&listed, away).expect("written");

    let place = set.to_str().expect("utf-8");
    let run = run(project, &["verify", place], &["--format", "json"]);
    assert_eq!(run.code, 1, "{}\n{}", run.stdout, run.stderr);
    assert_eq!(run.document["shown"], 1);
    let not = run.document["not_shown"].as_array().expect("a list");
    let not: BTreeMap<String, String> = not
        .iter()
        .map(|n| (text(&n["id"]), text(&n["why"])))
        .collect();
    for (id, why) in [
        ("tests/test_book.py::test_open#1", "No such file"),
        (
            "tests/test_book.py::test_title#1",
            "lies outside the data set",
        ),
        (
            "tests/test_currency.py::TestCurrency::test_euro#1",
            "the patch does not fit `tests/test_currency.py` any more",
        ),
        (
            "tests/test_entries.py::test_nothing_yet#1",
            "passes at the end",
        ),
        (
            "tests/test_entries.py::test_one_entry#1",
            "passes at the end",
        ),
        (
            "tests/test_entries.py::test_many_entries#1",
            "passes at the end",
        ),
    ] {
        let said = not.get(id).map(String::as_str).unwrap_or_default();
        assert!(said.contains(why), "{id}: {said}");
    }
    assert_eq!(not.len(), 6, "{not:#?}");
}
