//! Patches written out: as files for `git apply`, or into the project.

use std::collections::BTreeMap;
use std::path::Path;

use flakelab_fix::{Change, Fix, Status};
use flakelab_report::fix::Document;
use flakelab_runners::process::git;

use crate::error::CliError;
use crate::printer::Printer;
use crate::workbench::deliver::write;

/// One `.patch` file for each different patch.
pub(super) fn save(folder: &Path, document: &Document) -> Result<(), CliError> {
    std::fs::create_dir_all(folder)
        .map_err(|e| CliError::usage(format!("failed to create `{}`: {e}", folder.display())))?;
    let mut seen: Vec<&str> = Vec::new();
    for fix in document.fixes.iter().filter(|fix| fix.status == "fixed") {
        for patch in &fix.patches {
            if seen.contains(&patch.diff.as_str()) {
                continue;
            }
            seen.push(&patch.diff);
            let name = format!("{:03}-{}.patch", seen.len(), patch.strategy);
            write(&folder.join(name), &patch.diff)?;
        }
    }
    Ok(())
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
        let now = std::fs::read_to_string(project.join(path)).ok();
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
        write(&project.join(path), &change.after)?;
    }
    Ok(())
}
