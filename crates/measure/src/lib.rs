//! The verb `measure`: runs a suite under controlled factors and says how much varies, at which layer, and
//! because of which factor. After Gao's dissertation, chapters 3 and 4.
//!
//! A layer turns each execution into a snapshot, a set of (element, value). Everything else (groups, entropy,
//! range, effects of factors) is the same for all layers.

mod arrange;
mod effect;
mod factor;
mod invariants;
mod layer;
mod margin;
mod measure;
mod metrics;
mod plan;
mod pool;

pub use effect::{Affected, Comparison, Effect, assess};
pub use factor::{Factor, SYSTEM, Settings, controlled, uncontrolled};
pub use invariants::{CONFIDENCE_LIMIT, infer};
pub use layer::Layer;
pub use margin::{Latent, latent};
pub use measure::{Journal, Kept, Measured, Measurement, Run, Wanted, Watch, measure};
pub use metrics::{Flakiness, Unstable, false_positives, of_groups, of_suite, of_test, unstable};
pub use plan::{Configuration, Means, gao, one_by_one};
pub use pool::{Content, Pool, SnapshotId, Text, decode, encode};
