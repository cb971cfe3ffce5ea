//! The project and its store, for verbs that run no test: no interpreter is looked for.

use std::path::{Path, PathBuf};

use flakelab_store::{Location, Store};

use super::absolute;
use crate::config::{self, Config};
use crate::error::{CliError, chain};

#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) project: PathBuf,
    pub(crate) location: Location,
    pub(crate) config: Config,
}

impl Place {
    pub(crate) fn settle(path: &Path, store: Option<&Path>) -> Result<Self, CliError> {
        let found = std::fs::canonicalize(path).map_err(|e| {
            CliError::usage(format!("`{}`: {e}", path.display()))
                .hint("give the directory of a project that flakelab has worked on")
        })?;
        if !found.is_dir() {
            return Err(
                CliError::usage(format!("`{}` is no directory", path.display()))
                    .hint("give the directory of a project that flakelab has worked on"),
            );
        }
        let config = config::load(&found)?;
        Ok(Self {
            location: location(&found, store, &config),
            project: found,
            config,
        })
    }

    /// The name of the project's folder.
    pub(crate) fn name(&self) -> String {
        let name = self.project.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    pub(crate) fn open_store(&self) -> Result<Store, CliError> {
        open(&self.location)
    }
}

/// Where the store of a project is.
pub(super) fn location(project: &Path, given: Option<&Path>, config: &Config) -> Location {
    let given = given.map(|path| absolute(path.to_owned()));
    given.or(config.store.clone()).map_or_else(
        || Location::in_project(project),
        |path| Location::given(&path),
    )
}

/// The store of a project, if there is one and it can be read, and where it would be.
pub(crate) fn store_of(
    project: &Path,
    given: Option<&Path>,
    config: &Config,
) -> (Location, Result<Option<Store>, CliError>) {
    let location = location(project, given, config);
    let store = existing_store(&location);
    (location, store)
}

/// The store, if there is one: reading must not make it.
pub(crate) fn existing_store(location: &Location) -> Result<Option<Store>, CliError> {
    location.is_taken().then(|| open(location)).transpose()
}

pub(super) fn open(location: &Location) -> Result<Store, CliError> {
    Store::open(location.clone()).map_err(|e| {
        let folder = location.file().parent().filter(|folder| folder.is_file());
        if let Some(file) = folder {
            return CliError::usage(format!(
                "`{}` is a file, and the store is a folder",
                file.display()
            ))
            .hint("move that file away, or choose another place with --store");
        }
        if e.is_about_the_disk() {
            return CliError::store(e);
        }
        CliError::usage(chain(&e)).hint("choose another place with --store, or move that file away")
    })
}
