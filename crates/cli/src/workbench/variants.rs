//! The project as verbs that change code see it: files to read, and views of it with some of them changed.

use std::path::{Path, PathBuf};

use flakelab_lab::{BorrowedLab, LabError, Variants};
use flakelab_runners::pytest::{OpenError, Settled};
use flakelab_source::{Tree, decode, encode};

use super::Workbench;

/// The project on disk, read only.
pub(crate) struct Project(pub(crate) PathBuf);

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
pub(crate) struct PatchedProjects<'a> {
    pub(crate) bench: &'a Workbench,
    /// What the lab of the project as it is has found out, where there is one.
    pub(crate) settled: Option<Settled>,
}

impl Variants for PatchedProjects<'_> {
    fn open(&mut self, files: &[(String, String)]) -> Result<Option<BorrowedLab<'_>>, LabError> {
        let files = files.iter();
        let files: Option<_> = files
            .map(|(path, text)| Some((self.bench.project.join(path), encode(text)?)))
            .collect();
        // What the encoding of a file does not have cannot be written to it.
        let Some(files) = files else {
            return Ok(None);
        };
        match self.bench.open_variant(files, self.settled.clone()) {
            Ok(lab) => Ok(Some(Box::new(lab))),
            Err(OpenError::Interrupted) => Err(LabError::Interrupted),
            Err(OpenError::Io(error)) => Err(LabError::broken(error.to_string())),
            // A patch that breaks collection is no patch.
            Err(_) => Ok(None),
        }
    }
}
