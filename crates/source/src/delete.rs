//! Taking a statement out of a file: what goes with it, and what has to take its place.

use std::ops::Range;

use tree_sitter::Node;

use crate::edit::Edit;
use crate::python::Source;

/// Removes a statement with its lines; the rest of the file stays as it is. A body must not be left empty:
/// the last statement of one becomes `pass`.
pub(crate) fn delete(source: &Source, node: Node<'_>) -> Edit {
    let (previous, next) = neighbours(node);
    if previous.is_none() && next.is_none() {
        return Edit::replace(node.byte_range(), "pass");
    }
    let text = source.text();
    let joined = |range: Range<usize>| is_semicolon(&text[range]);
    let next = next.filter(|next| joined(node.end_byte()..next.start_byte()));
    let previous = previous.filter(|previous| joined(previous.end_byte()..node.start_byte()));
    let range = match (previous, next) {
        (_, Some(next)) => node.start_byte()..next.start_byte(),
        (Some(previous), None) => previous.end_byte()..node.end_byte(),
        (None, None) => source.line_start(node.start_byte())..source.line_end(node.end_byte()),
    };
    Edit::replace(range, "")
}

/// The statements before and behind in the same body.
fn neighbours(node: Node<'_>) -> (Option<Node<'_>>, Option<Node<'_>>) {
    let is_statement = |node: &Node<'_>| !matches!(node.kind(), "comment" | "line_continuation");
    let mut previous = node.prev_named_sibling();
    while let Some(other) = previous.filter(|other| !is_statement(other)) {
        previous = other.prev_named_sibling();
    }
    let mut next = node.next_named_sibling();
    while let Some(other) = next.filter(|other| !is_statement(other)) {
        next = other.next_named_sibling();
    }
    (previous, next)
}

/// Whether the text between two statements keeps them on one logical line.
fn is_semicolon(between: &str) -> bool {
    let line = between.replace("\\\r\n", "").replace("\\\n", "");
    !line.contains('\n') && line.trim() == ";"
}
