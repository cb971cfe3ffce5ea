//! What the last `detect` found, as the verbs after it read it.

use flakelab_model::{Class, shell_word};
use flakelab_store::{Finished, Store};
use serde::Deserialize;

use super::{Workbench, existing_store};
use crate::error::CliError;

/// The part of a `detect` document that is read.
#[derive(Debug, Deserialize)]
pub(crate) struct Detected {
    pub(crate) tests: Vec<DetectedTest>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct DetectedTest {
    pub(crate) id: String,
    pub(crate) class: Class,
    #[serde(default)]
    pub(crate) reproduce: Option<Reproduce>,
    #[serde(default)]
    pub(crate) passing_order: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Reproduce {
    pub(crate) order: Vec<String>,
}

impl Detected {
    /// With the campaign it comes from.
    pub(crate) fn last(store: &Store) -> Result<Option<(Finished, Self)>, CliError> {
        let last = store.last_finished("detect").map_err(CliError::store)?;
        let Some(last) = last else {
            return Ok(None);
        };
        let document = serde_json::from_str(&last.document).map_err(|e| {
            CliError::usage(format!("the last detect in the store is unreadable: {e}"))
                .hint("run `flakelab detect` again")
        })?;
        Ok(Some((last, document)))
    }
}

/// What `detect` was asked for, as far as others take it over.
#[derive(Debug, Default, Deserialize)]
struct AskedOf {
    #[serde(default)]
    pytest_args: Vec<String>,
}

impl Workbench {
    /// A verb that was given no arguments for pytest works on the suite in which the last `detect` found its tests.
    pub(crate) fn take_up_detected(&mut self, given: &[String]) -> Result<(), CliError> {
        if !given.is_empty() {
            return Ok(());
        }
        let Some(store) = existing_store(&self.location)? else {
            return Ok(());
        };
        let last = store.last_finished("detect");
        let Some(last) = last.map_err(CliError::store)? else {
            return Ok(());
        };
        let asked: AskedOf = serde_json::from_str(&last.configuration).unwrap_or_default();
        if asked.pytest_args != self.pytest_args {
            self.pytest_args = asked.pytest_args;
            let words: Vec<String> = self.pytest_args.iter().map(|w| shell_word(w)).collect();
            let words = words.join(" ");
            self.printer.note(&format!(
                "pytest gets what the last `flakelab detect` was given: `-- {words}`"
            ));
        }
        Ok(())
    }
}
