//! What `flakelab mutate` found, and its views.

mod annotations;
mod document;
#[cfg(test)]
pub(crate) mod example;
mod junit;
mod markdown;
mod page;
mod sayings;
pub mod simulate;
mod terminal;
mod useful;

pub use annotations::annotations;
pub use document::{
    Campaign, Coverage, Document, Mutant, Pairs, Rung, Score, SetAside, Share, Status, Totals,
    Varying,
};
pub use junit::junit;
pub use markdown::markdown;
pub use page::page;
pub(crate) use page::{part, sentence};
pub(crate) use sayings::range;
pub use terminal::terminal;
pub(crate) use useful::survivors;
