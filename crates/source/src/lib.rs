//! Python source as concrete syntax: where things are, and edits that keep everything else of the file.
//!
//! Owns parsing (tree-sitter: byte ranges, comments and layout stay) and edits as data. Knows nothing of
//! tests that fail, patches that are verified, or files on disk.

mod assertions;
mod body;
mod edit;
mod encoding;
pub mod locate;
mod parametrise;
mod python;
mod scope;
mod writes;

pub use body::Piece;
pub use edit::{Edit, apply, unified};
pub use encoding::{decode, encode};
pub use locate::{Located, Tree};
pub use python::{Class, Function, Source};
pub use scope::Names;
pub use writes::Write;
