//! Simple statements, and what becomes of them.

use tree_sitter::Node;

use super::expressions::raises;
use super::operator::Operator;
use super::points::{is_extra, nth};
use super::walk::{Item, Place, Role, Stretch, Walk, above};

/// What a module says about itself to packagers and `import *`; no test is expected to notice.
const METADATA: [&str; 10] = [
    "__all__",
    "__author__",
    "__copyright__",
    "__credits__",
    "__date__",
    "__email__",
    "__license__",
    "__maintainer__",
    "__status__",
    "__version__",
];

impl<'a> Walk<'a> {
    pub(super) fn simple(&mut self, node: Node<'a>, mut place: Place) {
        place.statement = self.stands(node.byte_range());
        let slot = self.slots.statement(node);
        match node.kind() {
            "expression_statement" => self.expression_statement(node, place, slot),
            "return_statement" => {
                let Some(value) = nth(node, 0) else { return };
                if value.kind() == "none" {
                    return;
                }
                let stretch = Stretch::of(value);
                let operator = Operator::ReturnValue;
                let at = value.start_byte();
                self.change_in(place, slot, operator, at, &stretch, "None", false);
                self.values(node, place, slot);
            }
            "raise_statement" => {
                self.removed(node, place, slot, Operator::RemovedStatement);
                self.values(node, place, slot);
            }
            "assert_statement" => {
                self.removed(node, place, slot, Operator::RemovedStatement);
                self.values(node, place, slot);
            }
            "delete_statement" => {
                self.removed(node, place, slot, Operator::RemovedStatement);
                self.targets(node, place);
            }
            "break_statement" => self.instead(node, place, slot, "continue"),
            "continue_statement" => self.instead(node, place, slot, "break"),
            _ => {}
        }
    }

    fn expression_statement(&mut self, node: Node<'a>, place: Place, slot: usize) {
        let Some(child) = nth(node, 0) else { return };
        match child.kind() {
            // Docstrings, and strings that serve as comments.
            "string" | "concatenated_string" if nth(node, 1).is_none() => {}
            "assignment" => {
                if child.child_by_field_name("right").is_none() || self.is_metadata(child, place) {
                    return;
                }
                self.unassigned(node, child, place, slot);
                self.assigned(child, place, slot);
            }
            "augmented_assignment" => {
                if !self.is_metadata(child, place) {
                    self.augmented(node, child, place, slot);
                }
            }
            _ => {
                if matches!(child.kind(), "call" | "await") && nth(node, 1).is_none() {
                    self.removed(node, place, slot, Operator::RemovedCall);
                }
                self.values(node, place, slot);
            }
        }
    }

    fn is_metadata(&self, assignment: Node<'a>, place: Place) -> bool {
        let level = &self.levels[place.level];
        level.function.is_none()
            && level.classes.is_empty()
            && assignment
                .child_by_field_name("left")
                .is_some_and(|left| METADATA.contains(&self.text(left)))
    }

    /// The statement is gone. What an inner function declares `nonlocal` keeps its assignment, to `None`.
    fn unassigned(&mut self, node: Node<'a>, assignment: Node<'a>, place: Place, slot: usize) {
        if !self.notes.must_bind(self.text(node)) {
            self.removed(node, place, slot, Operator::RemovedStatement);
            return;
        }
        let mut last = assignment;
        while let Some(right) = last.child_by_field_name("right") {
            last = right;
        }
        if last.kind() != "none" && !self.notes.must_bind(self.text(last)) {
            let stretch = Stretch::of(last);
            let operator = Operator::RemovedStatement;
            let at = node.start_byte();
            self.change_in(place, slot, operator, at, &stretch, "None", false);
        }
    }

    /// The value first, then what it is assigned to.
    fn assigned(&mut self, assignment: Node<'a>, place: Place, slot: usize) {
        let mut items = Vec::new();
        let mut unpacked = false;
        let mut node = assignment;
        loop {
            if let Some(left) = node.child_by_field_name("left") {
                unpacked |= !matches!(left.kind(), "identifier" | "attribute" | "subscript");
                items.push(Item {
                    node: left,
                    role: Role::Target,
                    place,
                    above: above(node),
                });
            }
            match node.child_by_field_name("right") {
                Some(right) if right.kind() == "assignment" => node = right,
                Some(right) => {
                    let mut above = above(node);
                    if unpacked {
                        above.kind = "pattern_list";
                    }
                    items.push(Item {
                        node: right,
                        role: Role::Value(slot),
                        place,
                        above,
                    });
                    break;
                }
                None => break,
            }
        }
        self.next(items);
    }

    fn augmented(&mut self, node: Node<'a>, inner: Node<'a>, place: Place, slot: usize) {
        let (Some(left), Some(sign), Some(right)) = (
            inner.child_by_field_name("left"),
            inner.child_by_field_name("operator"),
            inner.child_by_field_name("right"),
        ) else {
            return;
        };
        if !self.notes.must_bind(self.text(node)) {
            self.removed(node, place, slot, Operator::RemovedStatement);
        }
        let text = self.layout.text;
        let other = match sign.kind() {
            "+=" => "-=",
            "-=" => "+=",
            "*=" | "//=" | "%=" => "/=",
            "/=" | "**=" | "@=" => "*=",
            ">>=" => "<<=",
            "<<=" => ">>=",
            "&=" => "|=",
            "|=" | "^=" => "&=",
            _ => return,
        };
        let stretch = Stretch::of(node);
        let plain = sign.kind().trim_end_matches('=');
        let other = Some(other).filter(|_| !raises(plain, left, right));
        for new in other.into_iter().chain(["="]) {
            let new = format!(
                "{}{new}{}",
                &text[node.start_byte()..sign.start_byte()],
                &text[sign.end_byte()..node.end_byte()]
            );
            let change = self.layout.statement(&stretch.range, &new);
            let operator = Operator::AugmentedAssignment;
            self.keep(place, slot, operator, sign.start_byte(), &stretch, change);
        }
        let role = Role::Value(self.slots.value(right));
        let item = |node, role| Item {
            node,
            role,
            place,
            above: above(inner),
        };
        self.next([item(left, Role::Target), item(right, role)]);
    }

    /// `pass` in its place; a block is never left empty.
    fn removed(&mut self, node: Node<'a>, place: Place, slot: usize, operator: Operator) {
        if self.notes.must_bind(self.text(node)) && operator != Operator::RemovedCall {
            return;
        }
        let stretch = Stretch::of(node);
        let change = self.layout.statement(&stretch.range, "pass");
        self.keep(place, slot, operator, node.start_byte(), &stretch, change);
    }

    fn instead(&mut self, node: Node<'a>, place: Place, slot: usize, new: &str) {
        let stretch = Stretch::of(node);
        let change = self.layout.statement(&stretch.range, new);
        let operator = Operator::LoopExit;
        self.keep(place, slot, operator, node.start_byte(), &stretch, change);
    }

    /// Expressions one after the other, the first of which begins with the whole.
    pub(super) fn values(&mut self, node: Node<'a>, place: Place, slot: usize) {
        let mut items = Vec::new();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if is_extra(child) {
                continue;
            }
            let slot = if items.is_empty() {
                slot
            } else {
                self.slots.value(child)
            };
            items.push(Item {
                node: child,
                role: Role::Value(slot),
                place,
                above: above(node),
            });
        }
        self.next(items);
    }

    fn targets(&mut self, node: Node<'a>, place: Place) {
        let mut cursor = node.walk();
        let items: Vec<Item<'a>> = node
            .named_children(&mut cursor)
            .filter(|child| !is_extra(*child))
            .map(|child| Item {
                node: child,
                role: Role::Target,
                place,
                above: above(node),
            })
            .collect();
        self.next(items);
    }

    /// Only what is evaluated inside: objects and indexes.
    pub(super) fn target(&mut self, item: Item<'a>) {
        match item.node.kind() {
            "attribute" => {
                if let Some(object) = item.node.child_by_field_name("object") {
                    let slot = self.slots.value(object);
                    self.next([Item {
                        node: object,
                        role: Role::Value(slot),
                        above: above(item.node),
                        ..item
                    }]);
                }
            }
            "subscript" => self.subscript(&item, None),
            "pattern_list"
            | "tuple_pattern"
            | "list_pattern"
            | "list_splat_pattern"
            | "expression_list"
            | "tuple"
            | "list"
            | "list_splat"
            | "parenthesized_expression" => self.targets(item.node, item.place),
            _ => {}
        }
    }
}
