//! The verb `filter`: keeps failures that mean something and drops those that do not, assertion by assertion. After
//! Gao's dissertation, chapter 5.
//!
//! Owns scores and their accumulation over versions, which assertion is which after an edit, what kind of failure
//! one is, the curves that justify a threshold, and the quarantine file. Runs nothing and keeps nothing.

mod element;
mod identity;
mod quarantine;
mod score;
mod sort;
mod tune;

pub use element::place;
pub use identity::{Identity, match_up, renamed_test};
pub use quarantine::{Entry, Quarantine, QuarantineError, today};
pub use score::{Evidence, LIFETIME, Seen, of_test};
pub use sort::{Kind, Sorted, joined, shown, sort};
pub use tune::{Point, Scored, balance, curve, lossless, point};
