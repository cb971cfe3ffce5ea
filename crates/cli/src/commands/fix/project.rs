//! The project as `fix` sees it: files to read, and views of it with some of them changed.

use std::path::{Path, PathBuf};

use flakelab_fix::{Change, Tree, Variants};
use flakelab_lab::{Lab, LabError};
use flakelab_runners::pytest::OpenError;
use flakelab_source::{decode, encode};

use crate::workbench::Workbench;

/// The project on disk, read only.
pub(super) struct Project(pub(super) PathBuf);

impl Tree for Project {
    fn read(&self, path: &str) -> Option<String> {
        let inside = Path::new(path)
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        let bytes = inside.then(|| std::fs::read(self.0.join(path)).ok())??;
        decode(&bytes)
    }
}

/// Labs of the project with some of its files changed.
pub(super) struct PatchedProjects<'a>(pub(super) &'a Workbench);

impl Variants for PatchedProjects<'_> {
    fn open(&mut self, changes: &[Change]) -> Result<Option<Box<dyn Lab + '_>>, LabError> {
        let files = changes
            .iter()
            .map(|change| (self.0.project.join(&change.path), encode(&change.after)))
            .collect();
        match self.0.open_variant(files) {
            Ok(lab) => Ok(Some(Box::new(lab))),
            Err(OpenError::Interrupted) => Err(LabError::Interrupted),
            Err(OpenError::Io(error)) => Err(LabError::broken(error.to_string())),
            // A patch that breaks collection is no patch.
            Err(_) => Ok(None),
        }
    }
}
