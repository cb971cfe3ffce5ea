//! `explain`: which tests cause an order-dependent failure, which cure it, and which state carries it.
//!
//! The two algorithms of iPFlakies (section 3.2) find who: every test before the target, and delta
//! debugging. The default is the prefix probe: one pass through an order that asks the target after
//! every test of it. What leaks is found by snapshots around the culprits, and what of it matters by
//! experiment: it is put back, and the target asked again.
//!
//! Written against [`Lab`](flakelab_lab::Lab); nothing is published that fresh interpreters did not confirm.
//!
//! | file | question |
//! |---|---|
//! | `culprits` | which tests before the target change its verdict? |
//! | `chance` | which of them do it only sometimes, and how often? |
//! | `cleaners` | which tests in between change it back? |
//! | `leaks` | what did the culprits leave, and what of it matters? |
//! | `factors` | which surroundings decide a non-deterministic test? |
//! | `ask` | do fresh interpreters agree? |

mod ask;
mod chance;
mod cleaners;
mod culprits;
mod explain;
mod factors;
mod finding;
mod leaks;
mod session;

pub use explain::{explain, failing_in};
pub use finding::{
    Cleaning, Culprits, Explanation, Factor, FactorVerdict, FoundLeak, Rate, Target,
};
pub use session::{Mode, Settings, Stage, Watch};
