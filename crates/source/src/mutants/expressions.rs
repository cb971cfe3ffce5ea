//! Expressions: what each kind becomes, and in which order its parts are evaluated.

use tree_sitter::Node;

use super::constants::{marked, numbers};
use super::layout::is_loose;
use super::operator::Operator;
use super::points::{is_extra, nth};
use super::walk::{Above, Item, Role, Walk, above};

impl<'a> Walk<'a> {
    pub(super) fn value(&mut self, item: Item<'a>, slot: usize) {
        match item.node.kind() {
            "binary_operator" => self.binary(&item, slot),
            "comparison_operator" => self.comparison(&item, slot),
            "boolean_operator" => self.boolean(&item, slot),
            "not_operator" | "unary_operator" => self.unary(&item, slot),
            "conditional_expression" => self.ternary(&item, slot),
            "integer" | "float" | "true" | "false" | "none" => self.constant(&item, slot),
            "string" | "concatenated_string" => {
                self.constant(&item, slot);
                self.interpolations(&item);
            }
            "list" | "tuple" | "set" | "dictionary" | "expression_list" => {
                self.container(&item, slot);
                self.parts_of(&item, slot);
            }
            "subscript" => {
                self.slices(&item, slot);
                self.subscript(&item, Some(slot));
            }
            "call" => self.call(&item, slot),
            "attribute" => self.field(&item, "object", slot),
            "named_expression" | "keyword_argument" => self.field(&item, "value", slot),
            "lambda" => self.lambda(&item),
            "list_comprehension"
            | "set_comprehension"
            | "dictionary_comprehension"
            | "generator_expression" => self.comprehension(&item, slot),
            "yield" => self.yields(&item, slot),
            "as_pattern" => {
                if let Some(value) = nth(item.node, 0) {
                    self.below(&item, [(value, slot)]);
                }
            }
            "await"
            | "parenthesized_expression"
            | "list_splat"
            | "list_splat_pattern"
            | "dictionary_splat"
            | "pair"
            | "pattern_list"
            | "tuple_pattern"
            | "list_pattern" => self.parts_of(&item, slot),
            _ => {}
        }
    }

    fn below<const N: usize>(&mut self, item: &Item<'a>, parts: [(Node<'a>, usize); N]) {
        let above = above(item.node);
        self.next(parts.map(|(node, slot)| Item {
            node,
            role: Role::Value(slot),
            above,
            ..*item
        }));
    }

    fn parts_of(&mut self, item: &Item<'a>, slot: usize) {
        self.values(item.node, item.place, slot);
    }

    fn field(&mut self, item: &Item<'a>, field: &str, slot: usize) {
        if let Some(value) = item.node.child_by_field_name(field) {
            self.below(item, [(value, slot)]);
        }
    }

    /// Starred operands and texts without end are left alone.
    fn is_left(&self, node: Node<'a>) -> bool {
        self.text(node).starts_with('*') || self.is_long(node)
    }

    fn binary(&mut self, item: &Item<'a>, slot: usize) {
        let node = item.node;
        let (Some(left), Some(sign), Some(right)) = (
            node.child_by_field_name("left"),
            node.child_by_field_name("operator"),
            node.child_by_field_name("right"),
        ) else {
            return;
        };
        let old = sign.kind();
        let other = other_sign(old).filter(|_| !raises(old, left, right) && !self.is_left(node));
        if let Some((new, operator)) = other.filter(|_| !mixed(item, left, right, old)) {
            let (was, is) = (strength(old), strength(new));
            let enclose = |operand: Node<'a>, enough: u8| {
                let text = self.text(operand);
                let weak = operand.kind() == "binary_operator"
                    && strength(above(operand).operator) < enough;
                if weak {
                    format!("({text})")
                } else {
                    text.into()
                }
            };
            let (first, last) = if is > was {
                (enclose(left, is), enclose(right, is + 1))
            } else {
                (self.text(left).into(), self.text(right).into())
            };
            let text = self.layout.text;
            let changed = format!(
                "{first}{}{new}{}{last}",
                &text[left.end_byte()..sign.start_byte()],
                &text[sign.end_byte()..right.start_byte()]
            );
            let tight = matches!(
                item.above.kind,
                "binary_operator" | "unary_operator" | "await"
            );
            let changed = if is < was && tight {
                format!("({changed})")
            } else {
                changed
            };
            self.change(item, slot, operator, sign.start_byte(), &changed, false);
        }
        let second = self.slots.value(right);
        self.below(item, [(left, slot), (right, second)]);
    }

    fn comparison(&mut self, item: &Item<'a>, slot: usize) {
        let node = item.node;
        if !self.is_left(node) {
            let text = self.layout.text;
            let mut cursor = node.walk();
            let signs: Vec<Node<'a>> = node
                .children_by_field_name("operators", &mut cursor)
                .collect();
            for sign in signs {
                use Operator::{ComparisonBoundary, ComparisonNegation};
                let (boundary, negation) = match sign.kind() {
                    "<" => (Some("<="), ">="),
                    "<=" => (Some("<"), ">"),
                    ">" => (Some(">="), "<="),
                    ">=" => (Some(">"), "<"),
                    "==" => (None, "!="),
                    "!=" => (None, "=="),
                    "in" => (None, "not in"),
                    "not in" => (None, "in"),
                    "is" => (None, "is not"),
                    "is not" => (None, "is"),
                    _ => continue,
                };
                if self.is_long(node) {
                    break;
                }
                let all = boundary.map(|sign| (sign, ComparisonBoundary));
                for (new, operator) in all.into_iter().chain([(negation, ComparisonNegation)]) {
                    let changed = format!(
                        "{}{new}{}",
                        &text[node.start_byte()..sign.start_byte()],
                        &text[sign.end_byte()..node.end_byte()]
                    );
                    self.change(item, slot, operator, sign.start_byte(), &changed, false);
                }
            }
        }
        self.parts_of(item, slot);
    }

    fn boolean(&mut self, item: &Item<'a>, slot: usize) {
        let node = item.node;
        let (Some(left), Some(sign), Some(right)) = (
            node.child_by_field_name("left"),
            node.child_by_field_name("operator"),
            node.child_by_field_name("right"),
        ) else {
            return;
        };
        if !self.is_left(node) {
            let to_or = sign.kind() == "and";
            let enclose = |operand: Node<'a>| {
                let text = self.text(operand);
                let weak = !to_or && above(operand).operator == "or";
                if weak {
                    format!("({text})")
                } else {
                    text.into()
                }
            };
            let text = self.layout.text;
            let changed = format!(
                "{}{}{}{}{}",
                enclose(left),
                &text[left.end_byte()..sign.start_byte()],
                if to_or { "or" } else { "and" },
                &text[sign.end_byte()..right.start_byte()],
                enclose(right)
            );
            let tight = item.above.operator == "and" || item.above.kind == "not_operator";
            let changed = if to_or && tight {
                format!("({changed})")
            } else {
                changed
            };
            let operator = Operator::Boolean;
            let loose = is_loose(right.kind());
            self.change(item, slot, operator, sign.start_byte(), &changed, loose);
        }
        let second = self.slots.value(right);
        self.below(item, [(left, slot), (right, second)]);
    }

    fn unary(&mut self, item: &Item<'a>, slot: usize) {
        let Some(argument) = item.node.child_by_field_name("argument") else {
            return;
        };
        if !self.is_long(item.node) {
            let changed = match above(item.node).operator {
                "+" => format!("-{}", self.text(argument)),
                _ => self.text(argument).into(),
            };
            let at = item.node.start_byte();
            self.change(item, slot, Operator::Unary, at, &changed, false);
        }
        self.below(item, [(argument, slot)]);
    }

    /// Both branches begin when the condition has decided.
    fn ternary(&mut self, item: &Item<'a>, slot: usize) {
        let (Some(yes), Some(condition), Some(no)) =
            (nth(item.node, 0), nth(item.node, 1), nth(item.node, 2))
        else {
            return;
        };
        let inner = Item {
            node: condition,
            above: above(item.node),
            ..*item
        };
        for value in ["True", "False"] {
            let at = condition.start_byte();
            self.change(&inner, slot, Operator::Condition, at, value, false);
        }
        let (first, last) = (self.slots.value(yes), self.slots.value(no));
        self.below(item, [(yes, first), (condition, slot), (no, last)]);
    }

    fn constant(&mut self, item: &Item<'a>, slot: usize) {
        let operator = match item.node.kind() {
            "integer" | "float" => Operator::Number,
            "true" | "false" => Operator::Truth,
            "none" => Operator::Nothing,
            _ => Operator::Text,
        };
        let at = item.node.start_byte();
        for new in self.constants(item) {
            self.change(item, slot, operator, at, &new, false);
        }
    }

    /// What a literal becomes; nothing if it is none. `None` becomes something that is true, so that neither
    /// `is None` nor plain truth can take one for the other.
    pub(super) fn constants(&self, item: &Item<'a>) -> Vec<String> {
        let text = self.text(item.node);
        match item.node.kind() {
            "integer" | "float" => numbers(text)
                .into_iter()
                .map(|new| match new.starts_with('-') && binds(item.above) {
                    true => format!("({new})"),
                    false => new,
                })
                .collect(),
            "true" => vec!["False".into()],
            "false" => vec!["True".into()],
            // `is None` would compare identity with a literal, and nothing but an exception is a cause.
            "none" if matches!(item.above.kind, "comparison_operator" | "raise_statement") => {
                Vec::new()
            }
            "none" => vec!["\"XX\"".into()],
            "string" => self.string(item.node, item.node).into_iter().collect(),
            "concatenated_string" => {
                let last = item.node.named_child_count().saturating_sub(1);
                match (nth(item.node, 0), item.node.named_child(last)) {
                    (Some(first), Some(last)) => self.string(first, last).into_iter().collect(),
                    _ => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }

    /// From the first string of a concatenation to its last.
    fn string(&self, first: Node<'a>, last: Node<'a>) -> Option<String> {
        let length = |node: Option<Node<'a>>| node.map(|node| node.byte_range().len());
        let open = length(first.child(0))?;
        let count = last.child_count();
        let close = length(last.child(count.checked_sub(1)?))?;
        let text = &self.layout.text[first.start_byte()..last.end_byte()];
        marked(text, open, close)
    }

    /// Expressions in f-strings, but for those that show their own text.
    fn interpolations(&mut self, item: &Item<'a>) {
        let mut waiting = vec![item.node];
        let mut items = Vec::new();
        while let Some(node) = waiting.pop() {
            let mut cursor = node.walk();
            for child in node.named_children(&mut cursor) {
                if child.kind() == "string" {
                    waiting.push(child);
                }
                if child.kind() != "interpolation" {
                    continue;
                }
                let mut inner = child.walk();
                let shown = child.children(&mut inner).any(|part| part.kind() == "=");
                // `{x:=5}` is a format specification, whatever the parser says.
                let value = child
                    .child_by_field_name("expression")
                    .filter(|value| !matches!(value.kind(), "named_expression" | "lambda"));
                if let (false, Some(value)) = (shown, value) {
                    let mut place = item.place;
                    place.quoted = true;
                    items.push(Item {
                        node: value,
                        role: Role::Value(self.slots.value(value)),
                        place,
                        above: above(child),
                    });
                }
            }
        }
        self.next(items);
    }

    fn container(&mut self, item: &Item<'a>, slot: usize) {
        let (open, close) = match item.node.kind() {
            "list" => ("[", ']'),
            "set" => ("set(", ')'),
            "dictionary" => ("{", '}'),
            _ => ("(", ')'),
        };
        // Unpacking nothing only raises; `with (a, b):` is no tuple.
        let left = matches!(item.above.kind, "pattern_list" | "with_item");
        if left || nth(item.node, 0).is_none() || self.notes.must_bind(self.text(item.node)) {
            return;
        }
        let at = item.node.start_byte();
        let empty = self.layout.empty(&item.node.byte_range(), open, close);
        self.change(item, slot, Operator::Container, at, &empty, false);
    }

    /// Each bound of a slice is dropped, unless it is what a bound that is not there means.
    fn slices(&mut self, item: &Item<'a>, slot: usize) {
        let node = item.node;
        if self.is_long(node) {
            return;
        }
        let text = self.layout.text;
        let mut cursor = node.walk();
        let all: Vec<Node<'a>> = node
            .children_by_field_name("subscript", &mut cursor)
            .filter(|child| child.kind() == "slice")
            .collect();
        for slice in all {
            let mut cursor = slice.walk();
            let mut colons = 0;
            let forward = self.steps_forward(slice);
            for bound in slice.children(&mut cursor) {
                if bound.kind() == ":" {
                    colons += 1;
                } else if bound.is_named() && !is_extra(bound) && colons < 2 {
                    let from_start = colons == 0 && forward && self.text(bound) == "0";
                    if from_start || bound.kind() == "none" {
                        continue;
                    }
                    let changed = format!(
                        "{}{}",
                        &text[node.start_byte()..bound.start_byte()],
                        text[bound.end_byte()..node.end_byte()].trim_start_matches(' ')
                    );
                    let at = bound.start_byte();
                    self.change(item, slot, Operator::Slice, at, &changed, false);
                }
            }
        }
    }

    /// Without a step, or with one that is a number above 0.
    fn steps_forward(&self, slice: Node<'a>) -> bool {
        let mut cursor = slice.walk();
        let behind = slice
            .children(&mut cursor)
            .skip_while(|child| child.kind() != ":")
            .skip(1)
            .skip_while(|child| child.kind() != ":")
            .skip(1);
        let mut steps = behind.filter(|child| child.is_named() && !is_extra(*child));
        steps.all(|step| matches!(step.kind(), "integer" | "none") && self.text(step) != "0")
    }

    /// The object, then the indexes. An object that is only assigned through begins on its own.
    pub(super) fn subscript(&mut self, item: &Item<'a>, slot: Option<usize>) {
        let mut items = Vec::new();
        let index_of = Above {
            kind: "index",
            operator: "",
        };
        if let Some(value) = item.node.child_by_field_name("value") {
            let slot = slot.unwrap_or_else(|| self.slots.value(value));
            items.push((value, slot, above(item.node)));
        }
        let mut cursor = item.node.walk();
        let indexes = item
            .node
            .children_by_field_name("subscript", &mut cursor)
            .filter(Node::is_named);
        for index in indexes {
            if index.kind() == "slice" {
                let mut cursor = index.walk();
                for bound in index.named_children(&mut cursor) {
                    items.push((bound, self.slots.value(bound), index_of));
                }
            } else {
                items.push((index, self.slots.value(index), index_of));
            }
        }
        self.next(items.into_iter().map(|(node, slot, above)| Item {
            node,
            role: Role::Value(slot),
            above,
            ..*item
        }));
    }

    fn call(&mut self, item: &Item<'a>, slot: usize) {
        let (Some(function), Some(arguments)) = (
            item.node.child_by_field_name("function"),
            item.node.child_by_field_name("arguments"),
        ) else {
            return;
        };
        let mut items = vec![(function, slot, above(item.node))];
        if arguments.kind() == "argument_list" {
            let mut cursor = arguments.walk();
            for argument in arguments.named_children(&mut cursor) {
                if !is_extra(argument) {
                    items.push((argument, self.slots.value(argument), above(arguments)));
                }
            }
        } else {
            items.push((arguments, self.slots.value(arguments), above(item.node)));
        }
        self.next(items.into_iter().map(|(node, slot, above)| Item {
            node,
            role: Role::Value(slot),
            above,
            ..*item
        }));
    }

    fn lambda(&mut self, item: &Item<'a>) {
        if let Some(body) = item.node.child_by_field_name("body") {
            let slot = self.slots.value(body);
            let inner = Item {
                node: body,
                role: Role::Value(slot),
                above: above(item.node),
                ..*item
            };
            if body.kind() != "none" {
                let at = body.start_byte();
                self.change(&inner, slot, Operator::ReturnValue, at, "None", false);
            }
            self.next([inner]);
        }
        if let Some(parameters) = item.node.child_by_field_name("parameters") {
            self.defaults(parameters, item.place);
        }
    }

    /// The first iterable begins with the whole; everything else may never come.
    fn comprehension(&mut self, item: &Item<'a>, slot: usize) {
        let mut first = true;
        let mut cursor = item.node.walk();
        let parts: Vec<Node<'a>> = item
            .node
            .named_children(&mut cursor)
            .filter(|part| !is_extra(*part))
            .collect();
        for part in parts.into_iter().rev() {
            match part.kind() {
                "for_in_clause" => {}
                "if_clause" => {
                    if let Some(condition) = nth(part, 0) {
                        let operator = Operator::ComprehensionCondition;
                        let forced = ["True", "False"];
                        self.forced(part, condition, item.place, operator, &forced);
                    }
                }
                "pair" => {
                    let key = part.child_by_field_name("key");
                    let value = part.child_by_field_name("value");
                    if let (Some(key), Some(value)) = (key, value) {
                        let slots = (self.slots.value(key), self.slots.value(value));
                        self.below(item, [(key, slots.0), (value, slots.1)]);
                    }
                }
                _ => {
                    let own = self.slots.value(part);
                    self.below(item, [(part, own)]);
                }
            }
        }
        let mut cursor = item.node.walk();
        let loops: Vec<Node<'a>> = item
            .node
            .named_children(&mut cursor)
            .filter(|part| part.kind() == "for_in_clause")
            .collect();
        for part in loops {
            let mut cursor = part.walk();
            for right in part.children_by_field_name("right", &mut cursor) {
                if right.is_named() {
                    let own = if first { slot } else { self.slots.value(right) };
                    first = false;
                    self.below(item, [(right, own)]);
                }
            }
        }
    }

    fn yields(&mut self, item: &Item<'a>, slot: usize) {
        let Some(value) = nth(item.node, 0) else {
            return;
        };
        let mut cursor = item.node.walk();
        let from = item
            .node
            .children(&mut cursor)
            .any(|part| part.kind() == "from");
        let (same, new) = if from {
            (self.text(value) == "()", "yield from ()")
        } else {
            (value.kind() == "none", "yield None")
        };
        if !same {
            let at = item.node.start_byte();
            self.change(item, slot, Operator::Yield, at, new, true);
        }
        self.below(item, [(value, slot)]);
    }
}

fn other_sign(sign: &str) -> Option<(&'static str, Operator)> {
    use Operator::{Arithmetic, Bitwise};
    Some(match sign {
        "+" => ("-", Arithmetic),
        "-" => ("+", Arithmetic),
        "*" | "//" | "%" => ("/", Arithmetic),
        "/" | "**" | "@" => ("*", Arithmetic),
        "<<" => (">>", Bitwise),
        ">>" => ("<<", Bitwise),
        "&" => ("|", Bitwise),
        "|" | "^" => ("&", Bitwise),
        _ => return None,
    })
}

/// How tightly a binary operator binds in Python.
fn strength(sign: &str) -> u8 {
    match sign {
        "|" => 1,
        "^" => 2,
        "&" => 3,
        "<<" | ">>" => 4,
        "+" | "-" => 5,
        "**" => 7,
        _ => 6,
    }
}

/// Strings have no `-` and no `/`: what can only raise tells nothing about tests. `old` is the sign as it stands between
/// operands, without the `=` of an assignment.
pub(super) fn raises(old: &str, left: Node<'_>, right: Node<'_>) -> bool {
    let is_text = |node: Node<'_>| matches!(node.kind(), "string" | "concatenated_string");
    matches!(old, "+" | "%") && (is_text(left) || is_text(right))
}

/// The parser takes `^` for tighter than `&`, Python does not: where both meet, its operands are not Python's.
fn mixed(item: &Item<'_>, left: Node<'_>, right: Node<'_>, sign: &str) -> bool {
    let both = |other: &str| matches!((sign, other), ("&", "^") | ("^", "&"));
    both(item.above.operator) || both(above(left).operator) || both(above(right).operator)
}

/// Whether what stands below binds tighter than a sign.
fn binds(above: Above) -> bool {
    matches!(above.kind, "attribute" | "subscript" | "call") || above.operator == "**"
}
