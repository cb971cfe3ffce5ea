//! What is put in place as a whole.

use std::ops::Range;

use tree_sitter::Node;

use super::points::is_extra;
use crate::python::Source;

/// When the code of a unit runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UnitKind {
    /// Whenever it is called.
    Function,
    /// When the file is imported.
    Import,
}

/// Code that is put in place as a whole: the outermost function a mutation stands in, at module level or in classes;
/// or, for code that runs at import, the smallest statement outside of functions. Decorators and defaults of such a
/// function run at import: their unit is the statement that defines it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    pub kind: UnitKind,
    /// The classes it stands in, from the outside in.
    pub classes: Vec<String>,
    /// Of the function or class it defines; empty for other statements.
    pub name: String,
    /// The line it starts at, from 1, decorators included.
    pub first_line: u32,
    /// The line of `def`; for code that runs at import the line that `span` starts at.
    pub line: u32,
    /// From the start of that line to its end.
    pub span: Range<usize>,
    /// For people: `Cart.total`, `<module>`.
    pub path: String,
}

/// Where statements stand.
#[derive(Debug, Clone, Default)]
pub(super) struct Level {
    pub(super) classes: Vec<String>,
    /// The unit of the outermost function.
    pub(super) function: Option<usize>,
}

impl Unit {
    pub(super) fn function(
        source: &Source,
        level: &Level,
        outer: Node<'_>,
        node: Node<'_>,
    ) -> Self {
        let name = name(source, node);
        Self {
            kind: UnitKind::Function,
            path: dotted(&level.classes, &name),
            classes: level.classes.clone(),
            name,
            first_line: row(outer),
            line: row(node),
            span: source.line_start(node.start_byte())..node.end_byte(),
        }
    }

    pub(super) fn import(source: &Source, level: &Level, node: Node<'_>) -> Self {
        let defined = match node.kind() {
            "decorated_definition" => node.child_by_field_name("definition"),
            "function_definition" | "class_definition" => Some(node),
            _ => None,
        };
        let name = defined.map_or_else(String::new, |defined| name(source, defined));
        Self {
            kind: UnitKind::Import,
            path: dotted(&level.classes, &name),
            classes: level.classes.clone(),
            name,
            first_line: row(node),
            line: row(node),
            span: source.line_start(node.start_byte())..node.end_byte(),
        }
    }
}

fn row(node: Node<'_>) -> u32 {
    u32::try_from(node.start_position().row + 1).unwrap_or(u32::MAX)
}

pub(super) fn name(source: &Source, node: Node<'_>) -> String {
    node.child_by_field_name("name")
        .map_or_else(String::new, |name| source.of(name).to_owned())
}

fn dotted(classes: &[String], name: &str) -> String {
    let parts: Vec<&str> = classes
        .iter()
        .map(String::as_str)
        .chain((!name.is_empty()).then_some(name))
        .collect();
    if parts.is_empty() {
        "<module>".into()
    } else {
        parts.join(".")
    }
}

/// A compound statement, or a clause of one, up to its colon; all of a simple one.
pub(super) fn header(outer: Node<'_>, node: Node<'_>) -> (Range<usize>, usize) {
    let mut cursor = node.walk();
    let mut end = None;
    for child in node.children(&mut cursor) {
        match child.kind() {
            ":" => end = Some(child),
            "block" => break,
            _ => {}
        }
    }
    match end {
        Some(colon) => (
            outer.start_byte()..colon.end_byte(),
            colon.end_position().row,
        ),
        None => (outer.start_byte()..node.end_byte(), node.end_position().row),
    }
}

/// The block of a clause without a field for it.
pub(super) fn block(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .find(|child| child.kind() == "block")
}

/// The statements of a block.
pub(super) fn statements(block: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = block.walk();
    block
        .named_children(&mut cursor)
        .filter(|child| !is_extra(*child))
        .collect()
}
