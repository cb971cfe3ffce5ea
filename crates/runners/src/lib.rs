//! Labs that run real suites: the pytest lab, and the processes underneath.
//!
//! `process` is the only place of flakelab that spawns; `wire` is what the shims say; `pytest` turns
//! requests into forks and cold interpreters. Knows nothing of why a run is wanted, prints nothing and
//! reads no environment variable: the caller hands the environment over.

pub mod cancel;
pub mod process;
pub mod pytest;
mod scratch;
mod wire;

pub use scratch::Scratch;
