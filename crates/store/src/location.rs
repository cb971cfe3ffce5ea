//! Where the store is: `.flakelab/` at the project's root, or where the user says.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const OWN: &str = ".flakelab";

/// The directory of the store, with an ignore file of its own so that no commit picks it up.
#[derive(Debug, Clone)]
pub struct Location {
    file: PathBuf,
    /// Whether the directory is for flakelab alone, and not one in which the user has named a file.
    own: bool,
}

impl Location {
    pub fn in_project(project: &Path) -> Self {
        Self {
            file: project.join(OWN).join("store.sqlite"),
            own: true,
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
            own: !is_file,
        }
    }

    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Whether a store is there, or something that opening will complain about.
    pub fn is_taken(&self) -> bool {
        !matches!(self.file.try_exists(), Ok(false))
    }

    /// Where rewritten tests stay for the next run, if there is a directory for that.
    pub fn bytecode(&self) -> Option<PathBuf> {
        let there = self.own && self.file.exists();
        there.then(|| self.file.with_file_name("bytecode"))
    }

    pub(crate) fn prepare(&self) -> io::Result<()> {
        let Some(dir) = self.file.parent() else {
            return Ok(());
        };
        let ignored = dir.join(".gitignore");
        // One that somebody else has made is theirs, unless it has our name.
        let taken = dir.is_dir() && (!dir.ends_with(OWN) || ignored.exists());
        if dir.as_os_str().is_empty() || taken {
            return Ok(());
        }
        fs::create_dir_all(dir)?;
        fs::write(ignored, "# Written by flakelab.\n*\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_directory_of_its_own_is_ignored_and_keeps_bytecode() {
        let dir = tempfile::tempdir().expect("a directory");
        let made = |location: &Location| {
            location.prepare().expect("prepared");
            fs::write(location.file(), "").expect("written");
            location.bytecode()
        };
        let own = Location::in_project(dir.path());
        assert_eq!(own.bytecode(), None);
        // As an older flakelab, or somebody else, has left it.
        fs::create_dir(dir.path().join(OWN)).expect("made");
        assert_eq!(made(&own), Some(dir.path().join(".flakelab/bytecode")));
        assert!(dir.path().join(".flakelab/.gitignore").exists());

        let named = Location::given(&dir.path().join("store.sqlite"));
        assert_eq!(made(&named), None);
        assert!(!dir.path().join(".gitignore").exists());
    }
}
