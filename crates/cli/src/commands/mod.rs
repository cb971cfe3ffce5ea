//! One folder per verb.

pub(crate) mod detect;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod filter;
pub(crate) mod fix;
pub(crate) mod history;
pub(crate) mod ingest;
pub(crate) mod init;
pub(crate) mod inject;
pub(crate) mod measure;
pub(crate) mod mutate;
pub(crate) mod report;
pub(crate) mod shell;
pub(crate) mod welcome;
