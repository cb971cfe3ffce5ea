//! What people and programs read: versioned documents, JUnit XML, Markdown summaries, terminal text.
//!
//! Owns formats and wording; gets plain data and returns text. Writes no file and prints nothing.

mod csv;
pub mod detect;
pub mod doctor;
pub mod explain;
pub mod filter;
pub mod fix;
mod github;
pub mod history;
mod html;
pub mod inject;
mod junit;
mod markdown;
pub mod measure;
pub mod mutate;
mod plot;
mod style;
mod terminal;
#[cfg(test)]
mod tests;
pub mod tune;
mod uncollected;
pub mod whole;
mod wording;

pub use junit::{JunitError, junit};
pub use markdown::markdown;
pub use terminal::{TerminalOptions, terminal};
pub use wording::{drives_a_terminal, visible};
