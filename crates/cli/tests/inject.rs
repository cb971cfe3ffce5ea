//! `flakelab inject` on real suites: the data set against what was thought out by hand, judged by git and
//! plain pytest.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::Value;
use support::patches::{added, commit, diff_of, fix_of, git};
use support::{Project, Run, root};

/// Few runs alone, where their number does not matter.
const FEW: [&str; 2] = ["--reruns", "3"];

/// A folder for data sets, outside the project.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    fn set(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// `flakelab inject` with its words, in the project; what it printed is the document, and the tree must be
/// as it was.
fn run(project: &Project, words: &[&str], args: &[&str]) -> Run {
    let before = project.tree();
    let python = project.python();
    let mut all = vec!["inject"];
    all.extend(words);
    all.extend(["--python", python.to_str().expect("utf-8")]);
    all.extend(args);
    let output = project.flakelab(&all).output().expect("flakelab runs");
    let mut run = Run::of(output, Path::new(""));
    run.document = serde_json::from_str(&run.stdout).unwrap_or_default();
    assert_eq!(
        project.tree(),
        before,
        "the tree was changed\n{}",
        run.stderr
    );
    run
}

/// A data set; the seed is 1 unless another is given.
#[track_caller]
fn inject(project: &Project, set: &Path, args: &[&str]) -> Run {
    let mut all = vec!["--format", "json", "-o", set.to_str().expect("utf-8")];
    if !args.contains(&"--seed") {
        all.extend(["--seed", "1"]);
    }
    all.extend(args);
    let run = run(project, &[], &all);
    assert!(matches!(run.code, 0 | 1), "{}: {}", run.code, run.stderr);
    run
}

fn jsonl(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn mutants(set: &Path) -> BTreeMap<String, Value> {
    jsonl(&set.join("mutants.jsonl"))
        .into_iter()
        .map(|entry| (text(&entry["id"]), entry))
        .collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> BTreeSet<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}

/// The tests of all sets, each of which must have one.
fn single(sets: &Value) -> BTreeSet<String> {
    let sets = sets.as_array().into_iter().flatten();
    sets.map(|set| {
        assert_eq!(set.as_array().map(Vec::len), Some(1), "{set}");
        text(&set[0])
    })
    .collect()
}

/// The class of every valid mutant of a data set.
fn classes(set: &Path) -> BTreeMap<String, String> {
    mutants(set)
        .into_iter()
        .filter(|(_, entry)| entry["valid"] == true)
        .map(|(id, entry)| (id, text(&entry["class"])))
        .collect()
}

/// Everything in a data set.
fn files(set: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for folder in [set.to_owned(), set.join("patches")] {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            if entry.path().is_file() {
                let name = entry.path();
                let name = name.strip_prefix(set).expect("below").display().to_string();
                found.insert(name, fs::read(entry.path()).expect("a file"));
            }
        }
    }
    found
}

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

fn orders(entry: &Value, which: &str) -> Vec<u64> {
    let numbers = entry[format!("{which}_orders")].as_array();
    let numbers = numbers.into_iter().flatten();
    numbers.filter_map(Value::as_u64).collect()
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
        let gone = support::patches::removed(&patch);
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
    let verified = run(project, &["verify", set], &["--sample", "1"]);
    assert!(
        verified.stdout.contains("1 of 1 entry still show"),
        "{}",
        verified.stdout
    );

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
        "recall 100.0 %: 1 of 1 injected test found, 1 in the right class",
        "precision 100.0 %: 0 further reported",
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

/// One that depends on the order behind some that fail with what differs from run to run.
const SLOW: &str = "\
from unittest import mock

BOX = []


def test_first(tmp_path):
    file = tmp_path / 'file'
    file.write_text('x')
    numbers = mock.Mock()
    numbers.total = 1
    assert file.read_text() == 'x'
    assert numbers.total == 1


def test_fill():
    BOX[:] = [1]
    assert BOX == [1]


def test_empty():
    BOX.clear()
    assert BOX == []
";

#[test]
fn a_seed_decides_about_the_data_set_whether_interrupted_or_not() {
    let project = Project::new(&[("test_slow.py", SLOW)]);
    let folder = Folder::new();
    let (whole, late, other) = (folder.set("whole"), folder.set("late"), folder.set("other"));
    let few = ["--reruns", "10", "--orders", "12"];
    let before = project.tree();
    // While tests are selected, then while mutants are evaluated.
    interrupt(
        &project,
        &[&few[..], &["--seed", "1"]].concat(),
        &late,
        "select/",
    );
    interrupt(
        &project,
        &[&few[..], &["--resume"]].concat(),
        &late,
        "mutant/",
    );
    assert_eq!(project.tree(), before);
    assert!(!late.join("mutants.jsonl").exists());
    let kept = results(&project, "%");
    let run = inject(&project, &late, &[&few[..], &["--resume"]].concat());
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(results(&project, "%") > kept);

    inject(&project, &whole, &few);
    let (resumed, undisturbed) = (files(&late), files(&whole));
    for (name, bytes) in &undisturbed {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let same = resumed.get(name).map(|bytes| text(bytes));
        assert_eq!(same.as_deref(), Some(&*text(bytes)), "{name}");
    }
    assert!(
        resumed.keys().eq(undisturbed.keys()),
        "{:?}",
        resumed.keys()
    );

    inject(&project, &other, &[&few[..], &["--seed", "2"]].concat());
    let further = files(&other);
    assert!(further.keys().eq(undisturbed.keys()));
    for (name, bytes) in &further {
        let may = [
            "manifest.json",
            "mutants.jsonl",
            "orders.jsonl",
            "README.md",
        ];
        assert!(
            may.contains(&name.as_str()) || undisturbed[name] == *bytes,
            "{name}"
        );
    }
    assert_ne!(further["orders.jsonl"], undisturbed["orders.jsonl"]);
    let timeless = |set: &Path| {
        let mut entries = mutants(set);
        for entry in entries.values_mut().filter_map(Value::as_object_mut) {
            entry.remove("passing_orders");
            entry.remove("failing_orders");
        }
        entries
    };
    assert_eq!(timeless(&other), timeless(&whole));
    let expected = [
        ("test_slow.py::test_first#2", "stable"),
        ("test_slow.py::test_first#4", "stable"),
        ("test_slow.py::test_fill#1", "stable"),
        ("test_slow.py::test_empty#1", "victim"),
    ];
    let expected = expected.map(|(id, class)| (id.to_owned(), class.to_owned()));
    assert_eq!(classes(&whole), BTreeMap::from(expected));
}

/// Results of this kind that the store has.
fn results(project: &Project, like: &str) -> i64 {
    let store = project.path().join(".flakelab/store.sqlite");
    let count = || -> Option<i64> {
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let db = rusqlite::Connection::open_with_flags(&store, flags).ok()?;
        let query = "SELECT count(*) FROM results WHERE key LIKE ?";
        db.query_row(query, [format!("{like}%")], |row| row.get(0))
            .ok()
    };
    count().unwrap_or(0)
}

/// Sends Ctrl-C once something of this kind is finished.
fn interrupt(project: &Project, args: &[&str], set: &Path, like: &str) {
    let mut child = project
        .flakelab(&["inject", "--python"])
        .arg(project.python())
        .args(args)
        .arg("-o")
        .arg(set)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("flakelab starts");
    while results(project, like) == 0 {
        let ended = child.try_wait().expect("a child");
        assert!(ended.is_none(), "it ended too early: {ended:?}");
        std::thread::yield_now();
    }
    signal(&child, libc::SIGINT);
    let output = child.wait_with_output().expect("ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("--resume"), "{said}");
}

#[allow(unsafe_code, reason = "std cannot send signals")]
fn signal(child: &Child, number: i32) {
    // SAFETY: plain system call on a child we have not waited for.
    unsafe {
        libc::kill(i32::try_from(child.id()).expect("a pid"), number);
    }
}

/// Each test has a statement whose deletion makes it a menace.
const HOSTILE: &str = r#"
import os, pathlib, shutil, signal, tempfile

HERE = pathlib.Path(__file__).parent
STATE = []


def test_loops():
    done = []
    while not done:
        done.append(1)


def test_fills_memory():
    size = 1 << 20
    size = 2
    kept = []
    for number in range(size):
        kept.append(bytes(1 << 20))
    assert kept


def test_exits():
    code = 3
    code = None
    if code:
        os._exit(code)


def test_is_killed():
    pid = os.getpid()
    pid = None
    if pid:
        os.kill(pid, signal.SIGKILL)


def test_kills_its_parent():
    pid = os.getppid()
    pid = None
    if pid:
        os.kill(pid, signal.SIGKILL)
        signal.pause()


def test_kills_its_group():
    group = 0
    group = None
    if group is not None:
        os.killpg(group, signal.SIGKILL)


def test_deletes_the_project():
    folder = HERE
    folder = tempfile.mkdtemp()
    shutil.rmtree(folder)
    assert HERE.joinpath("test_hostile.py").exists()


def test_writes_into_the_project():
    name = __file__
    name = os.devnull
    with open(name, "w") as file:
        file.write("raise SystemExit\n")


def test_pollutes():
    STATE.append(1)


def test_depends():
    STATE.clear()
    assert not STATE
"#;

#[test]
fn a_hostile_mutant_costs_its_limit_and_nothing_else() {
    let project = Project::new(&[("test_hostile.py", HOSTILE)]);
    let folder = Folder::new();
    let set = folder.set("set");
    let run = inject(
        &project,
        &set,
        &[
            "--reruns",
            "3",
            "--orders",
            "4",
            "--test-timeout",
            "2s",
            "--memory",
            "600",
        ],
    );
    let found = mutants(&set);
    let id = |name: &str, number: u32| format!("test_hostile.py::test_{name}#{number}");
    for (name, number, statement, kind) in [
        ("loops", 3, "done.append(1)", "timeout"),
        ("fills_memory", 2, "size = 2", "exception"),
        ("exits", 2, "code = None", "crash"),
        ("is_killed", 2, "pid = None", "crash"),
        ("kills_its_group", 2, "group = None", "crash"),
        (
            "deletes_the_project",
            2,
            "folder = tempfile.mkdtemp()",
            "assertion",
        ),
    ] {
        let entry = &found[&id(name, number)];
        assert_eq!(entry["statement"], statement);
        assert_eq!(entry["class"], "stable", "{entry:#}");
        assert_eq!(entry["failure"]["kind"], kind, "{entry:#}");
        assert_eq!(orders(entry, "failing"), [0, 1, 2, 3], "{entry:#}");
    }
    let memory = &found[&id("fills_memory", 2)]["failure"]["message"];
    assert_eq!(*memory, "MemoryError");
    // Whatever became of the parent, the test did not pass.
    let parent = &found[&id("kills_its_parent", 2)];
    assert_eq!(orders(parent, "failing"), [0, 1, 2, 3], "{parent:#}");
    let written = &found[&id("writes_into_the_project", 2)];
    assert_eq!(orders(written, "passing"), [0, 1, 2, 3], "{written:#}");
    let dependent: Vec<(String, String)> = classes(&set)
        .into_iter()
        .filter(|(_, class)| class != "stable")
        .collect();
    assert_eq!(dependent, [(id("depends", 1), "victim".to_owned())]);
    assert_eq!(run.document["totals"]["stable_tests"], 10);
    let place = project.path().to_string_lossy().into_owned();
    assert!(support::reproduce::processes_in(&place).is_empty());
}

/// Every shape of a test function, a helper in each, and somebody it protects against.
const SHAPES: [(&str, &str); 7] = [
    ("pytest.ini", "[pytest]\npythonpath = .\n"),
    ("state.py", "BOX = []\nNAMES = {}\nDOORS = []\nTRIED = []\n"),
    (
        "base.py",
        r#"import state


class Root:
    def prepare(self):
        state.NAMES["x"] = 1


class Base(Root):
    def test_inherited(self):
        super().prepare()
        assert state.NAMES["x"] == 1
"#,
    ),
    (
        "test_shapes.py",
        r#"import base
import state


def check(condition):
    assert condition


class TestHeir(base.Base):
    def test_other(self):
        state.NAMES["x"] = 1
        check(state.NAMES is not None)


def test_nested():
    count = 0

    def bump():
        nonlocal count
        if count < 3:
            for _ in range(2):
                state.DOORS.append(1)
        count += 1

    bump()
    state.BOX.append(1)
"#,
    ),
    (
        "test_unstable.py",
        r#"import os
import pytest
import state


def test_chance():
    assert os.urandom(1)[0] < 128


def test_fails():
    x = 1
    assert x == 2


def test_skipped():
    pytest.skip("not here")


def test_victim():
    assert state.TRIED == []


def test_tries():
    state.TRIED.append(1)
"#,
    ),
    (
        "fixtures/conftest.py",
        r#"import pytest
import state


@pytest.fixture(autouse=True)
def no_doors():
    state.DOORS.clear()
    yield
    state.DOORS.clear()
"#,
    ),
    (
        "fixtures/test_fixtures.py",
        r#"import unittest

import state


def test_no_door():
    assert not state.DOORS


class TestSetUp(unittest.TestCase):
    def setUp(self):
        state.NAMES.pop("y", None)

    def test_no_name(self):
        self.assertNotIn("y", state.NAMES)

    def test_name(self):
        state.NAMES["y"] = 1
"#,
    ),
];

#[test]
fn every_shape_of_a_test_has_its_mutants_and_unstable_tests_have_none() {
    let project = Project::new(&SHAPES);
    // One byte for `é`, two for each end of a line.
    let code = "# coding: latin-1\nimport pytest\nimport state\n\n\n@pytest.mark.parametrize('n', [1, 2])\n\
                def test_café(n):\n    state.BOX.clear()  # café\n    assert not state.BOX and 'café'[-1] == '\\xe9'\n";
    let bytes: Vec<u8> = code
        .replace('\n', "\r\n")
        .chars()
        .map(|c| c as u8)
        .collect();
    fs::write(project.path().join("test_bytes.py"), bytes).expect("written");
    commit(&project);
    let folder = Folder::new();
    let set = folder.set("set");
    let args = [
        "--reruns",
        "20",
        "--orders",
        "10",
        "--include-fixtures",
        "--assertion",
        "check",
    ];
    inject(&project, &set, &args);
    let found: Vec<(String, String, String)> = jsonl(&set.join("mutants.jsonl"))
        .iter()
        .map(|e| (text(&e["id"]), text(&e["statement"]), text(&e["class"])))
        .collect();
    let expected = [
        (
            "fixtures/test_fixtures.py::TestSetUp::test_name#1",
            "state.NAMES[\"y\"] = 1",
            "stable",
        ),
        ("test_bytes.py::test_café#1", "state.BOX.clear()", "victim"),
        (
            "base.py::Base::test_inherited#1",
            "super().prepare()",
            "brittle",
        ),
        // `check` is an assertion, as it was told.
        (
            "test_shapes.py::TestHeir::test_other#1",
            "state.NAMES[\"x\"] = 1",
            "stable",
        ),
        ("test_shapes.py::test_nested#1", "count = 0", "invalid"),
        ("test_shapes.py::test_nested#2", "def bump():…", "invalid"),
        ("test_shapes.py::test_nested#3", "if count < 3:…", "stable"),
        (
            "test_shapes.py::test_nested#4",
            "for _ in range(2):…",
            "stable",
        ),
        (
            "test_shapes.py::test_nested#5",
            "state.DOORS.append(1)",
            "stable",
        ),
        ("test_shapes.py::test_nested#6", "count += 1", "stable"),
        ("test_shapes.py::test_nested#7", "bump()", "stable"),
        (
            "test_shapes.py::test_nested#8",
            "state.BOX.append(1)",
            "stable",
        ),
        (
            "test_unstable.py::test_tries#1",
            "state.TRIED.append(1)",
            "stable",
        ),
        (
            "fixtures/test_fixtures.py::TestSetUp::setUp#1",
            "state.NAMES.pop(\"y\", None)",
            "victim",
        ),
        (
            "fixtures/conftest.py::no_doors#1",
            "state.DOORS.clear()",
            "victim",
        ),
        ("fixtures/conftest.py::no_doors#2", "yield", "stable"),
        (
            "fixtures/conftest.py::no_doors#3",
            "state.DOORS.clear()",
            "stable",
        ),
    ];
    let expected = expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned()));
    assert_eq!(found, expected);

    let found = mutants(&set);
    let of = |id: &str| &found[id];
    let bytes = of("test_bytes.py::test_café#1");
    assert_eq!(bytes["test"], "test_bytes.py::test_café[1]");
    assert_eq!(
        texts(&bytes["also"]),
        BTreeSet::from(["test_bytes.py::test_café[2]".to_owned()])
    );
    assert_eq!(
        single(&bytes["polluters"]),
        BTreeSet::from(["test_shapes.py::test_nested".to_owned()])
    );
    let heir = of("base.py::Base::test_inherited#1");
    assert_eq!(heir["test"], "test_shapes.py::TestHeir::test_inherited");
    assert_eq!(heir["alone"], serde_json::json!([0, 20]));
    let setter = BTreeSet::from(["test_shapes.py::TestHeir::test_other".to_owned()]);
    assert_eq!(single(&heir["state_setters"]), setter);
    let set_up = of("fixtures/test_fixtures.py::TestSetUp::setUp#1");
    assert_eq!(
        set_up["test"],
        "fixtures/test_fixtures.py::TestSetUp::test_no_name"
    );
    let fixture = of("fixtures/conftest.py::no_doors#1");
    assert_eq!(fixture["test"], "fixtures/test_fixtures.py::test_no_door");
    for entry in found.values().filter(|entry| entry["valid"] == true) {
        let patch = set.join(text(&entry["patch"]));
        let (applies, said) = git(
            &project,
            &["apply", "--check", patch.to_str().expect("utf-8")],
            None,
        );
        assert!(applies, "{said}{entry:#}");
    }

    let excluded: BTreeMap<String, String> = jsonl(&set.join("excluded.jsonl"))
        .iter()
        .map(|e| (text(&e["test"]), text(&e["why"])))
        .collect();
    for (test, why) in [
        ("chance", "of 21 runs only"),
        ("fails", "fails alone"),
        ("skipped", "is skipped"),
        ("victim", "of 10 random orders"),
    ] {
        let said = &excluded[&format!("test_unstable.py::test_{test}")];
        assert!(said.contains(why), "{test}: {said}");
    }
    assert_eq!(excluded.len(), 4, "{excluded:#?}");
    let verified = run(&project, &["verify", set.to_str().expect("utf-8")], &[]);
    assert!(
        verified.stdout.contains("4 of 4 entries"),
        "{}",
        verified.stdout
    );
}

#[test]
fn tests_are_shuffled_within_their_scope_and_no_stable_test_is_no_error() {
    let project = Project::new(&[
        (
            "test_a.py",
            "class TestA:\n    def test_1(self): pass\n    def test_2(self): pass\ndef test_3(): pass\ndef test_4(): pass\n",
        ),
        ("test_b.py", "def test_5(): pass\ndef test_6(): pass\n"),
    ]);
    let folder = Folder::new();
    let group = |scope: &str, id: &str| match scope {
        "class" => id.rsplit_once("::").expect("an id").0.to_owned(),
        "module" => id.split("::").next().expect("a file").to_owned(),
        _ => String::new(),
    };
    for (scope, groups) in [("class", 3), ("module", 2), ("suite", 1)] {
        let set = folder.set(scope);
        let run = inject(
            &project,
            &set,
            &["--reruns", "1", "--orders", "2", "--scope", scope],
        );
        assert_eq!(run.code, 0, "{}", run.stderr);
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for order in jsonl(&set.join("orders.jsonl")) {
            let tests = texts(&order["tests"]);
            let names: BTreeSet<String> = tests.iter().map(|id| group(scope, id)).collect();
            assert_eq!(names.len(), 1, "{order}");
            *seen
                .entry(names.into_iter().next().expect("one"))
                .or_default() += 1;
        }
        assert_eq!(seen.len(), groups, "{seen:?}");
        assert!(seen.values().all(|orders| *orders == 2), "{seen:?}");
        assert_eq!(run.document["totals"]["stable_tests"], 6);
    }

    let project = Project::new(&[(
        "test_a.py",
        "import pytest\ndef test_fails(): assert 0\ndef test_skipped():\n    pytest.skip()\n",
    )]);
    let set = folder.set("none");
    let none = inject(&project, &set, &["--reruns", "1", "--orders", "2"]);
    assert_eq!(none.code, 0, "{}", none.stderr);
    assert_eq!(none.document["totals"]["stable_tests"], 0);
    assert!(mutants(&set).is_empty());
    assert_eq!(jsonl(&set.join("excluded.jsonl")).len(), 2);
    let readme = fs::read_to_string(set.join("README.md")).expect("a README");
    assert!(
        readme.contains("| stable tests | 0 |") && !readme.contains("NaN"),
        "{readme}"
    );

    let project = Project::new(&[("test_a.py", "import nowhere\ndef test_a(): pass\n")]);
    let set = folder.set("broken");
    let broken = run(
        &project,
        &[],
        &["--seed", "1", "-o", set.to_str().expect("utf-8")],
    );
    assert_eq!(broken.code, 3, "{}", broken.stderr);
    assert!(broken.stderr.contains("nowhere"), "{}", broken.stderr);
    assert!(!set.exists());
    let never = run(&project, &[], &["--reruns", "0"]);
    assert_eq!(never.code, 2, "{}", never.stderr);
}

/// What `fix` added is taken out again by `inject`, and found to be what it was.
fn closes_the_circle(project: &Project, test: &str, other: &str, helper: &str, class: &str) {
    commit(project);
    project.explain(&[test]);
    let run = project.fix(&["--strategy", "helper"]);
    let diff = diff_of(fix_of(&run, test)).to_owned();
    let lines = added(&diff);
    assert_eq!(lines, [format!("    {helper}")], "{diff}");
    let (applied, said) = git(project, &["apply", "-"], Some(&diff));
    assert!(applied, "{said}");

    let folder = Folder::new();
    let set = folder.set("set");
    inject(
        project,
        &set,
        &["--reruns", "3", "--orders", "8", "--", test, other],
    );
    let own: Vec<Value> = mutants(&set)
        .into_values()
        .filter(|entry| entry["test"] == test && entry["class"] != "stable")
        .collect();
    assert_eq!(own.len(), 1, "{own:#?}");
    assert_eq!(own[0]["statement"], helper);
    assert_eq!(own[0]["class"], class);
    let (file, _) = test.split_once("::").expect("an id");
    let code = fs::read_to_string(project.path().join(file)).expect("code");
    let line = own[0]["line"].as_u64().expect("a line") as usize;
    assert_eq!(code.lines().nth(line - 1), Some(lines[0]));
    // Taking the statement out is taking the patch back.
    let patch = fs::read_to_string(set.join(text(&own[0]["patch"]))).expect("a patch");
    let (applied, said) = git(project, &["apply", "-"], Some(&patch));
    assert!(applied, "{said}");
    assert!(git(project, &["diff", "--exit-code"], None).0);
    let who = if class == "victim" {
        "polluters"
    } else {
        "state_setters"
    };
    assert_eq!(single(&own[0][who]), BTreeSet::from([other.to_owned()]));
}

#[test]
fn deleting_the_helper_that_fix_added_is_found_again() {
    closes_the_circle(
        &Project::example("shop"),
        "tests/test_inventory.py::test_take",
        "tests/test_inventory.py::test_load",
        "inventory.load({\"pen\": 5})",
        "brittle",
    );
    let ledger = Project::example("ledger");
    let file = ledger.path().join("tests/test_entries.py");
    let code = fs::read_to_string(&file).expect("code");
    let helper = "    ledger.reset()  # helper: likewise\n    ledger.record(5)";
    assert!(code.contains(helper));
    fs::write(&file, code.replace(helper, "    ledger.record(5)")).expect("written");
    closes_the_circle(
        &ledger,
        "tests/test_entries.py::test_one_entry",
        "tests/test_entries.py::test_many_entries",
        "ledger.reset()",
        "victim",
    );
}
