//! Where evaluation begins, and how a file tells that it got there.
//!
//! An expression begins with the first thing that is evaluated in it: `a.b(c) + d` with `a`, `x if y else z` with
//! `y`, a comprehension with its first iterable. All expressions that begin with the same thing share one point, and
//! the point is put on that thing alone, `(__flakelab_hit__(7, 1) or a)`: however deep code is nested, a point adds
//! no more than two parentheses. What begins together with a simple statement is told by a call in front
//! of the statement.

use std::collections::HashMap;
use std::ops::Range;

use tree_sitter::Node;

use super::layout::HIT;

/// How a point is written into the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    /// In front of a simple statement.
    Statement(usize),
    /// Around the first thing that is evaluated; with parentheses of its own where it binds less than `or`.
    Around(Range<usize>, bool),
    /// Around the expression of a decorator. Before Python 3.9 only names and calls of them may stand there, so it is
    /// `@getattr(__flakelab_hit__(7, 1), "_", expression)`: `None` has no such attribute, and what is left is the
    /// expression.
    Decorator(Range<usize>),
}

impl Form {
    pub(super) fn start(&self) -> usize {
        match self {
            Self::Statement(at) => *at,
            Self::Around(range, _) | Self::Decorator(range) => range.start,
        }
    }
}

/// A place that becomes a point once a mutation needs it.
#[derive(Debug, Clone)]
struct Slot<'a> {
    root: Root<'a>,
    point: Option<Option<usize>>,
}

#[derive(Debug, Clone, Copy)]
enum Root<'a> {
    Statement(Node<'a>),
    Value(Node<'a>),
    Decorator(Node<'a>),
}

/// A point as it is found; lines and columns come when all are known.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) form: Form,
    pub(super) unit: usize,
    pub(super) statement: usize,
}

#[derive(Debug, Default)]
pub(super) struct Slots<'a> {
    slots: Vec<Slot<'a>>,
    known: HashMap<usize, usize>,
    pub(super) drafts: Vec<Draft>,
}

impl<'a> Slots<'a> {
    fn slot(&mut self, root: Root<'a>) -> usize {
        let (Root::Statement(node) | Root::Value(node) | Root::Decorator(node)) = root;
        *self.known.entry(node.id()).or_insert_with(|| {
            self.slots.push(Slot { root, point: None });
            self.slots.len() - 1
        })
    }

    pub(super) fn statement(&mut self, node: Node<'a>) -> usize {
        self.slot(Root::Statement(node))
    }

    pub(super) fn value(&mut self, node: Node<'a>) -> usize {
        self.slot(Root::Value(node))
    }

    pub(super) fn decorator(&mut self, node: Node<'a>) -> usize {
        self.slot(Root::Decorator(node))
    }

    /// The point of a slot; `None` if nothing can be written there.
    pub(super) fn point(&mut self, slot: usize, unit: usize, statement: usize) -> Option<usize> {
        let slot = &mut self.slots[slot];
        if let Some(known) = slot.point {
            return known;
        }
        let form = match slot.root {
            Root::Statement(node) => Some(Form::Statement(node.start_byte())),
            Root::Decorator(node) => Some(Form::Decorator(node.byte_range())),
            Root::Value(node) => around(node),
        };
        let point = form.map(|form| {
            self.drafts.push(Draft {
                form,
                unit,
                statement,
            });
            self.drafts.len() - 1
        });
        slot.point = Some(point);
        point
    }
}

fn around(node: Node<'_>) -> Option<Form> {
    let mut leaf = node;
    while let Some(first) = first(leaf) {
        leaf = first;
    }
    let inner = match leaf.kind() {
        "identifier"
        | "string"
        | "concatenated_string"
        | "integer"
        | "float"
        | "true"
        | "false"
        | "none"
        | "ellipsis"
        | "list"
        | "tuple"
        | "dictionary" => false,
        "lambda" | "yield" => true,
        _ => return None,
    };
    Some(Form::Around(leaf.byte_range(), inner))
}

/// The part that is evaluated first; `None` for what has no parts, or evaluates none of them yet.
pub(super) fn first(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "binary_operator" | "boolean_operator" => node.child_by_field_name("left"),
        "not_operator" | "unary_operator" => node.child_by_field_name("argument"),
        "attribute" => node.child_by_field_name("object"),
        "subscript" | "named_expression" | "keyword_argument" => node.child_by_field_name("value"),
        "call" => node.child_by_field_name("function"),
        "pair" => node.child_by_field_name("key"),
        "conditional_expression" => nth(node, 1),
        "list_comprehension"
        | "set_comprehension"
        | "dictionary_comprehension"
        | "generator_expression" => {
            let mut cursor = node.walk();
            node.named_children(&mut cursor)
                .find(|child| child.kind() == "for_in_clause")?
                .child_by_field_name("right")
        }
        "assignment" | "augmented_assignment" => node.child_by_field_name("right"),
        "comparison_operator"
        | "await"
        | "parenthesized_expression"
        | "list"
        | "tuple"
        | "set"
        | "dictionary"
        | "list_splat"
        | "dictionary_splat"
        | "expression_list"
        | "pattern_list"
        | "list_pattern"
        | "tuple_pattern"
        | "list_splat_pattern"
        | "yield"
        | "as_pattern" => nth(node, 0),
        _ => None,
    }
}

/// A named child, comments left out.
pub(super) fn nth(node: Node<'_>, at: usize) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .filter(|child| !is_extra(*child))
        .nth(at)
}

pub(super) fn is_extra(node: Node<'_>) -> bool {
    matches!(node.kind(), "comment" | "line_continuation")
}

/// The file with a call at every point. `forms` are numbered from `first`.
pub(super) fn instrumented<'f>(
    text: &str,
    forms: impl Iterator<Item = &'f Form>,
    first: usize,
) -> String {
    // Where, what closes before what opens, outer before inner for what opens and inner before outer for what closes.
    let mut pieces: Vec<(usize, u8, usize, String)> = Vec::new();
    for (at, form) in forms.enumerate() {
        let call = format!("{HIT}({}, 1)", first + at);
        match form {
            Form::Statement(start) => pieces.push((*start, 1, 0, format!("{call}; "))),
            Form::Around(range, inner) => {
                let (open, close) = if *inner { ("(", "))") } else { ("", ")") };
                pieces.push((range.start, 2, 0, format!("({call} or {open}")));
                pieces.push((range.end, 0, usize::MAX - range.start, close.into()));
            }
            Form::Decorator(range) => {
                pieces.push((range.start, 1, 0, format!("getattr({call}, \"_\", ")));
                pieces.push((range.end, 0, usize::MAX - range.start, ")".into()));
            }
        }
    }
    pieces.sort_unstable_by_key(|(at, order, tie, _)| (*at, *order, *tie));
    let mut out = String::with_capacity(text.len() + 32 * pieces.len());
    let mut done = 0;
    for (at, _, _, piece) in &pieces {
        out.push_str(&text[done..*at]);
        out.push_str(piece);
        done = *at;
    }
    out.push_str(&text[done..]);
    out
}
