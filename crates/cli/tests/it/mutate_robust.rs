//! `flakelab mutate` with mutants that destroy, suites that are broken, and sources of every kind.

use std::collections::BTreeSet;
use std::fs;

use crate::support::patches::{commit, git};
use crate::support::{Project, Run};

/// Functions that do harm where their argument has another default.
const MENACES: [(&str, &str, &str); 11] = [
    ("spread", "while bad: os.fork()", "timeout"),
    (
        "eat",
        "kept = []\n    while bad: kept.append(bytes(1 << 20))",
        "killed",
    ),
    ("leave", "if bad: os._exit(0)", "killed"),
    (
        "strike",
        "if bad: os.kill(os.getppid(), 9), time.sleep(30)",
        "killed",
    ),
    ("strike_all", "if bad: os.killpg(0, 9)", "killed"),
    ("wipe", "if bad: shutil.rmtree(HERE)", "survived"),
    ("shut", "if bad: os.closerange(0, 1000)", "killed"),
    (
        "replace",
        "if bad: builtins.len = builtins.isinstance = builtins.getattr = None",
        "killed",
    ),
    ("descend", "if bad: return descend(bad)", "killed"),
    (
        "shout",
        "while bad: os.write(1, bytes(100000))",
        "killed or timeout",
    ),
    ("sleep", "if bad: time.sleep(1e6)", "timeout"),
];

#[test]
fn a_hostile_mutant_costs_its_limit_and_nothing_else() {
    let mut code =
        "import builtins, os, shutil, time\n\nHERE = os.path.dirname(__file__)  # pragma: no mutate\n".to_owned();
    let mut tests = "import menace\n".to_owned();
    for (name, body, _) in MENACES {
        let body = format!("    {body}").replace('\n', "  # pragma: no mutate\n");
        code += &format!(
            "\n\ndef {name}(bad=False):\n{body}  # pragma: no mutate\n    return True  # pragma: no mutate\n"
        );
        tests += &format!("\n\ndef test_{name}():\n    assert menace.{name}()\n");
    }
    let project = Project::new(&[("menace.py", &code), ("test_menace.py", &tests)]);
    commit(&project);
    let run = project.mutate(&["--memory", "600", "--test-timeout", "2s", "--reruns", "1"]);
    assert_eq!(run.mutants().len(), MENACES.len(), "{}", run.stderr);
    for (name, _, expected) in MENACES {
        for (says, status) in run.scope(name) {
            assert!(
                expected.split(" or ").any(|e| e == status),
                "{name}: {says}: {status}"
            );
        }
    }
    assert!(run.set_aside().is_empty(), "{:?}", run.set_aside());
    let (clean, said) = git(&project, &["diff", "--exit-code"], None);
    assert!(clean, "{said}");
    let place = project.path().to_string_lossy().into_owned();
    assert!(crate::support::reproduce::processes_in(&place).is_empty());
}

const CODE: &str = "def add(x):\n    return x + 1\n";

fn hinted(run: &Run, code: i32, words: &[&str]) {
    assert_eq!(run.code, code, "{}", run.stderr);
    for word in words.iter().chain(&["hint: "]) {
        assert!(run.stderr.contains(word), "{word}: {}", run.stderr);
    }
}

#[test]
fn tests_that_fail_without_a_mutant_take_no_part() {
    let good = "import code1\n\n\ndef test_good():\n    assert code1.add(1) == 2\n";
    let bad = "\n\ndef test_bad():\n    assert code1.add(1) == 3\n";
    let project = Project::new(&[("code1.py", CODE), ("test_it.py", &format!("{good}{bad}"))]);
    let run = project.mutate(&[]);
    assert_eq!(run.set_aside(), ["test_it.py::test_bad"]);
    assert_eq!(run.statuses_in("add"), BTreeSet::from(["killed".into()]));
    assert_eq!(run.code, 0, "{}", run.stderr);
    let all = good.replace("== 2", "== 4") + bad;
    fs::write(project.path().join("test_it.py"), all).expect("written");
    hinted(
        &project.mutate(&[]),
        3,
        &[
            "no test passes without a mutant",
            "test_it.py::test_bad",
            "assert 2 == 3",
        ],
    );
    fs::write(
        project.path().join("test_it.py"),
        "import nothing_of_the_kind\n",
    )
    .expect("written");
    let run = project.mutate(&[]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("nothing_of_the_kind"), "{}", run.stderr);
}

/// With plain pytest nothing notices that the limit is another one: the test fails where `test_a.py` is not imported.
#[test]
fn a_test_that_needs_the_import_of_another_file_kills_nothing_where_it_is_collected_alone() {
    let project = Project::new(&[
        ("registry.py", "KNOWN = []\n"),
        (
            "shop.py",
            "LIMIT = 3\n\n\ndef over(n):\n    return n > LIMIT\n",
        ),
        (
            "test_a.py",
            "import registry\n\nregistry.KNOWN.append('a')\n\n\ndef test_a():\n    pass\n",
        ),
        (
            "test_b.py",
            "import registry\nimport shop\n\n\ndef test_b():\n    assert registry.KNOWN\n    assert shop.over(9)\n",
        ),
    ]);
    let run = project.mutate(&["--only", "shop.py", "--reruns", "1"]);
    let limit = run.mutants().iter().find(|m| m["line"] == 1);
    let limit = limit.expect("a mutant of the limit");
    assert_eq!(limit["status"], "unknown", "{limit:#}");
    assert_eq!(run.set_aside(), ["test_b.py::test_b"]);
    assert!(
        run.stdout.contains("where only its own file is collected"),
        "{}",
        run.stdout
    );
    // A fork of the whole suite has what it needs.
    assert_eq!(
        run.statuses_in("over"),
        BTreeSet::from(["killed".into(), "survived".into()])
    );
}

#[test]
fn code_that_is_imported_from_elsewhere_is_not_covered() {
    let elsewhere = Project::new(&[("code1.py", CODE)]);
    let ini = format!("[pytest]\npythonpath = {}\n", elsewhere.path().display());
    let project = Project::new(&[
        ("src/code1.py", CODE),
        ("pytest.ini", &ini),
        (
            "tests/test_it.py",
            "import code1\n\n\ndef test_add():\n    assert code1.add(1) == 2\n",
        ),
    ]);
    hinted(
        &project.mutate(&[]),
        3,
        &["no test reaches", "pip install -e"],
    );
}

#[test]
fn a_suite_that_cannot_be_forked_runs_in_fresh_interpreters() {
    let project = Project::new(&[
        ("code1.py", CODE),
        (
            "conftest.py",
            "import threading, time\nthreading.Thread(target=time.sleep, args=(1e6,), daemon=True).start()\n",
        ),
        (
            "test_it.py",
            "import code1\n\n\ndef test_add():\n    assert code1.add(1) == 2\n",
        ),
    ]);
    let run = project.mutate(&[]);
    assert_eq!(run.statuses_in("add"), BTreeSet::from(["killed".into()]));
    assert_eq!(run.code, 0, "{}", run.stderr);
}

/// Since Python 3.10.
const MATCH: &str = r#"
def kind(x):
    match x:
        case [a, *rest] if a > 1:
            return f"list {a!r:>{3}}"
    return "other"
"#;

const MATCH_TESTS: &str = r#"
import matching


def test_kind():
    assert matching.kind([2]) == "list   2"
    assert matching.kind([1]) == "other"
"#;

const MODERN: &str = r#"
def walrus(xs):
    return [y for x in xs if (y := x * 2) > 3]


async def numbers(n):
    for i in range(n):
        yield i


async def total(n):
    return sum([i async for i in numbers(n)])


def outer():
    count = 0

    def inner():
        nonlocal count
        count += 1
        return count

    return inner
"#;

const MODERN_TESTS: &str = r#"
import asyncio
import crlf, bom, latin, empty, tabs, dynamic, modern


def test_text():
    assert crlf.add(1) == 2
    assert bom.add(1) == 2
    assert latin.name() == "caf\xe9"
    assert tabs.add(3) == 3 and tabs.add(1) == 0
    assert dynamic.made(1) == 2


def test_modern():
    assert modern.walrus([1, 2]) == [4]
    assert asyncio.run(modern.total(4)) == 6
    counter = modern.outer()
    assert counter() == 1 and counter() == 2
"#;

#[test]
fn sources_of_every_kind_have_mutants_and_broken_ones_none() {
    let project = Project::new(&[
        (
            "crlf.py",
            "def add(x):\r\n    \"\"\"Text\r\n    more\"\"\"\r\n    y = x + 1\r\n    return y\r\n",
        ),
        ("bom.py", "\u{feff}def add(x):\n    return x + 1\n"),
        (
            "tabs.py",
            "def add(x):\n\tif x > 1:\n\t\treturn x\n\treturn 0",
        ),
        (
            "dynamic.py",
            "CODE = 'def made(x): return x + 1'\nspace = {}\nexec(CODE, space)\nmade = space['made']\n",
        ),
        ("empty.py", ""),
        ("broken.py", "def f(:\n    return 1\n"),
        ("nul.py", "x = 1\n\0\n"),
        ("modern.py", MODERN),
        ("test_kinds.py", MODERN_TESTS),
    ]);
    let latin = b"# coding: latin-1\ndef name():\n    return 'caf\xe9'\n";
    fs::write(project.path().join("latin.py"), latin).expect("written");
    let has_match = project
        .shell("", "python -c 'match 1:\n case _: pass'")
        .code
        == Some(0);
    if has_match {
        fs::write(project.path().join("matching.py"), MATCH).expect("written");
        fs::write(project.path().join("test_matching.py"), MATCH_TESTS).expect("written");
    }
    let run = project.mutate(&["--hits", "20000"]);
    let survivors: BTreeSet<(String, String)> = run
        .mutants()
        .iter()
        .filter(|m| m["status"] != "killed")
        .map(|m| (m["scope"].to_string(), m["says"].to_string()))
        .collect();
    // 1 and 3 are on the same sides of 2 as of 1, and 2 and 4 of 3 either way.
    let expected = [
        ("\"add\"", "\"`1` became `2`\""),
        (
            "\"walrus\"",
            "\"`(y := x * 2) > 3` became `(y := x * 2) >= 3`\"",
        ),
    ];
    let expected = expected.map(|(scope, says)| (scope.to_owned(), says.to_owned()));
    assert_eq!(survivors, BTreeSet::from(expected), "{}", run.stderr);
    let files: BTreeSet<_> = run
        .mutants()
        .iter()
        .filter_map(|m| m["file"].as_str())
        .collect();
    let mut expected = BTreeSet::from([
        "bom.py",
        "crlf.py",
        "dynamic.py",
        "latin.py",
        "modern.py",
        "tabs.py",
    ]);
    expected.extend(has_match.then_some("matching.py"));
    assert_eq!(files, expected);
}

#[test]
fn code_that_never_ends_at_import_runs_out_of_time() {
    let project = Project::new(&[
        ("code1.py", "left = 3\nwhile left > 0:\n    left -= 1\n"),
        (
            "test_it.py",
            "import code1\n\n\ndef test_left():\n    assert code1.left == 0\n",
        ),
    ]);
    let run = project.mutate(&["--hits", "5000", "--without", "number"]);
    let endless: Vec<String> = run
        .scope("<module>")
        .into_iter()
        .filter(|(_, status)| status == "timeout")
        .map(|(says, _)| says)
        .collect();
    assert_eq!(
        endless,
        [
            "`left -= 1` is gone",
            "`left -= 1` became `left += 1`",
            "`left -= 1` became `left = 1`",
        ]
    );
    assert_eq!(run.number("/totals/error"), 0, "{}", run.stderr);
    assert!(run.set_aside().is_empty(), "{:?}", run.set_aside());
}

#[test]
fn with_other_versions_of_pytest_it_is_the_same() {
    let run = |environment| {
        let project = Project::example("parcels").with(environment);
        project.mutate(&["--only", "parcels/tariff.py", "--", "tests/test_tariff.py"])
    };
    let (old, new) = (run("pytest7"), run("pytest9"));
    assert!(old.mutants().len() > 50);
    assert_eq!(old.statuses(&[]), new.statuses(&[]));
}
