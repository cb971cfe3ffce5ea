//! What a single statement writes, taken apart.

use std::ops::Range;

use tree_sitter::Node;

use crate::python::{Function, Source};

/// Parts are source text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// `owner.name = value`
    Attribute {
        owner: String,
        name: String,
        value: String,
        /// It was `owner.name += …`: what the slot holds may have been changed in place.
        updates: bool,
    },
    /// `owner[key] = value`
    Item {
        owner: String,
        key: String,
        value: String,
        updates: bool,
    },
    /// `del owner.name`
    NoAttribute { owner: String, name: String },
    /// `del owner[key]`
    NoItem { owner: String, key: String },
    /// `function(arguments)`, its value unused
    Call {
        function: String,
        arguments: Vec<String>,
    },
}

impl Function<'_> {
    /// The statement that starts at or spans a line (from 1) of the file, if it is a plain write.
    pub fn write_at(self, line: usize) -> Option<(Range<usize>, Write)> {
        let row = line.checked_sub(1)?;
        let body = self.node.child_by_field_name("body")?;
        let node = innermost(body, row)?;
        let write = self.source.write(node)?;
        Some((node.byte_range(), write))
    }

    /// Whether a line (from 1) of the file lies in it.
    pub fn contains_line(self, line: usize) -> bool {
        let rows = self.node.start_position().row..=self.node.end_position().row;
        line.checked_sub(1).is_some_and(|row| rows.contains(&row))
    }
}

/// The simple statement on a row. Two on one row are too many.
fn innermost(block: Node<'_>, row: usize) -> Option<Node<'_>> {
    let on = |node: &Node<'_>| {
        (node.start_position().row..=node.end_position().row).contains(&row)
            && node.kind() != "comment"
    };
    let mut cursor = block.walk();
    let mut found = block.named_children(&mut cursor).filter(on);
    let node = found.next()?;
    if found.next().is_some() {
        return None;
    }
    match node.kind() {
        "expression_statement" | "delete_statement" => Some(node),
        "function_definition" | "class_definition" | "decorated_definition" => None,
        _ => innermost(node, row),
    }
}

impl Source {
    fn write(&self, statement: Node<'_>) -> Option<Write> {
        let inner = statement.named_child(0)?;
        if statement.named_child_count() != 1 {
            return None;
        }
        if statement.kind() == "delete_statement" {
            return match self.place(inner)? {
                (owner, Last::Name(name)) => Some(Write::NoAttribute { owner, name }),
                (owner, Last::Key(key)) => Some(Write::NoItem { owner, key }),
            };
        }
        match inner.kind() {
            "assignment" => {
                // `a.b = c.d = 1` and `a.b: int` are left alone.
                let right = inner.child_by_field_name("right")?;
                if right.kind() == "assignment" || inner.child_by_field_name("type").is_some() {
                    return None;
                }
                let place = self.place(inner.child_by_field_name("left")?)?;
                Some(self.stored(place, self.argument(right)?, false))
            }
            "augmented_assignment" => {
                let left = inner.child_by_field_name("left")?;
                let right = inner.child_by_field_name("right")?;
                // What it stands in is said twice from here on, and is to happen once.
                if acts(left) || right.kind() == "yield" {
                    return None;
                }
                let operator = self.of(inner.child_by_field_name("operator")?);
                let operator = operator.strip_suffix('=')?;
                let simple = matches!(
                    right.kind(),
                    "identifier" | "integer" | "float" | "string" | "call" | "attribute"
                );
                let right = self.of(right);
                let value = if simple {
                    format!("{} {operator} {right}", self.of(left))
                } else {
                    format!("{} {operator} ({right})", self.of(left))
                };
                Some(self.stored(self.place(left)?, value, true))
            }
            "call" => {
                let function = self.of(inner.child_by_field_name("function")?).to_owned();
                let list = inner.child_by_field_name("arguments")?;
                if list.kind() != "argument_list" {
                    return None;
                }
                let mut cursor = list.walk();
                let arguments: Option<Vec<String>> = list
                    .named_children(&mut cursor)
                    .filter(|node| node.kind() != "comment")
                    .map(|node| self.argument(node))
                    .collect();
                Some(Write::Call {
                    function,
                    arguments: arguments?,
                })
            }
            _ => None,
        }
    }

    /// An expression as one argument of a call; `None` for what is none.
    fn argument(&self, node: Node<'_>) -> Option<String> {
        match node.kind() {
            // A comma would begin another argument.
            "expression_list" => Some(format!("({})", self.of(node))),
            "yield" | "list_splat" | "dictionary_splat" | "keyword_argument" => None,
            _ => Some(self.of(node).to_owned()),
        }
    }

    fn stored(&self, (owner, last): (String, Last), value: String, updates: bool) -> Write {
        match last {
            Last::Name(name) => Write::Attribute {
                owner,
                name,
                value,
                updates,
            },
            Last::Key(key) => Write::Item {
                owner,
                key,
                value,
                updates,
            },
        }
    }

    fn place(&self, node: Node<'_>) -> Option<(String, Last)> {
        match node.kind() {
            "attribute" => Some((
                self.of(node.child_by_field_name("object")?).to_owned(),
                Last::Name(self.of(node.child_by_field_name("attribute")?).to_owned()),
            )),
            "subscript" => {
                let mut cursor = node.walk();
                let keys: Vec<Node<'_>> = node
                    .children_by_field_name("subscript", &mut cursor)
                    .collect();
                let [key] = keys.as_slice() else { return None };
                let mut tokens = node.walk();
                // `a[1,]` has a tuple for a key.
                let is_tuple = node.children(&mut tokens).any(|child| child.kind() == ",");
                if is_tuple || matches!(key.kind(), "slice" | "list_splat") {
                    return None;
                }
                let owner = self.of(node.child_by_field_name("value")?).to_owned();
                Some((owner, Last::Key(self.of(*key).to_owned())))
            }
            _ => None,
        }
    }
}

/// Whether evaluating it once more may do something.
fn acts(node: Node<'_>) -> bool {
    if matches!(node.kind(), "call" | "await" | "yield" | "named_expression") {
        return true;
    }
    let mut cursor = node.walk();
    node.named_children(&mut cursor).any(acts)
}

enum Last {
    Name(String),
    Key(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_taken_apart() {
        for (statement, wanted) in [
            ("a.b.c = f(1)", Some("attribute a.b c f(1)")),
            ("a.b -= x or y", Some("attribute a b a.b - (x or y)")),
            ("a[\"k\"] = 1", Some("item a \"k\" 1")),
            ("del a[0]", Some("no item a 0")),
            ("del a.b", Some("no attribute a b")),
            ("os.chdir(\n  here)", Some("call os.chdir here")),
            ("a.b = 1, 2", Some("attribute a b (1, 2)")),
            ("a.b = *c,", Some("attribute a b (*c,)")),
            ("a.b += 1, 2", Some("attribute a b a.b + (1, 2)")),
            ("a.b = yield c", None),
            ("a.pop().b = 1", Some("attribute a.pop() b 1")),
            ("a.pop().b += 1", None),
            ("a[f()] += 1", None),
            ("a[1,] = 1", None),
            ("a.pop(*c)", None),
            ("a.pop(k=c)", None),
            ("a[1:2] = x", None),
            ("a = 1", None),
            ("a.b = c.d = 1", None),
            ("del a.b, a.c", None),
        ] {
            let text = format!("def test_a():\n    if x:\n        {statement}\n");
            let source = Source::parse(&text).expect("parses");
            let function = source.function(&["test_a"]).expect("found");
            let found = function.write_at(3).map(|(_, write)| match write {
                Write::Attribute {
                    owner, name, value, ..
                } => {
                    format!("attribute {owner} {name} {value}")
                }
                Write::Item {
                    owner, key, value, ..
                } => format!("item {owner} {key} {value}"),
                Write::NoAttribute { owner, name } => format!("no attribute {owner} {name}"),
                Write::NoItem { owner, key } => format!("no item {owner} {key}"),
                Write::Call {
                    function,
                    arguments,
                } => format!("call {function} {}", arguments.join(" ")),
            });
            assert_eq!(found.as_deref(), wanted, "{statement}");
        }
    }
}
