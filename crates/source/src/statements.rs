//! The statements of a test that mutation deletes: operator `del_statement` of FLAKER (section III-A, step 2).
//!
//! Every statement but assertions, at any depth; a compound statement is one, and those inside it are
//! further ones. Owns which they are and what a compiler would say to a deletion; running is no concern.

use std::ops::Range;
use std::sync::Arc;

use tree_sitter::Node;

use crate::assertions::Assertions;
use crate::delete::delete;
use crate::edit::Edit;
use crate::names::{Uses, uses};
use crate::python::{Function, Source};

/// Levels of indentation that Python's tokenizer takes (`MAXINDENT`).
const DEEPEST: usize = 100;
/// Characters of a statement that are shown.
const SHOWN: usize = 120;

/// A statement of a function that can be deleted.
#[derive(Debug, Clone)]
pub struct Statement<'a> {
    source: &'a Source,
    function: Node<'a>,
    node: Node<'a>,
    depth: usize,
    /// What names mean in the function as it is.
    uses: Arc<Uses<'a>>,
}

impl<'a> Function<'a> {
    /// The statements without assertions in them, in source order. Docstrings, `pass`, `...`, `global` and
    /// `nonlocal` do nothing by themselves and are left out; an assertion keeps the compound statements
    /// around it.
    pub fn statements(self, assertions: &Assertions) -> Vec<Statement<'a>> {
        let mut found = Vec::new();
        let body = self.node.child_by_field_name("body");
        let deep = body.is_none_or(|body| !collect(body, 0, &mut found));
        if deep {
            return Vec::new();
        }
        let checks = assertions.below(self.source, self.node);
        let uses = Arc::new(uses(self.source, self.node, None));
        found
            .into_iter()
            .filter(|(node, _)| !is_idle(*node) && !holds(&checks, node.byte_range()))
            .map(|(node, depth)| Statement {
                source: self.source,
                function: self.node,
                node,
                depth,
                uses: Arc::clone(&uses),
            })
            .collect()
    }
}

impl Statement<'_> {
    /// With the decorators of a definition; without a comment behind it.
    pub fn range(&self) -> Range<usize> {
        self.node.byte_range()
    }

    /// Where it begins, counted from 1.
    pub fn line(&self) -> usize {
        self.node.start_position().row + 1
    }

    /// Its first line, shortened where needed; `…` stands for what is not shown.
    pub fn text(&self) -> String {
        let whole = self.source.of(self.node);
        let line = whole.lines().next().unwrap_or_default().trim_end();
        let mut shown: String = line.chars().take(SHOWN).collect();
        if shown.len() < whole.len() {
            shown.push('…');
        }
        shown
    }

    /// How many compound statements of the function are around it.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Removes it and its lines, keeping the rest of the file byte for byte; a body that would be left empty
    /// gets `pass`.
    pub fn delete(&self) -> Edit {
        delete(self.source, self.node)
    }

    /// Names that are used without a value once it is deleted: ones that had a value on every path and no
    /// longer do, or had one on some path and now on none. Empty if a compiler would accept the deletion.
    pub fn leaves_unbound(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (at, (name, status)) in uses(self.source, self.function, Some(self.node)) {
            let worse = self.uses.get(&at).is_some_and(|(_, was)| status < *was);
            if worse && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    }
}

impl Statement<'_> {
    /// Why the file is no program without it: nothing that such a deletion shows says anything about tests.
    pub fn why_not(&self) -> Option<String> {
        let unbound = self.leaves_unbound();
        if !unbound.is_empty() {
            return Some(format!(
                "`{}` has no value without it",
                unbound.join("`, `")
            ));
        }
        let broken = Source::parse(&self.delete().applied(self.source.text())).is_none();
        broken.then(|| "the file no longer parses".to_owned())
    }
}

/// All statements below a block with their depth; false if it is deeper than Python allows.
fn collect<'a>(block: Node<'a>, depth: usize, found: &mut Vec<(Node<'a>, usize)>) -> bool {
    if depth > DEEPEST {
        return false;
    }
    let mut cursor = block.walk();
    block
        .named_children(&mut cursor)
        .all(|child| match child.kind() {
            "comment" | "line_continuation" => true,
            "case_clause" => inside(child, depth, found),
            _ => {
                found.push((child, depth));
                inside(child, depth + 1, found)
            }
        })
}

fn inside<'a>(node: Node<'a>, depth: usize, found: &mut Vec<(Node<'a>, usize)>) -> bool {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .all(|child| match child.kind() {
            "block" => collect(child, depth, found),
            "elif_clause"
            | "else_clause"
            | "except_clause"
            | "finally_clause"
            | "function_definition"
            | "class_definition" => inside(child, depth, found),
            _ => true,
        })
}

/// Whether it does nothing when it is executed.
fn is_idle(node: Node<'_>) -> bool {
    match node.kind() {
        "pass_statement" | "global_statement" | "nonlocal_statement" => true,
        "expression_statement" => {
            node.named_child_count() == 1
                && node.named_child(0).is_some_and(|child| match child.kind() {
                    "ellipsis" => true,
                    "string" | "concatenated_string" => is_constant(child),
                    _ => false,
                })
        }
        _ => false,
    }
}

/// A string without expressions in it.
fn is_constant(string: Node<'_>) -> bool {
    let mut cursor = string.walk();
    string
        .named_children(&mut cursor)
        .all(|part| match part.kind() {
            "string" => is_constant(part),
            kind => kind != "interpolation",
        })
}

fn holds(sorted: &[usize], range: Range<usize>) -> bool {
    let first = sorted.partition_point(|at| *at < range.start);
    sorted.get(first).is_some_and(|at| *at < range.end)
}
