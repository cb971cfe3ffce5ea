//! The pytest lab: zygotes that collected the suite and are forked for every run, templates that only
//! loaded pytest and are forked for fresh runs, and cold interpreters.
//!
//! | file | owns |
//! |---|---|
//! | `interpreter` | which Python, and what it has |
//! | `shim` | the embedded Python side |
//! | `worker` | one interpreter process and its two channels |
//! | `job` | one trie on its way through a worker |
//! | `lane` | a zygote or template with its queue |
//! | `cold` | an interpreter started for one order |
//! | `clock` | an interpreter with a wrong clock |
//! | `factors` | what else an interpreter is given before it starts |
//! | `bytecode` | what code compiles to |
//! | `trace` | what a run wrote down about the insides of its tests |
//! | `launch` | environments, directories, arguments of workers |
//! | `ground` | what stands before the first interpreter is started |
//! | `mounts` | what is mounted below a directory |
//! | `greeting` | what an interpreter says when it has collected |
//! | `open` | starting a lab: collection, comparison of zygotes, fallbacks |
//! | `lab` | scheduling: lanes, cold runs, timeouts |
//! | `accidents` | runs that something killed, made again |
//! | `once` | the whole suite once, in one interpreter |
//! | `plain` | plain pytest on a copy of the project: a judge |

mod accidents;
mod arguments;
mod bytecode;
pub mod clock;
mod cold;
mod factors;
mod greeting;
mod ground;
mod interpreter;
mod job;
mod lab;
mod lane;
mod launch;
mod mounts;
mod once;
mod open;
mod plain;
mod shim;
mod trace;
mod worker;

pub use crate::wire::CollectionError;
pub use arguments::Arguments;
pub use bytecode::digests;
pub use interpreter::{
    Interpreter, InterpreterError, ask, candidates, first_fitting, locales, packages,
};
pub use lab::{Progress, PytestLab};
pub use launch::Instrumented;
pub use once::once;
pub use open::{Facts, OpenError, Options, SandboxMode, SandboxState, Settled};
pub use plain::PlainProject;
