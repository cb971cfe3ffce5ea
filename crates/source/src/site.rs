//! The statement that stands at a place, by what it says rather than by its line.

use tree_sitter::{Node, Point};

use crate::python::Source;

/// A statement as it can be found again after an edit elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// Classes and functions around it, from the outside in.
    pub scope: Vec<String>,
    /// Without layout; of a compound statement its head.
    pub text: String,
    /// Among those of the same scope and text, from 0.
    pub ordinal: usize,
    /// Where it starts, from 1.
    pub line: usize,
    /// In bytes, from 0.
    pub column: usize,
}

impl Source {
    /// The innermost statement at a line (from 1) and column (in bytes, from 0).
    pub fn spot(&self, line: usize, column: usize) -> Option<Spot> {
        let at = Point::new(line.checked_sub(1)?, column);
        let mut node = self.root().descendant_for_point_range(at, at)?;
        while !is_statement(node) {
            node = node.parent()?;
        }
        let scope = self.scope_of(node);
        let text = self.head(node);
        let mut same = Vec::new();
        self.statements_like(self.root(), &scope, &text, &mut same);
        let start = node.start_position();
        Some(Spot {
            ordinal: same.iter().position(|n| n.id() == node.id()).unwrap_or(0),
            scope,
            text,
            line: start.row + 1,
            column: start.column,
        })
    }

    /// Every statement of a scope that says this, in order: (line from 1, column).
    pub fn spots(&self, scope: &[String], text: &str) -> Vec<(usize, usize)> {
        let mut same = Vec::new();
        self.statements_like(self.root(), scope, text, &mut same);
        same.iter()
            .map(|node| {
                let start = node.start_position();
                (start.row + 1, start.column)
            })
            .collect()
    }

    /// Every statement directly or indirectly in a scope: what they say, in order.
    pub fn statements_in(&self, scope: &[String]) -> Vec<String> {
        let mut found = Vec::new();
        self.each_statement(self.root(), &mut |node| {
            if self.scope_of(node) == scope {
                found.push(self.head(node));
            }
        });
        found
    }

    fn statements_like<'a>(
        &'a self,
        within: Node<'a>,
        scope: &[String],
        text: &str,
        found: &mut Vec<Node<'a>>,
    ) {
        self.each_statement(within, &mut |node| {
            if self.head(node) == text && self.scope_of(node) == scope {
                found.push(node);
            }
        });
    }

    fn each_statement<'a>(&'a self, node: Node<'a>, each: &mut dyn FnMut(Node<'a>)) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if is_statement(child) {
                each(child);
            }
            self.each_statement(child, each);
        }
    }

    fn scope_of(&self, node: Node<'_>) -> Vec<String> {
        let mut names = Vec::new();
        let mut above = node.parent();
        while let Some(node) = above {
            if matches!(node.kind(), "function_definition" | "class_definition")
                && let Some(name) = node.child_by_field_name("name")
            {
                names.push(self.of(name).to_owned());
            }
            above = node.parent();
        }
        names.reverse();
        names
    }

    /// What a statement says up to its body, in single spaces.
    fn head(&self, node: Node<'_>) -> String {
        let end = node
            .child_by_field_name("body")
            .or_else(|| node.child_by_field_name("consequence"))
            .map_or(node.end_byte(), |body| body.start_byte());
        let text = &self.text()[node.start_byte()..end];
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

fn is_statement(node: Node<'_>) -> bool {
    node.kind().ends_with("_statement")
        || matches!(
            node.kind(),
            "function_definition" | "class_definition" | "decorated_definition"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "class TestA:\n    def test_x(self):\n        assert f(\n            1\n        ) == 2\n        with raises(E):\n            g()\n        assert f( 1 ) == 2\n";

    fn parse(text: &str) -> Source {
        Source::parse(text).expect("Python")
    }

    #[test]
    fn a_statement_is_known_by_scope_text_and_number() {
        let source = parse(TEXT);
        let first = source.spot(3, 8).expect("there is one");
        assert_eq!(first.scope, ["TestA", "test_x"]);
        assert_eq!(first.text, "assert f( 1 ) == 2");
        assert_eq!((first.ordinal, first.line, first.column), (0, 3, 8));
        // An operand on another line of it.
        assert_eq!(source.spot(4, 12), Some(first.clone()));
        let second = source.spot(8, 8).expect("there is one");
        assert_eq!(
            (second.text.as_str(), second.ordinal),
            (first.text.as_str(), 1)
        );
        assert_eq!(source.spots(&second.scope, &second.text), [(3, 8), (8, 8)]);
    }

    #[test]
    fn of_a_compound_statement_the_head_counts() {
        let source = parse(TEXT);
        let with = source.spot(6, 8).expect("there is one");
        assert_eq!(with.text, "with raises(E):");
        assert_eq!(source.spot(7, 12).expect("there is one").text, "g()");
    }

    #[test]
    fn lines_that_move_keep_their_statements() {
        let moved = parse(&format!("import os\n\n\n{TEXT}"));
        let before = parse(TEXT).spot(8, 8).expect("there is one");
        let after = moved.spot(11, 8).expect("there is one");
        assert_eq!(
            (before.scope, before.text, before.ordinal),
            (after.scope, after.text, after.ordinal)
        );
        assert_eq!(moved.spot(0, 0), None);
        assert_eq!(moved.spot(99, 0), None);
    }
}
