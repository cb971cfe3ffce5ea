//! Mutations of a Python file, and the points at which a run tells that it got there.
//!
//! Pure text in, data out; running is no concern. A mutation replaces a few bytes and never moves a line of other
//! code, so that tracebacks keep their numbers. It comes in two forms: as a person reads it, and with a probe, a call
//! of `__flakelab_hit__()` at the moment evaluation of the smallest enclosing expression begins (for a removed
//! decorator: the decorator `__flakelab_seen__`). A point is that same moment in the unchanged code: see `points.rs`.
//! Shi, Bell and Marinov, "Mitigating the Effects of Flaky Tests on Mutation Testing", sections 3.1 and 3.2.
//!
//! Left alone: docstrings and strings that serve as comments, imports, annotations and type aliases, names that are
//! assigned to, patterns of `case`, `global` and `nonlocal`, bases and keywords of classes, types of handlers, format
//! specifications, `{x=}` in f-strings, and everything that would need a quote or a backslash inside of an f-string.
//! Not made, because no test is expected to notice: changes under `if TYPE_CHECKING` and `if __name__ == "__main__"`,
//! decorators of `typing` that do nothing, and what a module says about itself (`__version__`, `__author__`,
//! `__license__`, `__all__` and their like). Nor what can only raise: `-` or `/` for `+` or `%` with a literal string,
//! unpacking of nothing.

mod compound;
mod constants;
mod expressions;
mod identity;
mod layout;
mod nested;
mod operator;
mod points;
mod pragma;
mod statements;
mod units;
mod walk;

use std::ops::Range;

pub use operator::Operator;
pub use units::{Unit, UnitKind};

use crate::python::Source;
use points::Form;
use walk::Walk;

/// Everything that can be changed in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutants {
    /// In the order of the file, as are units and mutations. Only what a mutation needs is here.
    pub points: Vec<Point>,
    pub units: Vec<Unit>,
    pub mutations: Vec<Mutation>,
    /// Mutations that `# pragma: no mutate` left out: on a line they touch, or on the line of a block around them.
    pub excluded: usize,
}

/// A place where evaluation of an expression, or a simple statement, begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// From 1, of what is evaluated first.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    pub unit: usize,
    /// Bytes of the enclosing statement; of a compound one up to its colon.
    pub statement: Range<usize>,
    form: Form,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutation {
    pub operator: Operator,
    /// From 1, of the node that changes.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// Bytes that are replaced.
    pub span: Range<usize>,
    /// What a person sees in the diff.
    pub replacement: String,
    /// The same with a probe.
    pub probed: String,
    /// Where a run tells that it would have got here. It may belong to another unit: a handler at module level
    /// begins with its first statement.
    pub point: usize,
    pub unit: usize,
    /// Stable when other lines of the file change.
    pub id: String,
}

/// What can be changed in a file.
pub fn mutants(source: &Source) -> Mutants {
    let mut walk = Walk::new(source);
    walk.run();
    identity::finish(walk)
}

impl Mutants {
    /// The file with a call of `__flakelab_hit__(first + k, 1)` at every point `k`, right when evaluation begins
    /// there. It has the lines of the file.
    pub fn instrumented(&self, text: &str, first: usize) -> String {
        let forms = self.points.iter().map(|point| &point.form);
        points::instrumented(text, forms, first)
    }

    /// The file as it is, with a call of `__flakelab_hit__` at one point only, and a unit of it.
    pub fn counted(&self, text: &str, point: usize, unit: &Unit) -> (String, String) {
        let whole = points::instrumented(text, std::iter::once(&self.points[point].form), 0);
        let end = unit.span.end + (whole.len() - text.len());
        let part = format!("{}\n", &whole[unit.span.start..end]);
        (whole, part)
    }
}

impl Mutation {
    /// The file with the change.
    pub fn apply(&self, text: &str) -> String {
        self.within(text, &(0..text.len()), &self.replacement)
    }

    /// The file with the change and its probe.
    pub fn apply_probed(&self, text: &str) -> String {
        self.within(text, &(0..text.len()), &self.probed)
    }

    /// Its unit with the change, as `CodeEdit` has it.
    pub fn unit_text(&self, text: &str, unit: &Unit) -> String {
        self.within(text, &unit.span, &self.replacement) + "\n"
    }

    /// Its unit with the change and its probe.
    pub fn probed_unit_text(&self, text: &str, unit: &Unit) -> String {
        self.within(text, &unit.span, &self.probed) + "\n"
    }

    fn within(&self, text: &str, part: &Range<usize>, new: &str) -> String {
        let mut out = String::with_capacity(part.len() + new.len());
        out.push_str(&text[part.start..self.span.start]);
        out.push_str(new);
        out.push_str(&text[self.span.end..part.end]);
        out
    }
}
