//! Uses and bindings inside expressions, in the order of evaluation.
//!
//! Without recursion: a chain of a thousand operators is a tree a thousand levels deep. A walrus counts as
//! evaluated, whatever `and`, `or` and `if` around it say.

use tree_sitter::Node;

use super::bindings::{children, field, targets};
use super::flow::Flow;
use super::scope::{Kind, Scope};

enum Step<'a> {
    Visit(Node<'a>),
    /// Assigns to a target.
    Assign(Node<'a>),
    /// The body of a lambda begins.
    Lambda(Node<'a>),
    /// A comprehension begins: its targets have values.
    Comprehension(Node<'a>),
    Leave,
}

impl<'a> Flow<'a> {
    pub(super) fn expression(&mut self, node: Node<'a>) {
        self.run(Step::Visit(node));
    }

    pub(super) fn target(&mut self, node: Node<'a>) {
        self.run(Step::Assign(node));
    }

    fn run(&mut self, first: Step<'a>) {
        let mut waiting = vec![first];
        while let Some(step) = waiting.pop() {
            let mut next = match step {
                Step::Visit(node) => self.visit(node),
                Step::Assign(node) => self.assign(node),
                Step::Lambda(node) => {
                    self.enter(node);
                    Vec::new()
                }
                Step::Comprehension(node) => {
                    let bound: Vec<&str> = children(node)
                        .into_iter()
                        .filter_map(|clause| field(clause, "left"))
                        .flat_map(targets)
                        .map(|name| self.source.of(name))
                        .collect();
                    self.scopes
                        .push(Scope::with(Kind::Comprehension, &bound, &[]));
                    Vec::new()
                }
                Step::Leave => {
                    self.scopes.pop();
                    Vec::new()
                }
            };
            next.reverse();
            waiting.append(&mut next);
        }
    }

    /// Notes what the node itself does and says what comes next.
    fn visit(&mut self, node: Node<'a>) -> Vec<Step<'a>> {
        let part = |name| field(node, name).map(Step::Visit);
        match node.kind() {
            "identifier" => {
                self.used(node);
                Vec::new()
            }
            "attribute" => part("object").into_iter().collect(),
            "keyword_argument" => part("value").into_iter().collect(),
            "member_type" => node.named_child(0).map(Step::Visit).into_iter().collect(),
            "named_expression" => part("value")
                .into_iter()
                .chain(field(node, "name").map(Step::Assign))
                .collect(),
            "assignment" => {
                // Annotations in functions are not evaluated.
                let in_class = self.scopes.last().is_some_and(|s| s.kind == Kind::Class);
                let annotation = part("type").filter(|_| in_class && !self.module.lazy_annotations);
                let right = part("right");
                let left = field(node, "left").filter(|_| right.is_some());
                right
                    .into_iter()
                    .chain(left.map(Step::Assign))
                    .chain(annotation)
                    .collect()
            }
            "augmented_assignment" => {
                let name = field(node, "left").filter(|left| left.kind() == "identifier");
                part("left")
                    .into_iter()
                    .chain(part("right"))
                    .chain(name.map(Step::Assign))
                    .collect()
            }
            "as_pattern" => node
                .named_child(0)
                .map(Step::Visit)
                .into_iter()
                .chain(field(node, "alias").map(Step::Assign))
                .collect(),
            "lambda" => {
                let parameters = field(node, "parameters").map(children).unwrap_or_default();
                let defaults = parameters.into_iter().filter_map(|p| field(p, "value"));
                defaults
                    .map(Step::Visit)
                    .chain([Step::Lambda(node)])
                    .chain(part("body"))
                    .chain([Step::Leave])
                    .collect()
            }
            "list_comprehension"
            | "set_comprehension"
            | "dictionary_comprehension"
            | "generator_expression" => comprehension(node),
            _ => children(node).into_iter().map(Step::Visit).collect(),
        }
    }

    fn assign(&mut self, node: Node<'a>) -> Vec<Step<'a>> {
        match node.kind() {
            "identifier" => {
                self.bind(node);
                Vec::new()
            }
            "attribute" | "subscript" => vec![Step::Visit(node)],
            _ => children(node).into_iter().map(Step::Assign).collect(),
        }
    }
}

/// The first iterable belongs to the scope around, everything else to the comprehension.
fn comprehension(node: Node<'_>) -> Vec<Step<'_>> {
    let mut clauses = Vec::new();
    for clause in children(node) {
        match clause.kind() {
            "for_in_clause" => {
                let mut cursor = clause.walk();
                let iterables = clause.children_by_field_name("right", &mut cursor);
                clauses.extend(iterables.filter(Node::is_named).map(Step::Visit));
                // `for x.y in …` is allowed, and rare.
            }
            "if_clause" => clauses.push(Step::Visit(clause)),
            _ => {}
        }
    }
    let rest = clauses.split_off(clauses.len().min(1));
    clauses
        .into_iter()
        .chain([Step::Comprehension(node)])
        .chain(rest)
        .chain(field(node, "body").map(Step::Visit))
        .chain([Step::Leave])
        .collect()
}
