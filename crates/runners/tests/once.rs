//! A suite that is run once, in one interpreter of real pytest.

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use flakelab_model::{Ending, Recording, RunRecord, Suite, Timeout, Trace};
use flakelab_runners::pytest::{Facts, OpenError, Options, SandboxMode, SandboxState, once};
use support::options;

const MINUTE: Timeout = Timeout {
    test: Duration::from_secs(60),
    run: Duration::from_secs(60),
};

/// Of tests the sites that are passed over.
type Filtered<'a> = &'a [(&'a str, &'a [(&'a str, u32, u32)])];

struct Project {
    _dir: tempfile::TempDir,
    root: PathBuf,
    files: Vec<String>,
}

fn project(files: &[(&str, &str)]) -> Project {
    let dir = tempfile::tempdir().expect("a directory");
    let root = dir.path().canonicalize().expect("canonical");
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    let files = tree(&root);
    Project {
        _dir: dir,
        root,
        files,
    }
}

fn tree(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        found.push(path.display().to_string());
        if path.is_dir() {
            found.extend(tree(&path));
        }
    }
    found.sort();
    found
}

impl Project {
    fn options(&self) -> Options {
        options(&self.root, SandboxMode::Auto, Vec::new())
    }

    fn recording(&self, filtered: Filtered<'_>) -> Arc<Recording> {
        let filtered: BTreeMap<_, _> = filtered
            .iter()
            .map(|(test, sites)| {
                let sites = sites
                    .iter()
                    .map(|(path, l, c)| ((*path).to_owned(), *l, *c));
                ((*test).to_owned(), sites.collect())
            })
            .collect();
        Arc::new(Recording {
            assertions: true,
            failing_only: true,
            filtered,
            sources: vec![self.root.clone()],
            names: self.root.clone(),
            ..Recording::default()
        })
    }

    fn once(&self, timeout: Timeout) -> Result<(Suite, Facts, RunRecord), OpenError> {
        self.once_with(self.options(), &[], timeout)
    }

    fn once_with(
        &self,
        options: Options,
        filtered: Filtered<'_>,
        timeout: Timeout,
    ) -> Result<(Suite, Facts, RunRecord), OpenError> {
        let in_a_sandbox = options.sandbox == SandboxMode::Auto;
        let done = once(options, self.recording(filtered), timeout);
        if in_a_sandbox {
            assert_eq!(tree(&self.root), self.files, "nothing is left in the tree");
        }
        done
    }
}

fn words(record: &RunRecord) -> Vec<&str> {
    record.executions.iter().map(|e| e.outcome.word()).collect()
}

fn filtered(trace: &Trace, position: u32) -> Vec<(&str, &str)> {
    let text = |number: u32| trace.texts[number as usize].as_str();
    let test = trace.tests.iter().find(|test| test.position == position);
    let pairs = test
        .map(|test| test.filtered.as_slice())
        .unwrap_or_default();
    pairs.iter().map(|(e, m)| (text(*e), text(*m))).collect()
}

#[test]
fn the_suite_is_told_and_executed_and_filtered_failures_are_in_the_trace() {
    let project = project(&[
        (
            "test_a.py",
            "import os\n\ndef test_flaky():\n    open('left', 'w').close()\n    assert 1 == 2\n    assert os.path.exists('left')\n\
             def test_bug():\n    assert 1 == 2\n    assert 1 == 3\n",
        ),
        (
            "sub/test_b.py",
            "import pytest\n\ndef test_ok():\n    assert 1\n\n@pytest.mark.skip\ndef test_skip():\n    pass\n",
        ),
    ]);
    let sites: &[(&str, u32, u32)] = &[("test_a.py", 5, 4), ("test_a.py", 8, 4)];
    let wanted = [
        ("test_a.py::test_flaky", sites),
        ("test_a.py::test_bug", sites),
    ];
    let (suite, facts, record) = project
        .once_with(project.options(), &wanted, MINUTE)
        .expect("it runs");
    let ids: Vec<&str> = suite.ids().iter().map(|id| id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "sub/test_b.py::test_ok",
            "sub/test_b.py::test_skip",
            "test_a.py::test_flaky",
            "test_a.py::test_bug"
        ]
    );
    assert_eq!(words(&record), ["passed", "skipped", "passed", "failed"]);
    assert_eq!(record.ending, Ending::Completed);
    assert!(record.cpu > Duration::ZERO);
    assert_eq!(facts.sandbox, SandboxState::On);
    assert!(facts.collection_errors.is_empty() && facts.cold_because.is_none());
    let failure = record.executions[3].outcome.failure().expect("a failure");
    assert!(failure.message.starts_with("assert 1 == 3"), "{failure:?}");
    let trace = record.trace.expect("a trace");
    assert_eq!(filtered(&trace, 2), [("test_a.py:5:4", "assert 1 == 2")]);
    assert_eq!(filtered(&trace, 3), [("test_a.py:8:4", "assert 1 == 2")]);
    let elements: Vec<&str> = trace.tests[3]
        .values
        .iter()
        .map(|(element, _)| trace.texts[*element as usize].as_str())
        .collect();
    assert!(elements.contains(&"test_a.py:9:4 left"), "{elements:?}");
    assert!(trace.tests[0].values.is_empty(), "it passed");
}

#[test]
fn a_module_that_does_not_collect_is_named_and_the_rest_runs() {
    let project = project(&[
        ("test_a.py", "def test_a():\n    pass\n"),
        ("test_broken.py", "import nothing_of_this_name\n"),
    ]);
    let (suite, facts, record) = project.once(MINUTE).expect("it runs");
    assert_eq!(suite.len(), 1);
    assert_eq!(words(&record), ["passed"]);
    assert_eq!(facts.collection_errors[0].id, "test_broken.py");
    assert!(!facts.arguments.as_module);
}

#[test]
fn a_suite_that_needs_its_directory_on_the_path_gets_it() {
    let project = project(&[
        ("shop.py", "PRICE = 3\n"),
        (
            "tests/test_a.py",
            "import shop\n\ndef test_a():\n    assert shop.PRICE == 3\n",
        ),
    ]);
    let (_, facts, record) = project.once(MINUTE).expect("it runs");
    assert_eq!(words(&record), ["passed"]);
    assert!(facts.collection_errors.is_empty() && facts.arguments.as_module);
}

#[test]
fn a_suite_that_does_not_collect_or_has_no_tests_is_an_error() {
    let broken = project(&[("test_broken.py", "import nothing_of_this_name\n")]);
    match broken.once(MINUTE) {
        Err(OpenError::DoesNotCollect { errors, .. }) => assert_eq!(errors.len(), 1),
        other => panic!("{other:?}"),
    }
    let empty = project(&[("a.py", "")]);
    let found = empty.once(MINUTE);
    assert!(matches!(found, Err(OpenError::NoTests)), "{found:?}");
    let mut options = empty.options();
    options.args = vec!["--no-such-option".into()];
    let found = empty.once_with(options, &[], MINUTE);
    assert!(matches!(found, Err(OpenError::Usage { .. })), "{found:?}");
}

#[test]
fn a_test_that_hangs_ends_the_run() {
    let project = project(&[(
        "test_a.py",
        "import time\n\ndef test_a():\n    pass\n\ndef test_b():\n    time.sleep(600)\n\ndef test_c():\n    pass\n",
    )]);
    let timeout = Timeout {
        test: Duration::from_secs(1),
        run: Duration::from_secs(60),
    };
    let (_, _, record) = project.once(timeout).expect("it runs");
    assert_eq!(words(&record), ["passed", "timed_out", "not_run"]);
    assert_eq!(record.ending, Ending::TimedOut);
}

#[test]
fn a_test_that_kills_its_process_ends_the_run_and_those_before_stay() {
    let project = project(&[(
        "test_a.py",
        "import os, signal\n\ndef test_a():\n    assert 0 == 1\n\ndef test_b():\n    os.kill(os.getpid(), signal.SIGKILL)\n\
         \ndef test_c():\n    pass\n",
    )]);
    let sites: &[(&str, u32, u32)] = &[("test_a.py", 4, 4)];
    let wanted = [("test_a.py::test_a", sites)];
    let (_, _, record) = project
        .once_with(project.options(), &wanted, MINUTE)
        .expect("it runs");
    assert_eq!(words(&record), ["passed", "crashed", "not_run"]);
    assert_eq!(record.ending, Ending::Crashed);
    let trace = record.trace.expect("a trace");
    assert_eq!(filtered(&trace, 0), [("test_a.py:4:4", "assert 0 == 1")]);
}

#[test]
fn an_interrupted_run_ends_and_leaves_no_process() {
    let project = project(&[(
        "test_a.py",
        "import os, time\n\ndef test_a():\n    with open(os.environ['MARK'], 'w') as file:\n        file.write(str(os.getpid()))\n\
         \x20   time.sleep(600)\n",
    )]);
    let outside = tempfile::tempdir_in("/var/tmp").expect("a directory");
    let mark = outside.path().join("mark");
    let mut options = project.options();
    options.env.push(("MARK".into(), mark.clone().into()));
    let cancel = options.cancel.flag();
    let waiting = mark.clone();
    let watcher = std::thread::spawn(move || {
        while std::fs::read_to_string(&waiting)
            .unwrap_or_default()
            .is_empty()
        {
            std::thread::sleep(Duration::from_millis(20));
        }
        cancel.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let found = project.once_with(options, &[], MINUTE);
    watcher.join().expect("it ends");
    assert!(matches!(found, Err(OpenError::Interrupted)), "{found:?}");
    let pid = std::fs::read_to_string(mark).expect("a number");
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    assert!(stat.is_empty(), "{stat}");
}

#[test]
fn without_a_sandbox_it_runs_as_well() {
    let project = project(&[("test_a.py", "def test_a():\n    assert 1\n")]);
    let options = options(&project.root, SandboxMode::Off, Vec::new());
    let (_, facts, record) = project.once_with(options, &[], MINUTE).expect("it runs");
    assert_eq!(facts.sandbox, SandboxState::Off);
    assert_eq!(words(&record), ["passed"]);
    assert_eq!(tree(&project.root), project.files);
}

#[test]
fn rewritten_tests_are_found_again_by_the_next_run() {
    let project = project(&[("test_a.py", "def test_a():\n    assert 1\n")]);
    let kept = tempfile::tempdir_in("/var/tmp").expect("a directory");
    let mut recording = Recording::clone(&project.recording(&[]));
    recording.bytecode = Some(kept.path().join("bytecode"));
    let recording = Arc::new(recording);
    let mut seen = Vec::new();
    for _ in 0..2 {
        let (_, _, record) =
            once(project.options(), Arc::clone(&recording), MINUTE).expect("it runs");
        assert_eq!(words(&record), ["passed"]);
        let files = tree(kept.path());
        let files = files.iter().filter(|path| path.ends_with(".pyc"));
        let written = |path| std::fs::metadata(path).and_then(|m| m.modified());
        let stamps = files.map(|path| (path.clone(), written(path).expect("a time")));
        seen.push(stamps.collect::<Vec<_>>());
    }
    assert_eq!(seen[0].len(), 1);
    assert_eq!(seen[0], seen[1]);
}
