//! `flakelab inject` interrupted, and with mutants that loop, crash and destroy.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Stdio};

use crate::support::Project;
use crate::support::datasets::{Folder, classes, files, inject, mutants, orders};
use crate::support::store::results;
use serde_json::Value;

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
    assert!(crate::support::reproduce::processes_in(&place).is_empty());
}
