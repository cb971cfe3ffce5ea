//! An order as a program would write it: a versioned document with the ids.

use serde::Deserialize;

use super::ImportError;

const NAME: &str = "flakelab.order";
const MAJOR: &str = "1.";

#[derive(Deserialize)]
struct ReplayFile {
    schema: Schema,
    order: Vec<String>,
}

#[derive(Deserialize)]
struct Schema {
    name: String,
    version: String,
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
