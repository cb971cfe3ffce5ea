//! Files that tests write reach neither the tree nor the next run, whoever runs flakelab.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::support::order::{FEW, notes};
use crate::support::reproduce::processes_with;
use crate::support::{Project, Run, environment, flakelab, is_root};

const WRITER: &str = "\
import os, pathlib
HERE = pathlib.Path(__file__).parent
def test_first_time():  # passes only if no other run has been here
    assert not (HERE / 'been_here').exists()
    (HERE / 'been_here').write_text('x')
def test_deletes():
    os.remove(HERE / 'data.txt')
def test_overwrites():
    with open(HERE / 'code.py', 'a') as file:
        file.write('broken(')
def test_tmp():
    path = pathlib.Path('/tmp', 'written-by-' + HERE.name)
    assert not path.exists()
    path.write_text('x')
def test_other():
    pass
";

fn writer() -> Project {
    Project::new(&[
        ("test_w.py", WRITER),
        ("data.txt", "precious"),
        ("code.py", "x = 1\n"),
    ])
}

/// Whether a test has written into the real /tmp; what is there is removed.
fn written_outside(project: &Project) -> bool {
    let name = project.path().file_name().expect("a name");
    let file = Path::new("/tmp").join(format!("written-by-{}", name.to_string_lossy()));
    std::fs::remove_file(file).is_ok()
}

fn sandboxed(run: &Run) -> bool {
    run.document["campaign"]["sandbox"] == "overlay"
}

#[test]
fn what_a_run_writes_is_gone_with_it() {
    let project = writer();
    let run = project.detect(&["--orders", "10"]);
    if !sandboxed(&run) {
        assert!(
            run.stderr.contains("no sandbox ("),
            "said once: {}",
            run.stderr
        );
        return;
    }
    // Run twice in one process each of them meets what it left; otherwise all is well.
    run.expect(&[
        ("test_w.py::test_first_time", "non_idempotent"),
        ("test_w.py::test_deletes", "non_idempotent"),
        ("test_w.py::test_tmp", "non_idempotent"),
    ]);
    assert!(!written_outside(&project));
}

/// A name as long as pytest lets it become part of `tmp_path`, and a socket there: its path may have 107 bytes. The test
/// is a victim, so that forks and fresh interpreters run it.
const SOCKET: &str = "\
import socket
OPEN = True
def test_a_server_that_listens_in_its_own_directory(tmp_path):
    assert OPEN
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / 'test.sock'))
def test_closes():
    global OPEN
    OPEN = False
";

#[test]
fn a_socket_below_tmp_path_has_room_for_its_name() {
    let run = Project::new(&[("test_s.py", SOCKET)]).detect(&FEW);
    // Without room for it the test would always fail.
    let victim = "test_s.py::test_a_server_that_listens_in_its_own_directory";
    run.expect(&[(victim, "victim")]);
}

/// Passes only if no other run has been here: not what it did to the directory that a layer lies over, nor the process
/// that it left running, in a session of its own.
const CHANGES_MORE_THAN_FILES: &str = r#"
import os, pathlib, subprocess, sys, time
STATE = os.path.dirname(os.environ['HOME'])
WRITTEN = pathlib.Path(__file__).with_name('written')
DAEMON = """
import pathlib, sys, time
while True:
    time.sleep(0.05)
    pathlib.Path(sys.argv[1]).touch()
"""
def test_changes_the_mode():
    assert os.stat(STATE).st_mode & 0o777 != 0o700
    os.chmod(STATE, 0o700)
def test_leaves_a_daemon():
    time.sleep(0.2)
    assert not WRITTEN.exists()
    subprocess.Popen([sys.executable, '-S', '-c', DAEMON, str(WRITTEN)], start_new_session=True)
"#;

#[test]
fn modes_and_processes_that_a_run_leaves_are_gone_with_it() {
    let project = Project::new(&[("test_more.py", CHANGES_MORE_THAN_FILES)]);
    let run = project.detect(&["--orders", "5"]);
    let place = project.path().to_string_lossy().into_owned();
    assert!(processes_with(&place).is_empty());
    if sandboxed(&run) {
        run.expect(&[
            ("test_more.py::test_changes_the_mode", "non_idempotent"),
            ("test_more.py::test_leaves_a_daemon", "non_idempotent"),
        ]);
        // Forks did not differ from fresh interpreters.
        assert_eq!(notes(&run), "[]");
    }
}

#[test]
fn what_collection_leaves_running_stays_for_all_runs_and_no_longer() {
    let project = Project::new(&[
        (
            "conftest.py",
            "import pathlib, subprocess, sys\n\
             words = ['-S', '-c', 'import time; time.sleep(1000)', str(pathlib.Path(__file__).parent)]\n\
             SERVER = subprocess.Popen([sys.executable, *words], start_new_session=True).pid\n\
             BEHIND = ['sh', '-c', '\"$0\" \"$@\" > /dev/null 2>&1 & echo $!', sys.executable]\n\
             DAEMON = int(subprocess.check_output([*BEHIND, *words]))\n",
        ),
        (
            "test_s.py",
            "import os\nfrom conftest import DAEMON, SERVER\n\
             def test_a():\n    os.kill(SERVER, 0)\n\
             def test_b():\n    os.kill(DAEMON, 0)\n",
        ),
    ]);
    let run = project.detect(&["--orders", "5"]);
    let place = project.path().to_string_lossy().into_owned();
    assert!(processes_with(&place).is_empty());
    run.expect(&[]);
}

#[test]
fn without_a_sandbox_home_and_temporary_files_are_private_all_the_same() {
    let project = Project::example("files");
    // The one example test that writes into the project is left out: that would stay.
    let run = project.detect(&[
        "--sandbox",
        "off",
        "--orders",
        "20",
        "--",
        "--deselect",
        "test_files.py::test_writes_notes",
    ]);
    assert_eq!(run.document["campaign"]["sandbox"], "off");
    run.expect(&[
        ("test_files.py::test_home_is_empty", "victim"),
        ("test_files.py::test_no_lock_file", "victim"),
        ("test_files.py::test_relative_path", "victim"),
        ("test_files.py::test_reads_the_setup", "brittle"),
    ]);
}

/// The sandbox of those who are not root is a user namespace. Tests that run as root can try that by
/// becoming somebody else first.
#[test]
fn an_ordinary_user_gets_the_same() {
    let root = is_root();
    let project = writer();
    let output = tempfile::tempdir().expect("a directory");
    let document = output.path().join("d.json");
    let python = environment("pytest8").join("bin/python");
    let mut command = Command::new(flakelab());
    command
        .args([
            "detect", "--seed", "1", "--orders", "5", "--format", "json", "-o",
        ])
        .arg(&document)
        .arg("--python")
        .arg(&python)
        .current_dir(project.path())
        .env("HOME", "/nonexistent");
    if root {
        let copy = output.path().join("flakelab");
        std::fs::copy(flakelab(), &copy).expect("a copy");
        let nobody = 65_534;
        for path in [project.path(), output.path()] {
            hand_over(path, nobody);
        }
        if !reachable(&python, nobody) {
            // A home directory closed to others: there is no interpreter nobody could use.
            return;
        }
        let args: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        command = Command::new(copy);
        command
            .args(args)
            .current_dir(project.path())
            .env("HOME", "/nonexistent")
            .uid(nobody)
            .gid(nobody);
    }
    let run = Run::of(command.output().expect("flakelab runs"), &document);
    if run.document.is_null() {
        panic!("no document, exit code {}\n{}", run.code, run.stderr);
    }
    assert_eq!(written_outside(&project), !sandboxed(&run));
    if sandboxed(&run) {
        run.expect(&[
            ("test_w.py::test_first_time", "non_idempotent"),
            ("test_w.py::test_deletes", "non_idempotent"),
            ("test_w.py::test_tmp", "non_idempotent"),
        ]);
        assert_eq!(
            std::fs::read(project.path().join("data.txt")).expect("kept"),
            b"precious"
        );
    } else {
        assert!(run.stderr.contains("no sandbox ("), "{}", run.stderr);
    }
}

fn reachable(python: &Path, user: u32) -> bool {
    Command::new(python)
        .args(["-c", "import pytest"])
        .uid(user)
        .gid(user)
        .status()
        .is_ok_and(|status| status.success())
}

/// Somebody else's files are no project of one's own.
fn hand_over(dir: &Path, user: u32) {
    use std::os::unix::fs::chown;
    let entries = std::fs::read_dir(dir).expect("readable").flatten();
    for path in entries.map(|entry| entry.path()).chain([dir.to_owned()]) {
        chown(path, Some(user), Some(user)).expect("chown");
    }
}
