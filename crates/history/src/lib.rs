//! The history of tests: reports of any runner read as rows, and scores over versions.
//!
//! Owns the formats (`read`), the one name a test has whatever wrote the report (`identity`), and the scores
//! (`score`). Knows nothing of files, stores or printing: it reads streams and hands rows to a [`Sink`].

mod digest;
mod identity;
mod read;
mod score;

pub use digest::{Digest, digest};
pub use read::{Broken, Format, ReadError, Row, Sink, read};
pub use score::{Score, Share, Standing, verdict_entropy};
