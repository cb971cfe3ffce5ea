//! Statistics for numbers that came from chance: intervals, exact tests, rank tests, effect sizes, detection
//! power.
//!
//! Owns formulas; knows nothing of tests, runs or files. Distributions come from `statrs`.

mod cliff;
mod entropy;
mod exact;
mod interval;
mod mann_whitney;
mod power;
mod ranks;
mod spearman;
mod wilcoxon;

pub use cliff::{CliffDelta, Magnitude, cliff_delta};
pub use entropy::entropy;
pub use exact::fisher_two_sided;
pub use interval::{Interval, clopper_pearson};
pub use mann_whitney::{MannWhitney, mann_whitney};
pub use power::{detectable_rate, miss_probability};
pub use ranks::Method;
pub use spearman::{Spearman, spearman};
pub use wilcoxon::{Wilcoxon, wilcoxon};
