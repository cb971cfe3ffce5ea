//! Plain pytest on a copy of a project, with nothing of flakelab in between: a judge.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::interpreter::Interpreter;
use crate::cancel::Cancel;
use crate::process::{self, Limits, Spawn};
use crate::scratch::{Scratch, copy_tree};

/// What of its output is kept.
const MOST_SAID: usize = 256 * 1024;

/// A copy of a project that may be changed.
#[derive(Debug)]
pub struct PlainProject {
    scratch: Scratch,
    /// Where pytest is run, in the copy.
    project: PathBuf,
    interpreter: Interpreter,
    env: Vec<(OsString, OsString)>,
    limits: Limits,
}

impl PlainProject {
    pub fn copy(
        tree: &Path,
        project: &Path,
        interpreter: &Interpreter,
        env: &[(OsString, OsString)],
        limits: Limits,
    ) -> io::Result<Self> {
        let scratch = Scratch::create(&[PathBuf::from("/var/tmp"), std::env::temp_dir()])?;
        let copy = scratch.path().join("copy");
        copy_tree(tree, &copy)?;
        let inside = project.strip_prefix(tree).unwrap_or(Path::new(""));
        Ok(Self {
            project: copy.join(inside),
            scratch,
            interpreter: interpreter.clone(),
            env: env.to_vec(),
            limits,
        })
    }

    /// Puts bytes in the place of a file, and returns what was there.
    pub fn replace(&self, path: &str, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let place = self.project.join(path);
        let before = std::fs::read(&place)?;
        std::fs::write(place, bytes)?;
        Ok(before)
    }

    /// Runs a shell command that begins with `pytest` or `python`; what it printed, or `None` if it took
    /// too long or was cancelled. HOME and TMPDIR are fresh.
    pub fn shell(
        &self,
        command: &str,
        patience: Duration,
        cancel: &Cancel,
    ) -> io::Result<Option<String>> {
        let fresh = tempfile::tempdir_in(self.scratch.path())?;
        let bin = self.interpreter.executable.parent();
        let mut paths: Vec<PathBuf> = bin.map(Path::to_owned).into_iter().collect();
        let mut env = super::launch::environment(&self.env, &self.interpreter.user_base);
        if let Some((_, value)) = env.iter().find(|(key, _)| key == "PATH") {
            paths.extend(std::env::split_paths(value));
        }
        let path = std::env::join_paths(paths).map_err(io::Error::other)?;
        for (name, value) in [
            ("PATH", path),
            ("HOME", fresh.path().into()),
            ("TMPDIR", fresh.path().into()),
        ] {
            env.retain(|(key, _)| key != name);
            env.push((name.into(), value));
        }
        let mut process = process::spawn(Spawn {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), command.into()],
            cwd: self.project.clone(),
            env,
            keep: Vec::new(),
            limits: self.limits,
            user_namespace: false,
            surroundings: process::Surroundings::default(),
            guarded: false,
        })?;
        let said = process.hear_out(patience, MOST_SAID, cancel)?;
        Ok(said.map(|said| String::from_utf8_lossy(&said).into_owned()))
    }
}
