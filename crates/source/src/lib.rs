//! Python source as concrete syntax: where things are, and edits that keep everything else of the file.
//!
//! Owns parsing (tree-sitter: byte ranges, comments and layout stay), edits as data, what one file tells
//! about its names, and where the code of a test stands. Knows nothing of tests that fail, patches that are
//! verified, or files on disk.

mod assertions;
mod body;
mod delete;
mod edit;
mod encoding;
mod imports;
mod initial;
pub mod locate;
mod merge;
mod mocked;
pub mod mutants;
mod names;
mod outline;
mod parametrise;
mod patched;
mod python;
mod scope;
mod site;
mod statements;
mod writes;

pub use assertions::Assertions;
pub use body::Piece;
pub use edit::{Edit, apply, unified, unified_near};
pub use encoding::{decode, decode_like, encode, encode_like};
pub use locate::{Located, Tree};
pub use merge::merge;
pub use mutants::mutants;
pub use patched::patched;
pub use python::{Class, Function, Source};
pub use scope::Names;
pub use site::Spot;
pub use statements::Statement;
pub use writes::Write;
