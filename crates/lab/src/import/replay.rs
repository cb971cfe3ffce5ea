//! flakelab's own order file: a versioned document with the ids of one order.

use serde::{Deserialize, Serialize};

use super::ImportError;

const NAME: &str = "flakelab.order";
const MAJOR: &str = "1.";

#[derive(Debug, Serialize, Deserialize)]
pub struct ReplayFile {
    schema: Schema,
    order: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Schema {
    name: String,
    version: String,
}

impl ReplayFile {
    pub fn new<'a>(order: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            schema: Schema {
                name: NAME.into(),
                version: "1.0".into(),
            },
            order: order.into_iter().map(str::to_owned).collect(),
        }
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// Accepts newer minor versions, refuses other documents.
pub(super) fn names(text: &str) -> Result<Vec<String>, ImportError> {
    let file: ReplayFile =
        serde_json::from_str(text).map_err(|error| ImportError::Replay(error.to_string()))?;
    if file.schema.name != NAME || !file.schema.version.starts_with(MAJOR) {
        return Err(ImportError::Replay(format!(
            "expected {NAME} 1.x, found {} {}",
            file.schema.name, file.schema.version
        )));
    }
    Ok(file.order)
}
