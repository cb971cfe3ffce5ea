//! Where a scope binds names: a walk over everything that belongs to it and nothing that belongs to a scope
//! inside. Knows nothing of order or paths.

use tree_sitter::Node;

/// What a walk comes across.
#[derive(Debug, Clone, Copy)]
pub(super) enum Found<'a> {
    /// The identifier gets a value here.
    Bind(Node<'a>),
    /// The identifier loses its value here (`del`, the end of `except … as`), which makes it local too.
    Unbind(Node<'a>),
    Global(Node<'a>),
    Nonlocal(Node<'a>),
    /// A function or class inside: a scope of its own.
    Inner(Node<'a>),
}

/// Everything below `root` that concerns its scope, without what is below the node `skip`.
pub(super) fn walk<'a>(root: Node<'a>, skip: Option<usize>, mut found: impl FnMut(Found<'a>)) {
    let mut waiting = vec![root];
    while let Some(node) = waiting.pop() {
        if Some(node.id()) == skip {
            continue;
        }
        bound_by(node, &mut found);
        match node.kind() {
            "function_definition" => {
                found(Found::Inner(node));
                waiting.extend(field(node, "parameters"));
            }
            "class_definition" => {
                found(Found::Inner(node));
                waiting.extend(field(node, "superclasses"));
            }
            "lambda" => waiting.extend(field(node, "parameters")),
            _ => {
                let mut cursor = node.walk();
                waiting.extend(node.named_children(&mut cursor));
            }
        }
    }
}

pub(super) fn field<'a>(node: Node<'a>, name: &str) -> Option<Node<'a>> {
    node.child_by_field_name(name)
}

/// Named children without comments.
pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .filter(|child| child.kind() != "comment" && child.kind() != "line_continuation")
        .collect()
}

fn bound_by<'a>(node: Node<'a>, found: &mut impl FnMut(Found<'a>)) {
    match node.kind() {
        "assignment" | "augmented_assignment" | "for_statement" => field(node, "left")
            .into_iter()
            .flat_map(targets)
            .for_each(|name| found(Found::Bind(name))),
        "named_expression" | "function_definition" | "class_definition" => {
            field(node, "name")
                .into_iter()
                .for_each(|name| found(Found::Bind(name)));
        }
        "as_pattern_target" => targets(node)
            .into_iter()
            .for_each(|name| found(Found::Bind(name))),
        "except_clause" => {
            if let Some(name) = alias(node) {
                found(Found::Bind(name));
                found(Found::Unbind(name));
            }
        }
        "import_statement" | "import_from_statement" | "future_import_statement" => imported(node)
            .into_iter()
            .for_each(|name| found(Found::Bind(name))),
        "case_clause" => captures(node)
            .into_iter()
            .for_each(|name| found(Found::Bind(name))),
        "type_alias_statement" => field(node, "left")
            .and_then(first_identifier)
            .into_iter()
            .for_each(|name| found(Found::Bind(name))),
        "delete_statement" => children(node)
            .into_iter()
            .flat_map(targets)
            .for_each(|name| found(Found::Unbind(name))),
        "global_statement" => children(node)
            .into_iter()
            .for_each(|name| found(Found::Global(name))),
        "nonlocal_statement" => children(node)
            .into_iter()
            .for_each(|name| found(Found::Nonlocal(name))),
        _ => {}
    }
}

/// The identifiers that a target binds; attributes and subscripts bind none.
pub(super) fn targets(node: Node<'_>) -> Vec<Node<'_>> {
    let mut names = Vec::new();
    let mut waiting = vec![node];
    while let Some(node) = waiting.pop() {
        match node.kind() {
            "identifier" => names.push(node),
            "attribute" | "subscript" => {}
            _ => waiting.extend(children(node)),
        }
    }
    names.reverse();
    names
}

/// The name in `except … as name`.
pub(super) fn alias(clause: Node<'_>) -> Option<Node<'_>> {
    let value = field(clause, "value");
    field(clause, "alias")
        .or_else(|| value.and_then(|value| field(value, "alias")))
        .and_then(first_identifier)
}

/// The names an import binds: an alias, or the first part of a dotted name.
pub(super) fn imported(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children_by_field_name("name", &mut cursor)
        .filter_map(|name| field(name, "alias").or_else(|| first_identifier(name)))
        .collect()
}

fn first_identifier(node: Node<'_>) -> Option<Node<'_>> {
    let mut node = node;
    while node.kind() != "identifier" {
        node = node.named_child(0)?;
    }
    Some(node)
}

/// The names that the patterns of a `case` capture.
pub(super) fn captures(clause: Node<'_>) -> Vec<Node<'_>> {
    let mut names = Vec::new();
    let mut waiting: Vec<Node<'_>> = children(clause)
        .into_iter()
        .filter(|child| child.kind() == "case_pattern")
        .collect();
    while let Some(node) = waiting.pop() {
        let parts = children(node);
        match node.kind() {
            // A dotted name is a value to compare with; a plain one captures.
            "dotted_name" if parts.len() == 1 => names.extend(parts),
            "dotted_name" | "string" => {}
            "identifier" => names.push(node),
            // The class and the keyword are no captures.
            "class_pattern" | "keyword_pattern" => waiting.extend(parts.into_iter().skip(1)),
            _ => waiting.extend(parts),
        }
    }
    names
}

/// The names of parameters, type parameters included, of a function or lambda.
pub(super) fn parameters(node: Node<'_>) -> Vec<Node<'_>> {
    let listed = field(node, "parameters").map(children).unwrap_or_default();
    let types = field(node, "type_parameters").map(children);
    let named = listed.into_iter().flat_map(|parameter| {
        let name = match parameter.kind() {
            "default_parameter" | "typed_default_parameter" => field(parameter, "name"),
            "typed_parameter" => parameter.named_child(0),
            _ => Some(parameter),
        };
        name.map(targets).unwrap_or_default()
    });
    let typed = types
        .unwrap_or_default()
        .into_iter()
        .filter_map(first_identifier);
    named.chain(typed).collect()
}
