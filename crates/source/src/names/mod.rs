//! Python's scoping rules, as far as one file tells: which names a scope binds, what a name means where it
//! is used, and whether it has a value there on every path.

mod bindings;
mod builtins;
mod expressions;
mod flow;
mod module;
mod scope;

pub(crate) use flow::{Uses, uses};
pub(crate) use module::ModuleNames;
