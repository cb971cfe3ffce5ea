//! `flakelab report`: one page of all that the other verbs left in the store.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::support::{Project, root};
use rusqlite::Connection;
use serde_json::Value;

const SHOP: &str = "\
RATES = {\"default\": 10}


def price(net, rate=\"default\"):
    return net + net * RATES[rate] // 100


def discount(net):
    if net > 100:
        return net - 10
    return net
";
const TESTS: &str = "\
import shop


def test_price():
    assert shop.price(100) == 110


def test_sale():
    shop.RATES[\"default\"] = 50
    assert shop.price(100) == 150


def test_reset():
    shop.RATES[\"default\"] = 10
    assert shop.price(10) == 11


def test_order():
    assert next(iter({\"ada\", \"bob\", \"cid\"})) != \"cid\"


def test_discount():
    basket = []
    basket.append(200)
    assert shop.discount(basket[0]) == 190
";

fn run(project: &Project, args: &[&str], codes: &[i32]) -> String {
    let mut command = project.flakelab(args);
    let output = command.env("FLAKELAB_PYTHON", project.python()).output();
    let output = output.expect("flakelab runs");
    let code = output.status.code().unwrap_or(-1);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(codes.contains(&code), "{args:?}: {code}\n{said}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The newest document of each verb, as the store has it.
fn documents(store: &Path) -> BTreeMap<String, Value> {
    let store = Connection::open(store).expect("a store");
    let query =
        "SELECT verb, CAST(document AS TEXT) FROM campaigns WHERE document IS NOT NULL ORDER BY id";
    let mut statement = store.prepare(query).expect("a query");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.expect("rows")
        .map(|row: Result<(String, String), _>| row.expect("a row"))
        .map(|(verb, text)| (verb, serde_json::from_str(&text).expect("JSON")))
        .collect()
}

fn browse(page: &Path, documents: &BTreeMap<String, Value>) {
    let file = page.with_extension("json");
    std::fs::write(&file, serde_json::to_string(documents).expect("JSON")).expect("written");
    let checked = Command::new(root().join(".venvs/browser/bin/python"))
        .arg(root().join("tests/browser/check_report.py"))
        .arg(page)
        .arg("--document")
        .arg(&file)
        .output()
        .expect("there is no environment `browser`: run scripts/test");
    let said = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{said}");
}

/// One store for all: each verb once, small, then the page and what it says of each.
#[test]
fn every_verb_is_on_the_page_with_its_claims() {
    let project = Project::new(&[
        ("shop.py", SHOP),
        ("tests/test_shop.py", TESTS),
        ("pytest.ini", "[pytest]\npythonpath = .\n"),
    ]);
    let before = project.tree();
    run(
        &project,
        &["detect", "--seed", "1", "--orders", "10", "-q"],
        &[1],
    );
    let victim = "tests/test_shop.py::test_price";
    run(&project, &["explain", victim, "--seed", "1", "-q"], &[1]);
    run(
        &project,
        &["fix", "--seed", "1", "--shuffles", "3", "-q"],
        &[1, 4],
    );
    let measure = [
        "measure",
        "--seed",
        "1",
        "--runs",
        "2",
        "--factors",
        "hash-seed",
        "-q",
    ];
    run(&project, &measure, &[0, 1]);
    run(
        &project,
        &[
            "filter",
            "learn",
            "--seed",
            "1",
            "--runs",
            "3",
            "--version",
            "v1",
        ],
        &[0],
    );
    let mutate = [
        "mutate",
        "--seed",
        "1",
        "--sample",
        "6",
        "--coverage-reruns",
        "1",
        "--reruns",
        "1",
        "-q",
    ];
    run(&project, &mutate, &[0, 1]);
    run(
        &project,
        &[
            "inject", "--seed", "1", "--reruns", "2", "--orders", "2", "-q",
        ],
        &[0, 1],
    );
    let reports = tempfile::tempdir().expect("a directory");
    for (version, failed) in [("v1", true), ("v1", false), ("v2", false)] {
        let failure = if failed {
            "<failure message=\"x\"/>"
        } else {
            ""
        };
        let path = reports.path().join(format!("{version}{failed}.xml"));
        let case = format!(
            "<testcase classname=\"tests.test_shop\" name=\"test_price\">{failure}</testcase>"
        );
        std::fs::write(&path, format!("<testsuite>{case}</testsuite>")).expect("written");
        let path = path.to_str().expect("UTF-8");
        run(
            &project,
            &["ingest", "--version", version, "-q", path],
            &[0],
        );
    }
    assert_eq!(run(&project, &["report"], &[0]), ".flakelab/report.html\n");
    assert_eq!(
        project.tree(),
        before,
        "nothing but the store is written to"
    );

    let folder = project.path().join(".flakelab");
    let store = folder.join("store.sqlite");
    let known = documents(&store);
    for verb in ["detect", "explain", "fix", "measure", "mutate", "inject"] {
        assert!(known.contains_key(verb), "{verb}");
    }
    browse(&folder.join("report.html"), &known);

    let page = std::fs::read_to_string(folder.join("report.html")).expect("a page");
    let detect = &known["detect"];
    for text in [
        detect["confidence"]["statement"]
            .as_str()
            .expect("a statement"),
        "<td><code>tests/test_shop.py:9</code></td>",
        "Assertions by threshold, in percent",
        "assert next(iter(",
        "failure rates: 50 %, 0 %",
        "flakelab measure --seed 1 --runs 2",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(
        !page.contains(&*project.path().to_string_lossy()),
        "no path of this machine"
    );

    older_and_newer_documents(&project, &store);
}

/// A document of another minor version is read; one that makes no sense costs its own part.
fn older_and_newer_documents(project: &Project, store: &Path) {
    let connection = Connection::open(store).expect("a store");
    let change = |verb: &str, change: &dyn Fn(&mut Value)| {
        let mut document = documents(store).remove(verb).expect("a document");
        change(&mut document);
        let query = "UPDATE campaigns SET document = ? WHERE verb = ?";
        let changed = connection.execute(query, [&document.to_string(), verb]);
        assert!(changed.expect("changed") > 0);
    };
    change("detect", &|document| {
        document["schema"]["version"] = "1.9".into();
        document["of_the_future"] = serde_json::json!({"a": [1]});
        for test in document["tests"].as_array_mut().expect("tests") {
            let test = test.as_object_mut().expect("a test");
            test.remove("why");
            test.remove("evidence");
            test.insert("later".into(), 1.into());
        }
    });
    change("mutate", &|document| {
        *document = serde_json::json!({"schema": 1})
    });
    let elsewhere = tempfile::tempdir().expect("a directory");
    let path = elsewhere.path().join("page.html");
    let path = path.to_str().expect("UTF-8");
    assert_eq!(
        run(project, &["report", "-o", path], &[0]),
        format!("{path}\n")
    );
    let page = std::fs::read_to_string(path).expect("a page");
    assert!(
        page.contains("test_price"),
        "tests of a newer document are there"
    );
    let (_, mutants) = page.split_once("<h2 id=\"mutate\">").expect("a section");
    assert!(
        mutants.contains("The last campaign cannot be read"),
        "{}",
        &mutants[..300]
    );
}

#[test]
fn without_a_store_the_next_step_is_named() {
    let project = Project::new(&[("test_a.py", "def test_a(): pass\n")]);
    let refused = |args: &[&str]| {
        let output = project.flakelab(args).output().expect("flakelab runs");
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let said = refused(&["report"]);
    assert!(
        said.contains("nothing is known of this suite yet"),
        "{said}"
    );
    assert!(said.contains("hint: run `flakelab detect` first"), "{said}");
    assert!(
        !project.path().join(".flakelab").exists(),
        "reading makes no store"
    );
    // A store with nothing in it.
    let empty = tempfile::tempdir().expect("a directory");
    let store = empty.path().join("store.sqlite");
    std::fs::write(&store, "").expect("written");
    let said = refused(&["report", "--store", store.to_str().expect("UTF-8")]);
    assert!(
        said.contains("nothing is known of this suite yet"),
        "{said}"
    );
    let said = refused(&["report", "-o", "no/such/folder/page.html"]);
    assert!(said.contains("hint: "), "{said}");
}
