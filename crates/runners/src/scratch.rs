//! The scratch area: the only place outside the store that flakelab writes to.
//!
//! Removed at the end, also when a test left read-only directories behind. What a killed flakelab left
//! is removed by the next one: the name carries the process id of its owner.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags};

const PREFIX: &str = "flakelab-";
/// Characters that tell areas of one process apart. Few, because paths of tests begin with the area's, and a name that
/// is taken is not taken twice.
const APART: usize = 3;

#[derive(Debug)]
pub struct Scratch {
    root: PathBuf,
    /// Held as long as the area is in use: another machine or container that shares the directory knows no process of
    /// ours.
    _lock: Option<OwnedFd>,
}

impl Scratch {
    /// A new area below the first of `bases` that takes one.
    pub fn create(bases: &[PathBuf]) -> io::Result<Self> {
        let mut last = io::Error::other("no directory for temporary files was given");
        for base in bases {
            remove_abandoned(base);
            match tempfile::Builder::new()
                .prefix(&format!("{PREFIX}{}-", std::process::id()))
                .rand_bytes(APART)
                .tempdir_in(base)
            {
                Ok(dir) => {
                    let root = fs::canonicalize(dir.keep())?;
                    // Where directories cannot be locked, nobody else gets a lock to remove it.
                    let _lock = lock(&root);
                    return Ok(Self { root, _lock });
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    pub fn path(&self) -> &Path {
        &self.root
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove_tree(&self.root);
    }
}

/// Folders of a project that its tests do not look into.
const NOT_COPIED: [&str; 5] = [".git", ".flakelab", "__pycache__", "node_modules", ".tox"];

/// Copies a project, links as links, without its history, caches and virtual environments.
pub(crate) fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, name) = (entry.file_type()?, entry.file_name());
        let (source, copy) = (entry.path(), to.join(&name));
        if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&source)?, &copy)?;
        } else if kind.is_dir() {
            let skipped = NOT_COPIED.iter().any(|skip| name == *skip)
                || source.join("pyvenv.cfg").exists()
                || to.starts_with(&source);
            if !skipped {
                copy_tree(&source, &copy)?;
            }
        } else if kind.is_file() {
            fs::copy(&source, &copy)?;
        }
    }
    Ok(())
}

/// Removes a tree whatever its permissions; what cannot be removed is left.
pub(crate) fn remove_tree(root: &Path) {
    if fs::remove_dir_all(root).is_ok() || !root.exists() {
        return;
    }
    make_writable(root);
    let _ = fs::remove_dir_all(root);
}

fn make_writable(dir: &Path) {
    let _ = fs::set_permissions(dir, fs::Permissions::from_mode(0o700));
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}

/// A lock on a directory that nobody else has locked.
fn lock(dir: &Path) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let dir = rustix::fs::open(dir, flags, Mode::empty()).ok()?;
    rustix::fs::flock(&dir, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(dir)
}

/// Scratch areas of ours whose owner no longer runs.
fn remove_abandoned(base: &Path) {
    let Ok(entries) = fs::read_dir(base) else {
        return;
    };
    let me = rustix::process::getuid().as_raw();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX))
            .and_then(|rest| rest.split_once('-'))
            .and_then(|(pid, _)| pid.parse::<u32>().ok());
        let Some(pid) = owner else { continue };
        let ours = entry.metadata().is_ok_and(|m| m.is_dir() && m.uid() == me);
        if ours && !Path::new(&format!("/proc/{pid}")).exists() {
            let abandoned = lock(&entry.path());
            if abandoned.is_some() {
                remove_tree(&entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_files_and_links_and_no_environment() {
        let base = tempfile::tempdir().expect("tempdir");
        let from = base.path().join("project");
        fs::create_dir_all(from.join("tests")).expect("create");
        fs::create_dir_all(from.join("env/lib")).expect("create");
        fs::write(from.join("env/pyvenv.cfg"), "").expect("write");
        fs::write(from.join("tests/a.py"), "x").expect("write");
        std::os::unix::fs::symlink("a.py", from.join("tests/b.py")).expect("link");
        let to = base.path().join("copy");
        copy_tree(&from, &to).expect("copied");
        assert_eq!(
            fs::read_to_string(to.join("tests/b.py")).expect("read"),
            "x"
        );
        assert!(to.join("tests/b.py").is_symlink());
        assert!(!to.join("env").exists());
    }

    #[test]
    fn an_abandoned_area_is_removed_and_a_living_one_is_kept() {
        let base = tempfile::tempdir().expect("tempdir");
        let abandoned = base.path().join("flakelab-4294967294-x");
        let locked = abandoned.join("locked");
        fs::create_dir_all(&locked).expect("create");
        fs::write(locked.join("file"), "x").expect("write");
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).expect("chmod");
        let elsewhere = base.path().join("flakelab-4294967293-z");
        fs::create_dir_all(&elsewhere).expect("create");
        let _used = lock(&elsewhere).expect("locked");
        let living = base
            .path()
            .join(format!("flakelab-{}-y", std::process::id()));
        fs::create_dir_all(&living).expect("create");

        let scratch =
            Scratch::create(&[base.path().join("missing"), base.path().into()]).expect("scratch");

        assert!(!abandoned.exists());
        assert!(living.exists());
        assert!(elsewhere.exists());
        let root = scratch.path().to_owned();
        assert!(root.starts_with(fs::canonicalize(base.path()).expect("canonical")));
        drop(scratch);
        assert!(!root.exists());
    }
}
