//! `mutate`: mutation testing that tells the truth when tests are flaky (Shi, Bell and Marinov, ISSTA 2019).
//!
//! | file | question |
//! |---|---|
//! | `priority` | which test of a mutant goes first? (section 3.3) |
//! | `simulate` | what would other orders have cost? (section 4.4, table 6) |

#![forbid(unsafe_code)]

mod priority;
mod simulate;

pub use priority::{Candidate, prioritise};
pub use simulate::{
    Cost, Matrix, MatrixError, MatrixMutant, MatrixPair, MatrixSchema, MatrixTest, PairStatus, Row,
    Scheme, SchemeRow, Signed, simulate, total,
};
