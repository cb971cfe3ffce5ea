//! The store: campaigns, runs and executions, and the history, in an embedded SQLite database.
//!
//! Owns the schema and its migrations, how a history is written ([`Ingest`]), and [`RecordingLab`], the lab that writes every run down as it
//! finishes and answers from the store what a campaign has asked before. Knows nothing of algorithms:
//! a resumed campaign is the same algorithm, asked again.

mod campaign;
mod evidence;
mod forget;
mod history;
mod lessons;
mod location;
mod recording;
mod results;
mod schema;
mod snapshots;

pub use campaign::{Campaign, CampaignId, NewCampaign, Totals};
pub use evidence::{Begun, FileTotals, HistoryTotals, Ingest, RunRows, Version};
pub use history::{Finished, Sighting};
pub use lessons::{Label, Lesson, Lessons};
pub use location::Location;
pub use recording::RecordingLab;
pub use schema::Store;
pub use snapshots::Addition;

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
#[error("failed to {action} the store `{}`", path.display())]
pub struct StoreError {
    pub path: PathBuf,
    pub action: &'static str,
    #[source]
    pub kind: StoreErrorKind,
}

impl StoreError {
    /// Whether it is the disk, its permissions, or another process that stands in the way, and not what is in the file.
    pub fn is_about_the_disk(&self) -> bool {
        use rusqlite::ErrorCode as Code;
        match &self.kind {
            StoreErrorKind::Io(_) => true,
            StoreErrorKind::Sqlite(error) => matches!(
                error.sqlite_error_code(),
                Some(
                    Code::DiskFull
                        | Code::SystemIoFailure
                        | Code::ReadOnly
                        | Code::CannotOpen
                        | Code::DatabaseBusy
                        | Code::DatabaseLocked
                )
            ),
            _ => false,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum StoreErrorKind {
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error("it was written by a newer flakelab (schema {found}, this one knows {known})")]
    Newer { found: i64, known: i64 },
    #[error("it is a database of another program")]
    Foreign,
    #[error("the suite has changed since that campaign")]
    SuiteChanged,
    #[error("its content makes no sense: {0}")]
    Corrupt(String),
}
