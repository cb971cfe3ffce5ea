//! The way through a file: every statement and expression once, with what is known about the place it stands in.
//!
//! Owns the order of evaluation (which part begins together with the whole, which on its own) and what is kept of
//! a change. A stack instead of recursion: trees of hostile files are deep.

use std::collections::HashSet;
use std::ops::Range;

use tree_sitter::Node;

use super::layout::{Change, Layout};
use super::operator::Operator;
use super::points::Slots;
use super::pragma::Notes;
use super::units::{Level, Unit};
use crate::python::Source;

/// Expressions that are longer get no other operator inside: a chain of n operators has n texts that long.
const LONGEST: usize = 10_000;
/// The same once a file has mutants of that many bytes in all: a file of nothing but such chains must not take all
/// memory. Files people write have a hundredth of it.
const MOST: usize = 64 << 20;
const SHORT: usize = 200;

/// What a node is to be taken for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Role {
    Statement,
    /// `elif`, `except` and the like: part of a statement that was met before.
    Clause,
    /// Evaluated from that slot on.
    Value(usize),
    /// Assigned to or deleted; only what is evaluated inside counts.
    Target,
}

/// Where a node stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) level: usize,
    pub(super) unit: usize,
    /// Into the statements of the walk.
    pub(super) statement: usize,
    /// A pragma says to leave it alone.
    pub(super) silent: bool,
    /// Inside of an f-string.
    pub(super) quoted: bool,
}

/// The kind of the node above, and its operator if it has one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Above {
    pub(super) kind: &'static str,
    pub(super) operator: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Item<'a> {
    pub(super) node: Node<'a>,
    pub(super) role: Role,
    pub(super) place: Place,
    pub(super) above: Above,
}

/// Bytes that are replaced, and the lines they are on.
#[derive(Debug, Clone)]
pub(super) struct Stretch {
    pub(super) range: Range<usize>,
    pub(super) rows: (usize, usize),
}

impl Stretch {
    pub(super) fn of(node: Node<'_>) -> Self {
        Self::between(node, node)
    }

    pub(super) fn between(first: Node<'_>, last: Node<'_>) -> Self {
        Self {
            range: first.start_byte()..last.end_byte(),
            rows: (first.start_position().row, last.end_position().row),
        }
    }
}

/// A mutation as it is found; its line, column and id come when all are known.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) operator: Operator,
    /// Where the node that changes starts.
    pub(super) at: usize,
    pub(super) span: Range<usize>,
    pub(super) change: Change,
    pub(super) point: usize,
    pub(super) unit: usize,
    pub(super) statement: usize,
}

pub(super) struct Walk<'a> {
    pub(super) source: &'a Source,
    pub(super) layout: Layout<'a>,
    pub(super) notes: Notes<'a>,
    pub(super) slots: Slots<'a>,
    pub(super) units: Vec<Unit>,
    pub(super) levels: Vec<Level>,
    pub(super) statements: Vec<Range<usize>>,
    pub(super) found: Vec<Found>,
    pub(super) excluded: usize,
    /// Of everything found.
    bytes: usize,
    /// A decorator that is told from inside a call of `getattr` needs that name.
    pub(super) decorators: bool,
    /// What differs between the file and a mutant: where, how many bytes of the file, what instead.
    seen: HashSet<(usize, usize, Vec<u8>)>,
    stack: Vec<Item<'a>>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        let text = source.text();
        let hides = ["def getattr", "getattr =", "import getattr", "as getattr"];
        Self {
            source,
            layout: Layout::new(text),
            notes: Notes::new(source),
            slots: Slots::default(),
            units: Vec::new(),
            levels: vec![Level::default()],
            statements: Vec::new(),
            found: Vec::new(),
            excluded: 0,
            bytes: 0,
            decorators: !hides.iter().any(|hiding| text.contains(hiding)),
            seen: HashSet::new(),
            stack: Vec::new(),
        }
    }

    pub(super) fn run(&mut self) {
        let place = Place {
            level: 0,
            unit: 0,
            statement: 0,
            silent: false,
            quoted: false,
        };
        self.block(self.source.root(), place);
        while let Some(item) = self.stack.pop() {
            match item.role {
                Role::Statement | Role::Clause => self.statement(item),
                Role::Value(slot) => self.value(item, slot),
                Role::Target => self.target(item),
            }
        }
    }

    pub(super) fn text(&self, node: Node<'_>) -> &'a str {
        &self.layout.text[node.byte_range()]
    }

    /// What comes next, in the order it stands in the file.
    pub(super) fn next(&mut self, items: impl IntoIterator<Item = Item<'a>>) {
        let from = self.stack.len();
        self.stack.extend(items);
        self.stack[from..].reverse();
    }

    pub(super) fn block(&mut self, block: Node<'a>, place: Place) {
        let items: Vec<Item<'a>> = super::units::statements(block)
            .into_iter()
            .map(|node| Item {
                node,
                role: Role::Statement,
                place,
                above: above(block),
            })
            .collect();
        self.next(items);
    }

    /// A statement of the file that points and ids refer to.
    pub(super) fn stands(&mut self, range: Range<usize>) -> usize {
        self.statements.push(range);
        self.statements.len() - 1
    }

    /// An expression with another in its place.
    pub(super) fn change(
        &mut self,
        item: &Item<'a>,
        slot: usize,
        operator: Operator,
        at: usize,
        new: &str,
        loose: bool,
    ) {
        let stretch = Stretch::of(item.node);
        self.change_in(item.place, slot, operator, at, &stretch, new, loose);
    }

    #[expect(clippy::too_many_arguments, reason = "they are one mutation")]
    pub(super) fn change_in(
        &mut self,
        place: Place,
        slot: usize,
        operator: Operator,
        at: usize,
        stretch: &Stretch,
        new: &str,
        loose: bool,
    ) {
        let old = &self.layout.text[stretch.range.clone()];
        let quotes = |text: &str| text.matches(['"', '\'', '\\']).count();
        if place.quoted && quotes(new) > quotes(old) {
            return;
        }
        let change = self.layout.expression(&stretch.range, new, loose);
        self.keep(place, slot, operator, at, stretch, change);
    }

    /// Whether a text for each of its operators is too much.
    pub(super) fn is_long(&self, node: Node<'_>) -> bool {
        let length = node.byte_range().len();
        length > LONGEST || (self.bytes > MOST && length > SHORT)
    }

    pub(super) fn keep(
        &mut self,
        place: Place,
        slot: usize,
        operator: Operator,
        at: usize,
        stretch: &Stretch,
        change: Change,
    ) {
        let span = stretch.range.clone();
        if self.layout.text[span.clone()] == change.plain {
            return;
        }
        let key = difference(self.layout.text, &span, &change.plain);
        if self.seen.contains(&key) {
            return;
        }
        let Some(point) = self.slots.point(slot, place.unit, place.statement) else {
            return;
        };
        self.seen.insert(key);
        if place.silent || self.notes.silence(stretch.rows.0, stretch.rows.1) {
            self.excluded += 1;
            return;
        }
        self.bytes += change.plain.len() + change.probed.len();
        self.found.push(Found {
            operator,
            at,
            span,
            change,
            point,
            unit: place.unit,
            statement: place.statement,
        });
    }
}

pub(super) fn above(node: Node<'_>) -> Above {
    let operator = match node.kind() {
        "binary_operator" | "boolean_operator" | "unary_operator" => node
            .child_by_field_name("operator")
            .map_or("", |o| o.kind()),
        _ => "",
    };
    Above {
        kind: node.kind(),
        operator,
    }
}

/// Two mutants are the same text exactly if this is the same.
fn difference(text: &str, span: &Range<usize>, new: &str) -> (usize, usize, Vec<u8>) {
    let old = &text.as_bytes()[span.start..];
    let rest = &text.as_bytes()[span.end..];
    let whole = || new.bytes().chain(rest.iter().copied());
    let same = old
        .iter()
        .zip(whole())
        .take_while(|(old, new)| **old == *new)
        .count();
    let (was, is) = (span.len(), new.len());
    if same >= was.min(is) {
        // Something was only added or only taken away, perhaps next to its like.
        let added: Vec<u8> = whole().skip(same).take(is.saturating_sub(was)).collect();
        return (span.start + same, was.saturating_sub(is), added);
    }
    let old = &text.as_bytes()[span.start + same..span.end];
    let new = &new.as_bytes()[same..];
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(|(old, new)| old == new)
        .count();
    (
        span.start + same,
        old.len() - tail,
        new[..new.len() - tail].to_vec(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutants_of_the_same_text_differ_in_the_same_way() {
        let text = "while aab and True: x";
        let span = 6..18;
        assert_eq!(&text[span.clone()], "aab and True");
        assert_eq!(
            difference(text, &span, "aab and False"),
            difference(text, &(14..18), "False")
        );
        assert_eq!(difference(text, &(6..7), ""), difference(text, &(7..8), ""));
        assert_eq!(
            difference(text, &(6..6), "a"),
            difference(text, &(8..8), "a")
        );
        assert_ne!(
            difference(text, &(6..6), "a"),
            difference(text, &(9..9), "a")
        );
    }
}
