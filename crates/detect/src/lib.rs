//! `detect`: find the flaky tests of a suite, verify them, and say what they are.
//!
//! The method of iPFlakies (sections 3.1 and 4.2.1) is the floor: random orders, reruns of passing and
//! failing orders, isolated runs. Beyond it: tests alone and twice in a row, position-dependent
//! teardowns, shortened orders, budgets, and no class without fresh interpreters that confirm it.
//!
//! Written against [`Lab`](flakelab_lab::Lab), synchronous, and deterministic given a seed and a lab.
//!
//! | file | question |
//! |---|---|
//! | `baseline` | how does the suite behave as collected, and do forks tell the truth? |
//! | `search` | which tests vary over many orders? |
//! | `verify` | do the same orders give the same outcomes again? |
//! | `shorten` | which few tests before it suffice? |
//! | `confirm` | do fresh interpreters agree? |
//! | `position` | is it the order, or only what comes next? |
//! | `classify` | so what is it? |

mod baseline;
mod classify;
mod collection;
mod confirm;
mod evidence;
mod finding;
mod nod;
mod position;
mod search;
mod session;
mod shorten;
mod verify;

pub use classify::detect;
pub use finding::{Command, Detection, Finding, Rate, Tally};
pub use session::{Settings, Stage, Watch};
