//! `mutate`: mutation testing that tells the truth when tests are flaky (Shi, Bell and Marinov, ISSTA 2019).
//!
//! | file | question |
//! |---|---|
//! | `settings` | what is asked, and what does a campaign work with? |
//! | `mutate` | the whole campaign, file by file |
//! | `layout` | the points of all files, numbered through |
//! | `collect` | coverage runs (section 3.1) |
//! | `coverage` | which test reaches which point, and does that vary? (table 1) |
//! | `priority` | which test of a mutant goes first? (section 3.3) |
//! | `subject` | how does a mutant come into a process? |
//! | `execute` | runs for many mutants at a time |
//! | `scout` | which test is likely to kill which mutant? |
//! | `chase` | what does one mutant need next? (section 3.2) |
//! | `control` | how do tests fail without a mutant? |
//! | `pair` | what do pairs say of a mutant, and what did reruns bring? (table 5) |
//! | `found` | a mutant with its verdict |
//! | `mentions` | which files of tests does a text import? |
//! | `reuse` | does a verdict of before still hold? |
//! | `simulate` | what would other orders have cost? (section 4.4, table 6) |
//!
//! Never starts a process, and knows no pytest.

mod chase;
mod collect;
mod control;
mod coverage;
mod execute;
mod found;
mod layout;
mod mentions;
mod mutate;
mod pair;
#[cfg(test)]
mod planted;
mod priority;
mod reuse;
mod scout;
mod settings;
mod simulate;
mod subject;
mod test_files;

pub use coverage::{Share, Stability, Varying};
pub use found::{Counts, Found, Verdict};
pub use layout::ids;
pub use mentions::Modules;
pub use mutate::{Mutating, mutate};
pub use pair::{Ladder, Rung, Status};
pub use priority::{Candidate, prioritise};
pub use reuse::digest;
pub use settings::{
    Code, Collecting, File, Reruns, Settings, Stage, Surroundings, Toolchain, Watch,
};
pub use simulate::{
    Cost, Matrix, MatrixError, MatrixMutant, MatrixPair, MatrixSchema, MatrixTest, PairStatus, Row,
    Scheme, SchemeRow, Signed, simulate, total,
};
