//! `flakelab mutate`: which mutants there are, and how they are shown.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::patches::{commit, git};
use crate::support::{Project, Run};
use serde_json::Value;

const MONEY: &str = "\
RATE = 2


def double(x):
    return x * RATE


def half(x):
    return x // 2


def sign(x):
    if x > 0:
        return 1
    return -1
";

const TESTS: &str = "\
import money


def test_double():
    assert money.double(3) == 6


def test_half():
    assert money.half(4) == 2
";

fn project() -> Project {
    Project::new(&[("money.py", MONEY), ("test_money.py", TESTS)])
}

fn lines(run: &Run) -> BTreeSet<u64> {
    let mutants = run.mutants().iter();
    mutants.filter_map(|m| m["line"].as_u64()).collect()
}

#[test]
fn a_document_has_what_the_issue_promises_and_every_view_agrees() {
    let project = project();
    let folder = tempfile::tempdir().expect("a directory");
    let (junit, matrix) = (
        folder.path().join("junit.xml"),
        folder.path().join("matrix.json"),
    );
    let run = project.mutate(&[
        "--junit",
        junit.to_str().expect("utf-8"),
        &format!("--matrix={}", matrix.display()),
        "--annotations",
    ]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let document = &run.document;
    assert_eq!(document["schema"]["name"], "flakelab.mutate");
    assert!(document["schema"]["version"].is_u64() || document["schema"]["version"].is_string());
    let mut ids = BTreeSet::new();
    let mut survivors = 0;
    for mutant in run.mutants() {
        for field in ["id", "file", "operator", "status", "diff", "scope", "says"] {
            assert!(mutant[field].is_string(), "{field}: {mutant:#}");
        }
        assert!(mutant["line"].is_u64() && mutant["killed_by"].is_array());
        assert_eq!(mutant["file"], "money.py");
        assert!(ids.insert(mutant["id"].as_str()), "{mutant:#}");
        let expected = match mutant["scope"].as_str() {
            Some("sign") => "not covered",
            Some("half") if mutant["says"] == "`x // 2` became `x / 2`" => "survived",
            _ => "killed",
        };
        assert_eq!(mutant["status"], expected, "{mutant:#}");
        survivors += u64::from(expected == "survived");
        let killers = mutant["killed_by"].as_array().map_or(0, Vec::len);
        assert_eq!(killers > 0, expected == "killed");
    }
    assert!(ids.len() >= 10, "{}", ids.len());
    assert_eq!(run.number("/totals/survived"), survivors);
    let score = &document["score"];
    assert!(score["low"].as_f64() < Some(1.0) && score["low"] == score["high"]);

    let said = format!("{}{}", run.stdout, run.stderr);
    let warnings = said.lines().filter(|l| l.starts_with("::warning "));
    assert_eq!(warnings.count() as u64, survivors, "{said}");
    assert!(said.contains("::warning file=money.py,line=9,"), "{said}");

    let script = "import sys, xml.etree.ElementTree as e\n\
                  cases = e.parse(sys.argv[1]).getroot().findall('.//testcase')\n\
                  kinds = [[k.tag for k in c if k.tag in ('failure', 'error', 'skipped')] for c in cases]\n\
                  print(len(cases), kinds.count(['failure']), kinds.count(['skipped']), kinds.count([]))";
    let output = std::process::Command::new(project.python())
        .args(["-c", script])
        .arg(&junit)
        .output()
        .expect("python");
    let counts = String::from_utf8_lossy(&output.stdout).into_owned();
    let of = |name: &str| run.number(&format!("/totals/{name}"));
    let expected = format!(
        "{} {} {} {}\n",
        ids.len(),
        of("survived"),
        of("not_covered"),
        of("killed")
    );
    assert_eq!(counts, expected);

    let again = folder.path().join("again.json");
    let resumed = project.mutate(&[&format!("--matrix={}", again.display()), "--resume"]);
    assert_eq!(resumed.code, 1, "{}", resumed.stderr);
    let mutants = |file: &Path| -> Value {
        let text = std::fs::read(file).expect("a matrix");
        let matrix: Value = serde_json::from_slice(&text).expect("a document");
        matrix["mutants"].clone()
    };
    assert_eq!(mutants(&again), mutants(&matrix));

    let matrix = matrix.to_str().expect("utf-8");
    let simulated = project
        .flakelab(&["mutate", "simulate", "--format", "json", matrix])
        .output()
        .expect("flakelab runs");
    let table: Value = serde_json::from_slice(&simulated.stdout).expect("a document");
    let schemes = table["rows"][0]["schemes"].as_array().expect("schemes");
    let names: Vec<&str> = schemes
        .iter()
        .filter_map(|s| s["scheme"].as_str())
        .collect();
    assert_eq!(names.len(), 5, "{names:?}");
    for word in ["random", "coverage", "time", "best", "worst"] {
        assert!(names.iter().any(|n| n.contains(word)), "{word}: {names:?}");
    }
    let row = &table["rows"][0];
    assert_eq!(row["mutants"].as_u64(), Some(of("killed") + of("survived")));
    assert_eq!(row["killable"].as_u64(), Some(of("killed")));
    let text = project
        .flakelab(&["mutate", "simulate", matrix])
        .output()
        .expect("flakelab runs");
    assert_eq!(text.status.code(), Some(0));
    assert!(!text.stdout.is_empty());
    let bad = project.path().join("money.py");
    let bad = bad.to_str().expect("utf-8");
    let refused = project
        .flakelab(&["mutate", "simulate", bad])
        .output()
        .expect("flakelab runs");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("--matrix=FILE"), "{said}");
}

#[test]
fn an_exit_code_says_whether_tests_are_good_enough() {
    let project = project();
    let code = |args: &[&str]| project.mutate(args).code;
    assert_eq!(code(&[]), 1);
    assert_eq!(code(&["--fail-under", "50"]), 0);
    assert_eq!(code(&["--fail-under", "100"]), 1);
    let strong = TESTS.to_owned() + "    assert money.half(5) == 2\n";
    let project = Project::new(&[("money.py", MONEY), ("test_money.py", &strong)]);
    let run = project.mutate(&["--fail-under", "100"]);
    assert_eq!(
        (run.code, run.number("/totals/survived")),
        (0, 0),
        "{}",
        run.stderr
    );
    for bad in [
        &["--reruns", "1,2"][..],
        &["--sample", "0"],
        &["--without", "help"],
    ] {
        let run = project.mutate(bad);
        assert_eq!(run.code, 2, "{bad:?}: {}", run.stderr);
        assert!(run.stderr.contains("hint:"), "{}", run.stderr);
    }
}

#[test]
fn patterns_operators_pragmas_and_samples_choose() {
    let silent = MONEY.replace("if x > 0:", "if x > 0:  # pragma: no mutate");
    let project = Project::new(&[
        ("money.py", &silent),
        ("test_money.py", TESTS),
        ("other/spare.py", "SIZE = 3\n"),
        ("tests/tools.py", "SIZE = 3\n"),
    ]);
    let all = project.mutate(&[]);
    assert_eq!(lines(&all), BTreeSet::from([1, 5, 9, 15]));
    assert!(all.number("/totals/excluded") >= 3);
    let files = |run: &Run| -> BTreeSet<String> {
        let mutants = run.mutants().iter();
        mutants
            .filter_map(|m| Some(m["file"].as_str()?.to_owned()))
            .collect()
    };
    assert_eq!(
        files(&all),
        BTreeSet::from(["money.py".into(), "other/spare.py".into()])
    );
    let only = project.mutate(&["--exclude", "other/", "--without", "number"]);
    assert_eq!(files(&only), BTreeSet::from(["money.py".into()]));
    assert!(only.mutants().iter().all(|m| m["operator"] != "number"));
    assert!(all.mutants().iter().any(|m| m["operator"] == "number"));
    let named = project.mutate(&["--only", "tests/tools.py", "--only", "money.py"]);
    assert!(files(&named).contains("tests/tools.py"));
    let few = project.mutate(&["--sample", "3"]);
    assert_eq!(few.mutants().len(), 3);
    assert!(few.mutants().iter().all(|m| m["status"] != "not covered"));
    let wrong = project.mutate(&["--only", "nothing.py"]);
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);
    assert!(wrong.stderr.contains("hint:"), "{}", wrong.stderr);
}

#[test]
fn mutants_are_named_by_their_ids() {
    let project = project();
    let all = project.mutate(&[]);
    let wanted: Vec<&Value> = all
        .mutants()
        .iter()
        .filter(|m| m["line"] == 1 || m["scope"] == "half")
        .collect();
    assert!(wanted.len() > 2 && wanted.len() < all.mutants().len());
    let named: Vec<&str> = wanted
        .iter()
        .flat_map(|m| ["--mutant", m["id"].as_str().expect("an id")])
        .collect();
    let run = project.mutate(&named);
    let told =
        |mutant: &Value| ["id", "status", "killed_by", "diff"].map(|key| mutant[key].clone());
    let found: Vec<_> = run.mutants().iter().map(told).collect();
    assert_eq!(found, wanted.into_iter().map(told).collect::<Vec<_>>());
    assert!(run.mutants().iter().all(|m| m["reused"] != true));

    let python = project.python();
    let args = ["mutate", "--mutant", "money.py:0", "--python"];
    let mut command = project.flakelab(&args);
    let refused = command.arg(python).output().expect("flakelab runs");
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("there is no mutant `money.py:0`"), "{said}");
    assert!(said.contains("ids are in the result"), "{said}");
}

#[test]
fn only_lines_that_git_says_changed() {
    let project = project();
    let none = project.mutate(&["--diff", "HEAD"]);
    assert_eq!(none.code, 2, "{}", none.stderr);
    assert!(none.stderr.contains("HEAD"), "{}", none.stderr);
    assert!(none.stderr.contains("hint: --diff"), "{}", none.stderr);
    commit(&project);
    let unknown = project.mutate(&["--diff", "no-such-branch"]);
    assert_eq!(unknown.code, 2, "{}", unknown.stderr);
    assert!(unknown.stderr.contains("no-such-branch"));
    let same = project.mutate(&["--diff", "HEAD"]);
    assert_eq!((same.code, same.mutants().len()), (0, 0), "{}", same.stderr);
    // Some write their diffs otherwise.
    let (done, said) = git(&project, &["config", "diff.noprefix", "true"], None);
    assert!(done, "{said}");
    let edited = MONEY.replace("x // 2", "x // 2 + 0");
    fs::write(project.path().join("money.py"), edited).expect("written");
    let run = project.mutate(&["--diff", "HEAD"]);
    assert_eq!(lines(&run), BTreeSet::from([9]));
    assert_eq!(run.document["campaign"]["diff_base"], "HEAD");
    // Committed: against the commit before it is the same.
    let (done, said) = git(&project, &["commit", "-qam", "more"], None);
    assert!(done, "{said}");
    let run = project.mutate(&["--diff", "HEAD~1"]);
    assert_eq!(lines(&run), BTreeSet::from([9]));
    assert_eq!(run.number("/campaign/runs"), 0, "all is known");
    let (_, status) = git(&project, &["diff", "--exit-code"], None);
    assert_eq!(status, "");
    // What git does not know yet has changed as well.
    fs::write(project.path().join("extra.py"), "SIZE = 3\n").expect("written");
    let run = project.mutate(&["--diff", "HEAD"]);
    let mutants = run.mutants().iter();
    let files: BTreeSet<_> = mutants.filter_map(|m| m["file"].as_str()).collect();
    assert_eq!(files, BTreeSet::from(["extra.py"]));
}
