//! What the last `detect` found, as the verbs after it read it.

use flakelab_model::Class;
use flakelab_store::{Finished, Store};
use serde::Deserialize;

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
