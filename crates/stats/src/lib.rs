//! Statistics for numbers that came from chance: intervals, exact tests, detection power.
//!
//! Owns formulas; knows nothing of tests, runs or files. Distributions come from `statrs`.

mod exact;
mod interval;
mod power;

pub use exact::fisher_two_sided;
pub use interval::{Interval, clopper_pearson};
pub use power::{detectable_rate, miss_probability};
