//! What stands before the first interpreter of a suite is started: scratch area, shim, environment, and which
//! directories get a private view.

use std::io;
use std::path::{Path, PathBuf};

use super::launch;
use super::mounts;
use super::open::{Options, SandboxMode, Settled};
use super::worker::Launch;
use crate::process::{self, Surroundings};
use crate::scratch::Scratch;

pub(super) struct Ground {
    pub(super) options: Options,
    pub(super) base: Launch,
    pub(super) sandbox_roots: Option<Vec<PathBuf>>,
    /// Why a wanted sandbox is not to be had.
    pub(super) sandbox_refused: Option<String>,
    /// Children flakelab had before; not ours to end.
    pub(super) strangers: Vec<i32>,
    // Last, so that it is removed after what uses it.
    pub(super) scratch: Scratch,
}

impl Ground {
    pub(super) fn prepare(mut options: Options) -> io::Result<Self> {
        let strangers = process::adopt_orphans();
        let scratch = Scratch::create(&scratch_bases(&options))?;
        let settled = options.settled.as_ref();
        launch::keep_compiled(scratch.path(), settled.map(Settled::compiled))?;
        // With the bytecode that its first interpreter has left beside it.
        let shim = match settled {
            Some(settled) => settled.shim().to_owned(),
            None => super::shim::install(scratch.path())?,
        };
        let roots = sandbox_roots(&options, scratch.path());
        if roots.is_err() && !options.patched.is_empty() {
            move_to_copy(&mut options, scratch.path())?;
        }
        let base = Launch {
            python: options.interpreter.executable.clone(),
            cwd: options.project.clone(),
            shim,
            env: launch::environment(&options.env, &options.interpreter.user_base),
            limits: options.limits,
            user_namespace: roots.as_ref().is_ok_and(|(_, user)| *user),
            surroundings: Surroundings::default(),
        };
        let (sandbox_roots, sandbox_refused) = match roots {
            Ok((roots, _)) => (Some(roots), None),
            Err(why) => (None, why),
        };
        if let Some(roots) = &sandbox_roots {
            launch::patch(scratch.path(), roots, &options.patched)?;
        }
        if let Some(texts) = options.instrumented.take() {
            launch::instrument(scratch.path(), &texts)?;
        }
        Ok(Self {
            options,
            base,
            sandbox_roots,
            sandbox_refused,
            strangers,
            scratch,
        })
    }
}

/// Where the scratch area may be. With a sandbox `/tmp` gets a private view as well, and the layers of
/// an overlay must not lie below what it covers.
fn scratch_bases(options: &Options) -> Vec<PathBuf> {
    let given = options
        .env
        .iter()
        .find(|(key, _)| key == "TMPDIR")
        .map(|(_, value)| PathBuf::from(value));
    let usual = given
        .into_iter()
        .chain(["/tmp", "/var/tmp"].map(PathBuf::from));
    match options.sandbox {
        SandboxMode::Auto => std::iter::once(PathBuf::from("/var/tmp"))
            .chain(usual)
            .collect(),
        SandboxMode::Off => usual.collect(),
    }
}

/// Makes runs happen in a copy of the tree with the changed files in place: what there is without a sandbox.
fn move_to_copy(options: &mut Options, scratch: &Path) -> io::Result<()> {
    let copy = scratch.join("copy");
    crate::scratch::copy_tree(&options.tree, &copy)?;
    for (path, bytes) in options.patched.drain(..) {
        let inside = path
            .strip_prefix(&options.tree)
            .map_err(|_| io::Error::other("a changed file lies outside the tree"))?;
        let place = copy.join(inside);
        if let Some(folder) = place.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(place, bytes)?;
    }
    let inside = options.project.strip_prefix(&options.tree);
    options.project = copy.join(inside.unwrap_or(Path::new("")));
    options.tree = copy;
    Ok(())
}

/// What gets a private view, and whether that takes a user namespace; or why not.
fn sandbox_roots(
    options: &Options,
    scratch: &Path,
) -> Result<(Vec<PathBuf>, bool), Option<String>> {
    if options.sandbox == SandboxMode::Off {
        return Err(None);
    }
    let mut roots = vec![options.tree.clone()];
    let temporary = PathBuf::from("/tmp");
    // A view of it would hide what is mounted there, which is nobody's project.
    let is_whole = mounts::below(&temporary).is_empty();
    if !scratch.starts_with(&temporary) && temporary.is_dir() && is_whole {
        if options.tree.starts_with(&temporary) {
            roots = vec![temporary];
        } else {
            roots.push(temporary);
        }
    }
    if roots.iter().any(|root| scratch.starts_with(root)) {
        return Err(Some(
            "the project contains the directory for temporary files".into(),
        ));
    }
    if rustix::process::geteuid().is_root() {
        return Ok((roots, false));
    }
    // In a user namespace mounts of others stay together with what they are mounted on.
    if let Some(mount) = mounts::below(&options.tree).first() {
        return Err(Some(format!(
            "`{}` is mounted below the project, and only root can show it in a view of it",
            mount.display()
        )));
    }
    if !all_ours(&options.tree, &mut 0) {
        Err(Some(
            "files of the project belong to other users or groups".into(),
        ))
    } else if process::user_namespaces_work() {
        Ok((roots, true))
    } else {
        Err(Some("this system does not allow user namespaces".into()))
    }
}

/// Files looked at before a tree is taken to be like the rest of it.
const MOST_LOOKED_AT: usize = 5_000;

/// In a user namespace only our own user and group exist: overlayfs could not copy anybody else's file, and
/// a test that writes to one would fail where it does not without us.
fn all_ours(dir: &Path, looked_at: &mut usize) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (uid, gid) = (
        rustix::process::getuid().as_raw(),
        rustix::process::getgid().as_raw(),
    );
    let ours = |metadata: &std::fs::Metadata| metadata.uid() == uid && metadata.gid() == gid;
    if !std::fs::metadata(dir).is_ok_and(|m| ours(&m)) {
        return false;
    }
    let Ok(entries) = std::fs::read_dir(dir) else {
        return true;
    };
    for entry in entries.flatten() {
        *looked_at += 1;
        if *looked_at > MOST_LOOKED_AT {
            return true;
        }
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        if !ours(&metadata) || (metadata.is_dir() && !all_ours(&entry.path(), looked_at)) {
            return false;
        }
    }
    true
}
