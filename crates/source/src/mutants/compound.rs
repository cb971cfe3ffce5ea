//! Statements with blocks: conditions, handlers, definitions with their decorators and defaults.

use tree_sitter::Node;

use super::layout::is_loose;
use super::operator::Operator;
use super::points::nth;
use super::units::{Unit, block, header, name, statements};
use super::walk::{Item, Place, Role, Stretch, Walk, above};

/// Decorators of `typing` that do nothing.
const IDLE: [&str; 2] = ["final", "override"];
/// And the one whose function does nothing either.
const OVERLOAD: &str = "overload";

impl<'a> Walk<'a> {
    pub(super) fn statement(&mut self, item: Item<'a>) {
        let node = item.node;
        let mut place = item.place;
        let level = &self.levels[place.level];
        if let (Role::Statement, None) = (item.role, level.function) {
            self.units.push(Unit::import(self.source, level, node));
            place.unit = self.units.len() - 1;
        }
        match node.kind() {
            "decorated_definition" => {
                if let Some(definition) = node.child_by_field_name("definition") {
                    self.definition(node, definition, place);
                }
            }
            "function_definition" | "class_definition" => self.definition(node, node, place),
            "if_statement" | "elif_clause" | "while_statement" => self.conditional(node, place),
            "for_statement" => self.with_header(node, place, &["right"]),
            "match_statement" => self.with_header(node, place, &["subject"]),
            "with_statement" => self.with_items(node, place),
            "case_clause" => self.case(node, place),
            "except_clause" => self.handler(node, place),
            "try_statement" | "else_clause" | "finally_clause" => {
                let inner = self.clause(node, node, place);
                self.parts(node, place, inner);
            }
            _ => self.simple(node, place),
        }
    }

    /// The place of what a header governs.
    fn clause(&mut self, outer: Node<'a>, node: Node<'a>, place: Place) -> Place {
        let (range, last) = header(outer, node);
        let statement = self.stands(range);
        let first = node.start_position().row;
        Place {
            statement,
            silent: place.silent || self.notes.silence(first, last),
            ..place
        }
    }

    /// The block, and further clauses, which have headers of their own.
    fn parts(&mut self, node: Node<'a>, outside: Place, inside: Place) {
        let mut items = Vec::new();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "block" => items.extend(statements(child).into_iter().map(|statement| Item {
                    node: statement,
                    // A case is no statement of its own.
                    role: match statement.kind() {
                        "case_clause" => Role::Clause,
                        _ => Role::Statement,
                    },
                    place: inside,
                    above: above(child),
                })),
                "elif_clause" | "else_clause" | "except_clause" | "finally_clause" => {
                    items.push(Item {
                        node: child,
                        role: Role::Clause,
                        place: outside,
                        above: above(node),
                    });
                }
                _ => {}
            }
        }
        self.next(items);
    }

    fn conditional(&mut self, node: Node<'a>, place: Place) {
        let inner = self.clause(node, node, place);
        let Some(condition) = node.child_by_field_name("condition") else {
            return;
        };
        if self.is_idle(condition) {
            let mut cursor = node.walk();
            let rest: Vec<Item<'a>> = node
                .named_children(&mut cursor)
                .filter(|child| matches!(child.kind(), "elif_clause" | "else_clause"))
                .map(|child| Item {
                    node: child,
                    role: Role::Clause,
                    place,
                    above: above(node),
                })
                .collect();
            self.next(rest);
            return;
        }
        let forced: &[&str] = if node.kind() == "while_statement" {
            &["False"]
        } else {
            &["True", "False"]
        };
        self.parts(node, place, inner);
        self.forced(node, condition, inner, Operator::Condition, forced);
    }

    /// Code that tests do not run: `if TYPE_CHECKING`, `if __name__ == "__main__"`.
    fn is_idle(&self, condition: Node<'a>) -> bool {
        let text = self.text(condition);
        text == "TYPE_CHECKING"
            || text.ends_with(".TYPE_CHECKING")
            || (condition.kind() == "comparison_operator"
                && text.contains("__name__")
                && text.contains("__main__"))
    }

    /// A condition that is always or never true, and what is in it.
    pub(super) fn forced(
        &mut self,
        node: Node<'a>,
        condition: Node<'a>,
        place: Place,
        operator: Operator,
        values: &[&str],
    ) {
        let slot = self.slots.value(condition);
        let stretch = Stretch::of(condition);
        for value in values {
            let at = condition.start_byte();
            self.change_in(place, slot, operator, at, &stretch, value, false);
        }
        self.next([Item {
            node: condition,
            role: Role::Value(slot),
            place,
            above: above(node),
        }]);
    }

    fn with_header(&mut self, node: Node<'a>, place: Place, fields: &[&str]) {
        let inner = self.clause(node, node, place);
        self.parts(node, place, inner);
        let mut items = Vec::new();
        for field in fields {
            let mut cursor = node.walk();
            for value in node.children_by_field_name(field, &mut cursor) {
                if value.is_named() {
                    items.push(Item {
                        node: value,
                        role: Role::Value(self.slots.value(value)),
                        place: inner,
                        above: above(node),
                    });
                }
            }
        }
        self.next(items);
    }

    fn with_items(&mut self, node: Node<'a>, place: Place) {
        let inner = self.clause(node, node, place);
        self.parts(node, place, inner);
        let Some(clause) = nth(node, 0) else { return };
        let mut items = Vec::new();
        let mut cursor = clause.walk();
        for item in clause.named_children(&mut cursor) {
            if let Some(value) = item.child_by_field_name("value") {
                items.push(Item {
                    node: value,
                    role: Role::Value(self.slots.value(value)),
                    place: inner,
                    above: above(item),
                });
            }
        }
        self.next(items);
    }

    fn case(&mut self, node: Node<'a>, place: Place) {
        let inner = self.clause(node, node, place);
        self.parts(node, place, inner);
        let guard = node.child_by_field_name("guard");
        if let Some(condition) = guard.and_then(|guard| nth(guard, 0)) {
            let forced = ["True", "False"];
            self.forced(node, condition, inner, Operator::Condition, &forced);
        }
    }

    /// What it caught is raised again. Its types stay, and so does what is evaluated to find them. A handler that
    /// begins with a definition has no place for a point.
    fn handler(&mut self, node: Node<'a>, place: Place) {
        let inner = self.clause(node, node, place);
        self.parts(node, place, inner);
        let Some(body) = block(node) else { return };
        let all = statements(body);
        let (Some(first), Some(last)) = (all.first(), all.last()) else {
            return;
        };
        let stretch = Stretch::between(*first, *last);
        let text = &self.layout.text[stretch.range.clone()];
        if self.notes.must_bind(text) {
            return;
        }
        let Some((slot, statement)) = self.begins(*first) else {
            return;
        };
        let change = self.layout.statement(&stretch.range, "raise");
        let operator = Operator::ExceptionHandler;
        let place = Place { statement, ..inner };
        self.keep(place, slot, operator, first.start_byte(), &stretch, change);
    }

    /// The slot of the first thing that a statement does, and what it is part of.
    fn begins(&mut self, statement: Node<'a>) -> Option<(usize, usize)> {
        let mut node = statement;
        loop {
            let field = match node.kind() {
                "if_statement" | "while_statement" => "condition",
                "for_statement" => "right",
                "match_statement" => "subject",
                "try_statement" => {
                    node = *statements(node.child_by_field_name("body")?).first()?;
                    continue;
                }
                "with_statement" => {
                    let value = nth(nth(node, 0)?, 0)?.child_by_field_name("value")?;
                    return Some((self.slots.value(value), self.stands(header(node, node).0)));
                }
                "decorated_definition" | "function_definition" | "class_definition" => {
                    return None;
                }
                _ => {
                    return Some((self.slots.statement(node), self.stands(node.byte_range())));
                }
            };
            let value = node.child_by_field_name(field)?;
            return Some((self.slots.value(value), self.stands(header(node, node).0)));
        }
    }

    /// Decorators and defaults run where the definition stands; the body of an outermost function is a unit.
    fn definition(&mut self, outer: Node<'a>, node: Node<'a>, place: Place) {
        if self.is_overload(outer) {
            return;
        }
        let mut inner = self.clause(outer, node, place);
        let head = inner;
        let is_class = node.kind() == "class_definition";
        let level = self.levels[place.level].clone();
        if level.function.is_none() {
            let mut below = level.clone();
            if is_class {
                below.classes.push(name(self.source, node));
            } else {
                self.units
                    .push(Unit::function(self.source, &level, outer, node));
                inner.unit = self.units.len() - 1;
                below.function = Some(inner.unit);
            }
            self.levels.push(below);
            inner.level = self.levels.len() - 1;
        }
        if let Some(body) = node.child_by_field_name("body") {
            self.block(body, inner);
        }
        if let Some(parameters) = node.child_by_field_name("parameters") {
            self.defaults(parameters, head);
        }
        let mut cursor = outer.walk();
        let decorators: Vec<Node<'a>> = outer
            .named_children(&mut cursor)
            .filter(|child| child.kind() == "decorator")
            .collect();
        let place = Place {
            statement: head.statement,
            ..place
        };
        for decorator in decorators.into_iter().rev() {
            self.decorator(decorator, place);
        }
    }

    /// A signature for type checkers: another definition takes its name, so that its body and its defaults are never used.
    fn is_overload(&self, outer: Node<'a>) -> bool {
        let mut cursor = outer.walk();
        let mut decorators = outer
            .named_children(&mut cursor)
            .filter(|child| child.kind() == "decorator");
        decorators.any(|decorator| {
            let name =
                nth(decorator, 0).and_then(|expression| self.text(expression).rsplit('.').next());
            name == Some(OVERLOAD)
        })
    }

    /// The probe takes the place of the decorator and so is reached when that would be applied, a moment after its
    /// point, which is reached when its expression is evaluated.
    fn decorator(&mut self, node: Node<'a>, place: Place) {
        let Some(expression) = nth(node, 0) else {
            return;
        };
        let name = self.text(expression).rsplit('.').next();
        if !self.decorators || name.is_some_and(|name| IDLE.contains(&name)) {
            return;
        }
        let slot = self.slots.decorator(expression);
        let stretch = Stretch::between(node, expression);
        let stretch = Stretch {
            rows: (stretch.rows.0, expression.end_position().row),
            ..stretch
        };
        let change = self.layout.decorator(&stretch.range);
        let operator = Operator::Decorator;
        self.keep(place, slot, operator, node.start_byte(), &stretch, change);
        self.next([Item {
            node: expression,
            role: Role::Value(slot),
            place,
            above: above(node),
        }]);
    }

    /// The values that parameters have without an argument.
    pub(super) fn defaults(&mut self, parameters: Node<'a>, place: Place) {
        let mut items = Vec::new();
        let mut cursor = parameters.walk();
        for parameter in parameters.named_children(&mut cursor) {
            let is_default = matches!(
                parameter.kind(),
                "default_parameter" | "typed_default_parameter"
            );
            let value = parameter.child_by_field_name("value");
            let (true, Some(value)) = (is_default, value) else {
                continue;
            };
            let slot = self.slots.value(value);
            let item = Item {
                node: value,
                role: Role::Value(slot),
                place,
                above: above(parameter),
            };
            self.default(&item, slot);
            items.push(item);
        }
        self.next(items);
    }

    fn default(&mut self, item: &Item<'a>, slot: usize) {
        let at = item.node.start_byte();
        let operator = Operator::DefaultArgument;
        let others = self.constants(item);
        if others.is_empty() {
            self.change(item, slot, operator, at, "None", false);
        }
        for other in others {
            self.change(item, slot, operator, at, &other, is_loose(item.node.kind()));
        }
    }
}
