//! A function whose body is swapped in a fork does what it does with the statement deleted from its file:
//! for every statement of a module with every shape of a test.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::time::Duration;

use flakelab_lab::Lab;
use flakelab_model::{
    CodeEdit, Ending, Isolation, Order, Outcome, Place, RunRequest, Suite, TestIndex, Timeout,
};
use flakelab_runners::pytest::{PytestLab, SandboxMode, SandboxState};
use flakelab_source::{Assertions, Edit, Function, Source, apply};
use support::lab;

const RICH: &str = include_str!("edits/test_rich.py");
const TABS: &str = "\
class TestTabs:
\tclass TestInner:
\t\t__mine = 1
\t\tdef test_tabs(self):
\t\t\tfound = []
\t\t\tif not found:
\t\t\t\tfound.append(self.__mine)
\t\t\t\tfound.append(2)
\t\t\tassert found == [1, 2]
\tdef test_mixed(self):
\t        found = [1]
\t        found.append(2)
\t        assert found == [1, 2]
";
const TWO: &str = "\
class TestTwo:
  class TestInner:
    def test_two(self):
      found = []
      for number in (1, 2):
        found.append(number)
        found.sort()
      assert found == [1, 2]
class TestOne:
 def test_one(self):
  found = [1]
  found.append(2)
  assert found == [1, 2]
";
/// Not rewritten by pytest: its assertions say nothing.
const BASE: &str = "\
class Base:
    def test_inherited(self):
        found = [1]
        found.append(2)
        assert found == [1, 2]
";

/// Statements whose deletion takes `__class__` away from the function: a body cannot be swapped then.
const LOST: [&str; 2] = [
    "test_rich.py::TestMethods::test_super#2: said.append(super().greet())",
    "test_base.py::TestHeir::test_closed#2: found.append(super().size)",
];
const HEIR: &str = "\
import base
class TestHeir(base.Base):
    def test_closed(self):
        found = [1]
        found.append(super().size)
        found.append(3)
        assert found == [1, 2, 3]
base.Base.size = 2
";

const MINUTE: Timeout = Timeout {
    test: Duration::from_secs(60),
    run: Duration::from_secs(60),
};

/// One deleted statement of the function of a test.
struct Deletion {
    test: TestIndex,
    /// The test and the statement, for people.
    name: String,
    file: String,
    edit: Edit,
    body: Arc<CodeEdit>,
}

/// For every test, its statements.
fn deletions(suite: &Suite, sources: &BTreeMap<&str, Source>) -> Vec<Vec<Deletion>> {
    let mut all = Vec::new();
    for test in suite.indices() {
        let id = suite.id(test).to_string();
        let place = Place::of(&id).expect("a place");
        let inherited = ("base.py".to_owned(), vec!["Base", "test_inherited"]);
        let (file, path) = if place.function == "test_inherited" {
            inherited
        } else {
            (place.file.clone(), place.path())
        };
        let source = &sources[file.as_str()];
        let function = source.function(&path).unwrap_or_else(|| panic!("no {id}"));
        let statements = function.statements(&Assertions::default());
        assert!(!statements.is_empty(), "{id}");
        let found = statements
            .into_iter()
            .zip(1..)
            .map(|(statement, nth)| Deletion {
                test,
                name: format!("{id}#{nth}: {}", statement.text()),
                file: file.clone(),
                edit: statement.delete(),
                body: Arc::new(body(&file, &path, source, function, statement.range())),
            });
        all.push(found.collect());
    }
    all
}

/// As mutants are made.
fn body(
    file: &str,
    path: &[&str],
    source: &Source,
    function: Function<'_>,
    deleted: Range<usize>,
) -> CodeEdit {
    let (span, text) = (function.span(), source.text());
    let lines = text[deleted.clone()].matches('\n').count();
    let (name, classes) = path.split_last().expect("a name");
    CodeEdit {
        file: file.to_owned(),
        classes: classes.iter().map(|class| (*class).to_owned()).collect(),
        name: (*name).to_owned(),
        first_line: function.first_line() as u32,
        line: function.line() as u32,
        text: format!(
            "{}pass{}{}\n",
            &text[span.start..deleted.start],
            "\n".repeat(lines),
            &text[deleted.end..span.end]
        ),
        from_start: false,
        defaults: false,
    }
}

/// What each of these tests comes to, alone; `None` where the body could not be swapped in.
fn alone(
    lab: &mut PytestLab,
    tests: &[(TestIndex, Option<Arc<CodeEdit>>)],
    isolation: Isolation,
) -> Vec<Option<String>> {
    let batch: Vec<RunRequest> = tests
        .iter()
        .map(|(test, edit)| RunRequest {
            edit: edit.clone(),
            ..RunRequest::new(Order(vec![*test]), isolation, MINUTE)
        })
        .collect();
    let mut said = vec![None; tests.len()];
    lab.run(&batch, &mut |record| {
        if !matches!(record.ending, Ending::Lost(_)) {
            said[record.request] = Some(words(&record.executions[0].outcome));
        }
        ControlFlow::Continue(())
    })
    .expect("it runs");
    said
}

/// Outcome, phase and message without what differs between two processes.
fn words(outcome: &Outcome) -> String {
    let Some(failure) = outcome.failure() else {
        return outcome.word().to_owned();
    };
    let mut message = String::new();
    let mut rest = failure.message.as_str();
    while let Some(at) = rest.find("0x") {
        message.push_str(&rest[..at + 2]);
        rest = rest[at + 2..].trim_start_matches(|c: char| c.is_ascii_hexdigit());
    }
    message.push_str(rest);
    format!("{} in {:?}: {message}", outcome.word(), failure.phase)
}

#[test]
fn a_swapped_body_does_what_the_written_file_does() {
    let files = [
        ("test_rich.py", RICH),
        ("test_tabs.py", TABS),
        ("test_two.py", TWO),
        ("base.py", BASE),
        ("test_base.py", HEIR),
    ];
    let dir = tempfile::tempdir().expect("a directory");
    let project = dir.path().canonicalize().expect("canonical");
    std::fs::write(project.join("pytest.ini"), "[pytest]\npythonpath = .\n").expect("written");
    for (name, text) in files {
        std::fs::write(project.join(name), text).expect("written");
    }
    let sources: BTreeMap<&str, Source> = files
        .into_iter()
        .map(|(name, text)| (name, Source::parse(text).expect("it parses")))
        .collect();
    let mut base = lab(&project, SandboxMode::Auto, Vec::new());
    let suite = base.suite().clone();
    let all = deletions(&suite, &sources);

    // As it is, everything passes (or is expected not to).
    let plain: Vec<_> = suite.indices().map(|test| (test, None)).collect();
    for (said, test) in alone(&mut base, &plain, Isolation::Fork).iter().zip(&plain) {
        let said = said.as_deref().unwrap_or("lost");
        let fine = ["passed", "skipped", "xfailed"].contains(&said);
        assert!(fine, "{}: {said}", suite.id(test.0));
    }

    let edited: Vec<_> = all
        .iter()
        .flatten()
        .map(|deletion| (deletion.test, Some(Arc::clone(&deletion.body))))
        .collect();
    let swapped = alone(&mut base, &edited, Isolation::Fork);
    // Walked side by side, bodies do not mix.
    assert!(alone(&mut base, &edited, Isolation::Shared) == swapped);
    let names = all.iter().flatten().map(|deletion| deletion.name.as_str());
    let swapped: BTreeMap<&str, Option<String>> = names.zip(swapped).collect();
    assert!(swapped.len() > 100, "{}", swapped.len());
    let lost: BTreeSet<&str> = swapped
        .iter()
        .filter(|(_, said)| said.is_none())
        .map(|(name, _)| *name)
        .collect();
    assert_eq!(lost, BTreeSet::from(LOST));

    // Functions have nothing to do with each other, so one file serves the nth statement of all of them.
    let most = all.iter().map(Vec::len).max().unwrap_or_default();
    let mut differ = Vec::new();
    let mut failed = 0;
    for nth in 0..most {
        let round: Vec<&Deletion> = all.iter().filter_map(|own| own.get(nth)).collect();
        let written = sources.iter().map(|(name, source)| {
            let edits = round.iter().filter(|deletion| deletion.file == *name);
            let mut edits: Vec<Edit> = edits.map(|deletion| deletion.edit.clone()).collect();
            // Tests of several parameters have one function.
            let mut seen = BTreeSet::new();
            edits.retain(|edit| seen.insert((edit.range.start, edit.range.end)));
            (
                project.join(name),
                apply(source.text(), &edits)
                    .expect("they do not overlap")
                    .into_bytes(),
            )
        });
        let mut variant = lab(&project, SandboxMode::Auto, written.collect());
        assert!(variant.suite().ids() == suite.ids(), "round {nth}");
        let tests: Vec<_> = round.iter().map(|deletion| (deletion.test, None)).collect();
        let said = alone(&mut variant, &tests, Isolation::Fork);
        for (deletion, said) in round.iter().zip(said) {
            let swapped = &swapped[deletion.name.as_str()];
            failed += u32::from(said.as_ref().is_some_and(|s| s.starts_with("failed")));
            if swapped.is_some() && *swapped != said {
                differ.push(format!(
                    "{}\n  swapped {swapped:?}\n  written {said:?}",
                    deletion.name
                ));
            }
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    assert!(failed > 60, "{failed}");
}

#[test]
fn changed_files_are_what_runs_where_the_system_refuses_to_mount() {
    // Who is not root mounts in a namespace, where it may.
    if rustix::process::geteuid().is_root() {
        // Of this thread and what it starts; who may not drop it has little left to drop.
        let mounts = rustix::thread::CapabilitySet::SYS_ADMIN;
        let _ = rustix::thread::remove_capability_from_bounding_set(mounts);
    }
    let dir = tempfile::tempdir().expect("a directory");
    let project = dir.path().canonicalize().expect("canonical");
    let file = project.join("test_a.py");
    std::fs::write(&file, "def test_a(): assert False\n").expect("written");
    let changed = vec![(file, b"def test_a(): pass\n".to_vec())];
    let mut changed = lab(&project, SandboxMode::Auto, changed);
    // Nobody else can be sure that it is refused.
    if rustix::process::geteuid().is_root() {
        assert_ne!(changed.facts().sandbox, SandboxState::On);
    }
    let tests = [(TestIndex(0), None)];
    for isolation in [Isolation::Fork, Isolation::Cold] {
        let said = alone(&mut changed, &tests, isolation);
        assert_eq!(said, [Some("passed".to_owned())]);
    }
}
