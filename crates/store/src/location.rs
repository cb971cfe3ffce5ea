//! Where the store is: `.flakelab/` at the project's root, or where the user says.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The directory of the store, with an ignore file of its own so that no commit picks it up.
#[derive(Debug, Clone)]
pub struct Location {
    file: PathBuf,
}

impl Location {
    pub fn in_project(project: &Path) -> Self {
        Self {
            file: project.join(".flakelab").join("store.sqlite"),
        }
    }

    /// A directory that will hold the database, or the database file itself.
    pub fn given(path: &Path) -> Self {
        let is_file =
            path.is_file() || path.extension().is_some_and(|e| e == "sqlite" || e == "db");
        Self {
            file: if is_file {
                path.to_owned()
            } else {
                path.join("store.sqlite")
            },
        }
    }

    pub fn file(&self) -> &Path {
        &self.file
    }

    pub(crate) fn prepare(&self) -> io::Result<()> {
        let Some(dir) = self.file.parent() else {
            return Ok(());
        };
        if dir.as_os_str().is_empty() || dir.is_dir() {
            return Ok(());
        }
        fs::create_dir_all(dir)?;
        fs::write(dir.join(".gitignore"), "# Written by flakelab.\n*\n")
    }
}
