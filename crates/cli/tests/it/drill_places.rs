//! Disks that are full, projects that cannot be written, stores that somebody else has.
//!
//! Small disks and read-only trees are mounts in a namespace of the command itself; where the system allows none,
//! there is nothing to try.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::order::{VICTIM, beside_a_victim};
use crate::support::{Project, Run, is_root};

const FEW: [&str; 6] = ["--seed", "1", "--orders", "2", "--isolated-runs", "2"];

/// Whether a command may mount in a namespace of its own.
fn may_mount(dir: &Path) -> bool {
    let script = format!("mount -t tmpfs -o size=64k tmpfs '{}'", dir.display());
    inside(&script)
        .status()
        .is_ok_and(|status| status.success())
}

/// A shell in namespaces of its own, in which it is root.
fn inside(script: &str) -> Command {
    let mut command = Command::new("unshare");
    // Who is root needs no other users for that.
    let namespaces = if is_root() { "-m" } else { "-Urm" };
    command
        .args([namespaces, "sh", "-ec", script])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// `flakelab` with these arguments, between two scripts.
fn flakelab(project: &Project, prepare: &str, args: &[&str], afterwards: &str) -> Output {
    let plain = project.flakelab(&[]);
    let mut command = inside(&format!(
        "{prepare}\ncode=0\n\"$@\" || code=$?\n{afterwards}\nexit $code"
    ));
    command
        .arg("sh")
        .arg(plain.get_program())
        .args(args)
        .arg("--python")
        .arg(project.python())
        .current_dir(project.path());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.output().expect("a shell")
}

#[track_caller]
fn one_error_with_a_hint(output: &Output, about: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        matches!(output.status.code(), Some(2 | 3 | 70)),
        "{:?}\n{said}",
        output.status
    );
    assert_eq!(said.matches("error: ").count(), 1, "{said}");
    assert!(said.contains(about), "{said}");
    assert!(said.contains("\nhint: "), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn a_full_disk_is_an_error_with_a_hint_and_earlier_results_are_kept() {
    let project = beside_a_victim(&[]);
    let disk = tempfile::tempdir().expect("a directory");
    if !may_mount(disk.path()) {
        return;
    }
    let store = disk.path().join("store.sqlite");
    let kept = project.path().join(".flakelab/kept.sqlite");
    let detect = project
        .flakelab(&["detect", "--quiet"])
        .args(FEW)
        .arg("--python")
        .arg(project.python())
        .arg("--store")
        .arg(&kept)
        .output()
        .expect("flakelab runs");
    assert_eq!(detect.status.code(), Some(1));
    let size = fs::metadata(&kept).expect("a store").len();
    // What was there before takes the disk but for a few pages: too few to open it, then to write all there is.
    for (left, about) in [(16_384, "disk I/O error"), (80_000, "disk is full")] {
        let prepare = format!(
            "mount -t tmpfs -o size={} tmpfs '{}'\ncp '{}' '{}'",
            size + left,
            disk.path().display(),
            kept.display(),
            store.display(),
        );
        let folder = project.path().join(".flakelab");
        let afterwards = format!("cp '{}'* '{}'", store.display(), folder.display());
        let place = store.to_string_lossy().into_owned();
        let mut args = vec!["detect", "--store", &place];
        args.extend(FEW);
        let output = flakelab(&project, &prepare, &args, &afterwards);
        one_error_with_a_hint(&output, about);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("hint: is the disk full"), "{said}");
        has_the_victim(&folder.join("store.sqlite"));
        fs::remove_file(folder.join("store.sqlite")).expect("removed");
    }
}

/// A store that is as it should be, and has what the first campaign came to.
fn has_the_victim(store: &Path) {
    let db = rusqlite::Connection::open(store).expect("a store");
    let intact: String = db
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("checked");
    assert_eq!(intact, "ok");
    let document: String = db
        .query_row(
            "SELECT document FROM campaigns WHERE document IS NOT NULL",
            [],
            |row| row.get(0),
        )
        .expect("the first campaign");
    assert!(document.contains(VICTIM), "{document}");
}

#[test]
fn a_temporary_directory_that_is_full_is_an_error_with_a_hint() {
    let project = beside_a_victim(&[]);
    let disk = tempfile::tempdir().expect("a directory");
    if !may_mount(disk.path()) {
        return;
    }
    let prepare = format!(
        "mount -t tmpfs -o size=64k tmpfs '{0}'\nexport TMPDIR='{0}'",
        disk.path().display()
    );
    let mut args = vec!["detect"];
    args.extend(FEW);
    let output = flakelab(&project, &prepare, &args, "");
    // It may have found another place for its files; then that is said by its result.
    if output.status.code() != Some(1) {
        one_error_with_a_hint(&output, "No space left on device");
    }
}

#[test]
fn a_read_only_project_needs_a_store_elsewhere_and_that_is_said() {
    let project = beside_a_victim(&[]);
    let elsewhere = tempfile::tempdir().expect("a directory");
    if !may_mount(elsewhere.path()) {
        return;
    }
    let prepare = format!(
        "mount --bind '{0}' '{0}'\nmount -o remount,ro,bind '{0}'\ncd '{0}'",
        project.path().display()
    );
    let mut args = vec!["detect"];
    args.extend(FEW);
    let output = flakelab(&project, &prepare, &args, "");
    one_error_with_a_hint(&output, "store");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("--store"), "{said}");

    let store = elsewhere.path().join("store.sqlite");
    let place = store.to_string_lossy().into_owned();
    args.extend(["--store", &place]);
    let output = flakelab(&project, &prepare, &args, "");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(
        output.status.code(),
        Some(1),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(said.contains(&format!("victim {VICTIM}")), "{said}");
    assert!(store.exists());
}

#[test]
fn what_is_mounted_below_a_project_is_there_in_its_private_view() {
    let project = beside_a_victim(&[
        (
            "test_volume.py",
            "
import errno, os, pathlib

HERE = pathlib.Path(__file__).parent
here = (HERE / 'volume' / 'here.txt').read_text()

def test_volume():
    assert (HERE / 'volume' / 'here.txt').read_text() == here == 'yes\\n'
    assert (HERE / 'volume' / 'deep' / 'there.txt').read_text() == 'no\\n'

def test_volumes_of_others_are_not_written_to():
    for name in 'volume', 'volume/deep':
        try:
            (HERE / name / 'new.txt').write_text('')
        except OSError as error:
            assert error.errno == errno.EROFS
        else:
            assert False

def test_directories_can_be_renamed():
    if os.environ.get('RENAMES'):
        os.rename(HERE / 'folder', HERE / 'renamed')
        assert (HERE / 'renamed' / 'file.txt').exists()
",
        ),
        ("volume/.keep", ""),
        ("folder/file.txt", ""),
    ]);
    if !may_mount(&project.path().join("volume")) {
        return;
    }
    // Whoever is root in a namespace of users only may not write the attributes that it takes.
    let renames = if is_root() { "export RENAMES=1" } else { "" };
    let prepare = format!(
        "mount -t tmpfs -o size=64k tmpfs volume\necho yes > volume/here.txt\nmkdir volume/deep\nmount -t tmpfs -o size=64k tmpfs volume/deep\necho no > volume/deep/there.txt\n{renames}"
    );
    let mut args = vec!["detect", "--format", "json"];
    args.extend(FEW);
    let output = flakelab(&project, &prepare, &args, "");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a document");
    let run = Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::new(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        document,
    };
    assert_eq!(
        run.document["campaign"]["sandbox"], "overlay",
        "{}",
        run.stderr
    );
    let mut expected = vec![(VICTIM, "victim")];
    if is_root() {
        expected.push((
            "test_volume.py::test_directories_can_be_renamed",
            "non_idempotent",
        ));
    }
    run.expect(&expected);
    assert!(project.path().join("folder/file.txt").exists());
}

#[test]
fn a_store_that_another_process_has_locked_is_an_error_with_a_hint() {
    let project = beside_a_victim(&[]);
    let store = project.path().join(".flakelab/store.sqlite");
    let detect = |project: &Project| {
        project
            .flakelab(&["detect"])
            .args(FEW)
            .arg("--python")
            .arg(project.python())
            .output()
            .expect("flakelab runs")
    };
    assert_eq!(detect(&project).status.code(), Some(1));
    let db = rusqlite::Connection::open(&store).expect("a store");
    db.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
        .expect("locked");
    one_error_with_a_hint(&detect(&project), "locked");
    db.execute_batch("ROLLBACK").expect("unlocked");
    drop(db);
    assert_eq!(detect(&project).status.code(), Some(1));
}

#[test]
fn two_flakelabs_in_one_project_do_not_disturb_each_other() {
    let project = beside_a_victim(&[]);
    let before = project.tree();
    let start = || {
        project
            .flakelab(&["detect", "--quiet", "--format", "json"])
            .args(FEW)
            .arg("--python")
            .arg(project.python())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("flakelab starts")
    };
    let both = [start(), start()].map(|child| child.wait_with_output().expect("ends"));
    let tests = both.map(|output| {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        let document: serde_json::Value =
            serde_json::from_slice(&output.stdout).expect("a document");
        document["tests"].clone()
    });
    assert_eq!(tests[0], tests[1]);
    assert_eq!(project.tree(), before);
    let db =
        rusqlite::Connection::open(project.path().join(".flakelab/store.sqlite")).expect("a store");
    let campaigns: i64 = db
        .query_row(
            "SELECT count(*) FROM campaigns WHERE document IS NOT NULL",
            [],
            |row| row.get(0),
        )
        .expect("counted");
    assert_eq!(campaigns, 2);
}
