//! `inject`: order-dependent tests made by deleting helper statements (FLAKER), as data with known truth.
//!
//! Stable tests are selected (step 1), every statement of theirs that is no assertion is deleted in turn
//! (step 2), and the same random orders tell whether the test depends on the order without it (step 3,
//! algorithm 1). What goes into the data set was confirmed in fresh interpreters on the written file, and its
//! polluters, state-setters and cleaners are known.
//!
//! Written against [`Lab`](flakelab_lab::Lab): mutants are other bodies for functions, swapped in by forks.
//!
//! | file | question |
//! |---|---|
//! | `select` | which tests are stable? |
//! | `mutant` | what can be deleted, and would it compile? |
//! | `evaluate` | which mutants pass in some orders and fail in others? |
//! | `confirm` | does it hold on the written file, and who is it that matters? |
//! | `metrics` | what does the paper's table I say? |

mod confirm;
mod entry;
mod evaluate;
mod inject;
mod metrics;
mod mutant;
mod select;
mod settings;

pub use confirm::{Causes, Explain};
pub use entry::{Class, Cleaning, Entry, FailureKind, Shown};
pub use inject::{Injection, Surroundings, inject};
pub use metrics::{ClassRow, Counted, Metrics, Relations, Totals};
pub use mutant::Mutant;
pub use select::{Excluded, Selection};
pub use settings::{Scope, Settings, Stage, Watch};
