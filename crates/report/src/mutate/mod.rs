//! What `flakelab mutate` found, and its views.

mod document;

pub use document::{
    Campaign, Coverage, Document, Mutant, Pairs, Rung, Score, SetAside, Share, Status, Totals,
    Varying,
};
