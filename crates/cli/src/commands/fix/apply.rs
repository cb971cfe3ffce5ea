//! Patches written out: as files for `git apply`, or into the project.

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use flakelab_fix::{Case, Fix, Patch, Status};
use flakelab_model::Place;
use flakelab_runners::process::git;
use flakelab_source::{decode, encode, encode_like};
use tempfile::NamedTempFile;

use crate::error::CliError;
use crate::workbench::deliver::write;

/// Whether patches can be saved there, asked before hours of work.
pub(super) fn check(folder: &Path) -> Result<(), CliError> {
    let there = folder.ancestors().find(|place| place.exists());
    if let Some(file) = there.filter(|place| !place.is_dir()) {
        let why = format!("`{}` is a file", file.display());
        return Err(no_folder(folder, &why));
    }
    // Whoever applies all patches of the folder must not apply those of last week.
    let mut entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_patch = |path: PathBuf| path.is_file() && path.extension().is_some_and(|e| e == "patch");
    if entries.any(|entry| is_patch(entry.path())) {
        let said = format!("`{}` has patches already", folder.display());
        return Err(CliError::usage(said).hint("name another folder, or remove them"));
    }
    Ok(())
}

fn no_folder(folder: &Path, why: &dyn std::fmt::Display) -> CliError {
    CliError::usage(format!("failed to create `{}`: {why}", folder.display()))
        .hint("-o takes a folder for the patches; with --format json, a file")
}

/// One `.patch` file for each different patch.
pub(super) fn save(folder: &Path, fixes: &[Fix]) -> Result<(), CliError> {
    std::fs::create_dir_all(folder).map_err(|e| no_folder(folder, &e))?;
    let mut seen: Vec<&Patch> = Vec::new();
    for fix in fixes.iter().filter(|fix| fix.status == Status::Fixed) {
        for patch in fix.patches.iter().map(|held| &held.patch) {
            if seen.iter().any(|known| known.changes == patch.changes) {
                continue;
            }
            seen.push(patch);
            let name = format!("{:03}-{}.patch", seen.len(), patch.strategy.word());
            write(&folder.join(name), bytes(patch))?;
        }
    }
    Ok(())
}

/// The diff in the encodings of its files.
fn bytes(patch: &Patch) -> Vec<u8> {
    let mut out = Vec::new();
    for change in &patch.changes {
        let one = Patch {
            changes: vec![change.clone()],
            ..patch.clone()
        };
        let diff = one.diff();
        out.extend(encode_like(&change.after, &diff).unwrap_or_else(|| diff.into_bytes()));
    }
    out
}

/// Writes what holds together; `written` are the files that are changed by then, whatever comes of the rest.
pub(super) fn apply(
    project: &Path,
    patch: &Patch,
    force: bool,
    written: &mut Vec<String>,
) -> Result<(), CliError> {
    for change in &patch.changes {
        let path = &change.path;
        let now = std::fs::read(project.join(path)).ok();
        let now = now.and_then(|bytes| decode(&bytes));
        // Not even by force: the new text is that of the whole file, and what was typed since is not in it.
        if now != change.before {
            return Err(CliError::usage(format!(
                "`{path}` has changed since the patch was verified"
            ))
            .hint("run fix again without --resume"));
        }
        if !force && git::has_uncommitted_changes(project, path) {
            return Err(
                CliError::usage(format!("`{path}` has changes that are not committed"))
                    .hint("commit them first, or --force"),
            );
        }
    }
    // A full disk is noticed before any file is another.
    let mut ready = Vec::new();
    for change in &patch.changes {
        let new = match encode(&change.after) {
            Some(bytes) => Replacement::beside(&project.join(&change.path), &bytes),
            None => Err(std::io::Error::other(
                "its encoding does not have all of it",
            )),
        };
        ready.push((&change.path, new.map_err(|e| unwritten(&change.path, &e))?));
    }
    for (path, new) in ready {
        new.take_its_place().map_err(|e| unwritten(path, &e))?;
        written.push(path.clone());
    }
    Ok(())
}

fn unwritten(path: &str, why: &std::io::Error) -> CliError {
    CliError::usage(format!("failed to write `{path}`: {why}"))
        .hint("the patches are kept: `-o DIR` saves them for `git apply`")
}

/// The new text of a file, written but not yet in its place.
struct Replacement {
    text: NamedTempFile,
    path: PathBuf,
}

impl Replacement {
    fn beside(path: &Path, text: &[u8]) -> std::io::Result<Self> {
        // What a link leads to, not the link.
        let path = match path.canonicalize() {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => path.to_owned(),
            found => found?,
        };
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(text)?;
        file.as_file().sync_all()?;
        let mut mode = Permissions::from_mode(0o644);
        if let Ok(before) = path.metadata() {
            mode = before.permissions();
            // Root must not take it from its owner; others may not give files away, and have no need to.
            let _ = fchown(file.as_file(), Some(before.uid()), Some(before.gid()));
        }
        file.as_file().set_permissions(mode)?;
        Ok(Self { text: file, path })
    }

    fn take_its_place(self) -> std::io::Result<()> {
        self.text.persist(self.path)?;
        Ok(())
    }
}

/// Files of tests that are to be fixed, or of their culprits, which `apply` would refuse.
pub(super) fn uncommitted(project: &Path, cases: &[Case]) -> Vec<String> {
    let ids = cases
        .iter()
        .flat_map(|case| case.culprits.iter().flatten().chain([&case.test]));
    let files: BTreeSet<String> = ids.filter_map(|id| Place::of(id)).map(|p| p.file).collect();
    files
        .into_iter()
        .filter(|file| git::has_uncommitted_changes(project, file))
        .collect()
}
