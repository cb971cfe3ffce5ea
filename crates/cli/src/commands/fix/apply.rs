//! Patches written out: as files for `git apply`, or into the project.

use std::collections::BTreeMap;
use std::path::Path;

use flakelab_fix::{Change, Fix, Patch, Status};
use flakelab_runners::process::git;
use flakelab_source::{decode, encode, encode_like};

use crate::error::CliError;
use crate::printer::Printer;
use crate::workbench::deliver::write;

/// One `.patch` file for each different patch.
pub(super) fn save(folder: &Path, fixes: &[Fix]) -> Result<(), CliError> {
    std::fs::create_dir_all(folder).map_err(|e| {
        CliError::usage(format!("failed to create `{}`: {e}", folder.display()))
            .hint("-o takes a folder for the patches; with --format json, a file")
    })?;
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
        out.extend(encode_like(&change.after, &one.diff()));
    }
    out
}

/// Writes the first patch of every fixed test; two patches of one file are not mixed.
pub(super) fn apply(
    project: &Path,
    fixes: &[Fix],
    force: bool,
    printer: Printer,
) -> Result<(), CliError> {
    let mut files: BTreeMap<&str, &Change> = BTreeMap::new();
    for fix in fixes.iter().filter(|fix| fix.status == Status::Fixed) {
        let Some(held) = fix.patches.first() else {
            continue;
        };
        let changes = &held.patch.changes;
        let clash = changes
            .iter()
            .any(|c| files.get(c.path.as_str()).is_some_and(|known| *known != c));
        if clash {
            printer.note(&format!(
                "`{}` is fixed by another patch of the same file: run fix again for it",
                fix.test
            ));
            continue;
        }
        files.extend(changes.iter().map(|c| (c.path.as_str(), c)));
    }
    for (path, change) in &files {
        let now = std::fs::read(project.join(path)).ok();
        let now = now.and_then(|bytes| decode(&bytes));
        if now != change.before && !force {
            return Err(CliError::usage(format!(
                "`{path}` has changed since the patch was verified"
            ))
            .hint("run fix again, or --force"));
        }
        if !force && git::has_uncommitted_changes(project, path) {
            return Err(
                CliError::usage(format!("`{path}` has changes that are not committed"))
                    .hint("commit them first, or --force"),
            );
        }
    }
    for (path, change) in files {
        write(&project.join(path), encode(&change.after))?;
    }
    Ok(())
}
