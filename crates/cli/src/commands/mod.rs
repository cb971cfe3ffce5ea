//! One folder per verb.

pub(crate) mod detect;
