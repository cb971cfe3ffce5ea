//! What the tests of the lab share.

use std::path::{Path, PathBuf};
use std::time::Duration;

use flakelab_runners::cancel::Cancel;
use flakelab_runners::process::Limits;
use flakelab_runners::pytest::{Options, PytestLab, SandboxMode, ask};

/// A lab of a project, with some of its files changed.
#[allow(dead_code, reason = "not every file of tests opens one")]
pub(crate) fn lab(
    project: &Path,
    sandbox: SandboxMode,
    patched: Vec<(PathBuf, Vec<u8>)>,
) -> PytestLab {
    PytestLab::open(options(project, sandbox, patched)).expect("it opens")
}

pub(crate) fn options(
    project: &Path,
    sandbox: SandboxMode,
    patched: Vec<(PathBuf, Vec<u8>)>,
) -> Options {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venvs/pytest8/bin/python");
    let env: Vec<_> = std::env::vars_os().collect();
    let interpreter = ask(&root, project, &env, Duration::from_secs(60))
        .expect("scripts/test makes the environment");
    Options {
        patched,
        instrumented: None,
        settled: None,
        interpreter,
        project: project.to_owned(),
        tree: project.to_owned(),
        args: Vec::new(),
        env,
        seed: 1,
        jobs: 2,
        sandbox,
        cold_only: false,
        limits: Limits {
            file: None,
            memory: None,
        },
        patience: Duration::from_secs(60),
        cancel: Cancel::default(),
    }
}
