//! Names: what code needs from around it, and what a module binds.

use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::python::{Class, Function, Source};

/// Names of a stretch of code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// Used and not bound by the code itself.
    pub free: BTreeSet<String>,
    pub bound: BTreeSet<String>,
}

impl Names {
    /// `None` if the code does not parse.
    pub fn of(code: &str) -> Option<Self> {
        let source = Source::parse(code)?;
        Some(source.names(source.root()))
    }
}

impl Function<'_> {
    /// Names in its body; its parameters count as bound.
    pub fn names(self) -> Names {
        let Some(body) = self.node.child_by_field_name("body") else {
            return Names::default();
        };
        let mut names = self.source.names(body);
        for parameter in self.parameters() {
            names.free.remove(&parameter);
            names.bound.insert(parameter);
        }
        names
    }
}

impl Source {
    fn names(&self, node: Node<'_>) -> Names {
        let mut used = BTreeSet::new();
        let mut bound = BTreeSet::new();
        self.walk(node, &mut used, &mut bound);
        Names {
            free: used.difference(&bound).cloned().collect(),
            bound,
        }
    }

    pub(crate) fn walk(
        &self,
        node: Node<'_>,
        used: &mut BTreeSet<String>,
        bound: &mut BTreeSet<String>,
    ) {
        let field = |name: &str| node.child_by_field_name(name);
        match node.kind() {
            "identifier" => {
                used.insert(self.of(node).to_owned());
            }
            "attribute" => {
                if let Some(object) = field("object") {
                    self.walk(object, used, bound);
                }
            }
            "keyword_argument" => {
                if let Some(value) = field("value") {
                    self.walk(value, used, bound);
                }
            }
            "import_statement" | "import_from_statement" => {
                for (_, name) in self.imported(node) {
                    bound.insert(name);
                }
            }
            "function_definition" | "class_definition" => {
                if let Some(name) = field("name") {
                    bound.insert(self.of(name).to_owned());
                }
                let (mut inner_used, mut inner) = (BTreeSet::new(), BTreeSet::new());
                self.parameters_of(node, &mut inner_used, &mut inner);
                for part in ["superclasses", "body", "return_type"] {
                    if let Some(part) = field(part) {
                        self.walk(part, &mut inner_used, &mut inner);
                    }
                }
                used.extend(inner_used.difference(&inner).cloned());
            }
            "lambda" => {
                let (mut inner_used, mut inner) = (BTreeSet::new(), BTreeSet::new());
                self.parameters_of(node, &mut inner_used, &mut inner);
                if let Some(body) = field("body") {
                    self.walk(body, &mut inner_used, &mut inner);
                }
                used.extend(inner_used.difference(&inner).cloned());
            }
            "list_comprehension"
            | "set_comprehension"
            | "dictionary_comprehension"
            | "generator_expression" => {
                let (mut inner_used, mut inner) = (BTreeSet::new(), BTreeSet::new());
                self.children(node, &mut inner_used, &mut inner);
                used.extend(inner_used.difference(&inner).cloned());
            }
            "assignment" | "for_statement" | "for_in_clause" => {
                if let Some(left) = field("left") {
                    self.target(left, used, bound);
                }
                let mut cursor = node.walk();
                for child in node.named_children(&mut cursor) {
                    if field("left") != Some(child) {
                        self.walk(child, used, bound);
                    }
                }
            }
            "augmented_assignment" => {
                if let Some(left) = field("left") {
                    self.walk(left, used, bound);
                    self.target(left, used, bound);
                }
                if let Some(right) = field("right") {
                    self.walk(right, used, bound);
                }
            }
            "named_expression" => {
                if let Some(name) = field("name") {
                    bound.insert(self.of(name).to_owned());
                }
                if let Some(value) = field("value") {
                    self.walk(value, used, bound);
                }
            }
            "as_pattern_target" => self.target_children(node, used, bound),
            "case_pattern" => {
                // Captures are bound; classes and values in patterns are used. Both are kept as bound or
                // used names, which only errs on the side of care.
                self.children(node, used, bound);
            }
            _ => self.children(node, used, bound),
        }
    }

    fn children(&self, node: Node<'_>, used: &mut BTreeSet<String>, bound: &mut BTreeSet<String>) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.walk(child, used, bound);
        }
    }

    pub(crate) fn parameters_of(
        &self,
        node: Node<'_>,
        used: &mut BTreeSet<String>,
        bound: &mut BTreeSet<String>,
    ) {
        let Some(list) = node.child_by_field_name("parameters") else {
            return;
        };
        let mut cursor = list.walk();
        for parameter in list.named_children(&mut cursor) {
            for part in ["value", "type"] {
                if let Some(part) = parameter.child_by_field_name(part) {
                    self.walk(part, used, bound);
                }
            }
            let name = parameter
                .child_by_field_name("name")
                .or_else(|| match parameter.kind() {
                    "identifier" => Some(parameter),
                    _ => parameter.named_child(0),
                });
            if let Some(name) = name {
                bound.insert(self.of(name).trim_start_matches('*').to_owned());
            }
        }
    }

    fn target(&self, node: Node<'_>, used: &mut BTreeSet<String>, bound: &mut BTreeSet<String>) {
        match node.kind() {
            "identifier" => {
                bound.insert(self.of(node).to_owned());
            }
            "attribute" | "subscript" => self.walk(node, used, bound),
            _ => self.target_children(node, used, bound),
        }
    }

    fn target_children(
        &self,
        node: Node<'_>,
        used: &mut BTreeSet<String>,
        bound: &mut BTreeSet<String>,
    ) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.target(child, used, bound);
        }
    }

    /// Whether the module itself defines or assigns a name.
    pub fn defines(&self, name: &str) -> bool {
        self.definition_of(name).is_some()
    }

    /// The first statement at the top of the module that defines or assigns a name.
    pub fn definition_of(&self, name: &str) -> Option<&str> {
        let root = self.root();
        let mut cursor = root.walk();
        root.named_children(&mut cursor)
            .filter(|node| !node.kind().starts_with("import"))
            .find(|node| {
                let mut used = BTreeSet::new();
                let mut bound = BTreeSet::new();
                self.walk(*node, &mut used, &mut bound);
                bound.contains(name)
            })
            .map(|node| self.of(node))
    }
}

impl<'a> Class<'a> {
    /// Names of its bases as they are written.
    pub fn bases(self) -> Vec<String> {
        let Some(list) = self.node.child_by_field_name("superclasses") else {
            return Vec::new();
        };
        let mut cursor = list.walk();
        list.named_children(&mut cursor)
            .filter(|node| matches!(node.kind(), "identifier" | "attribute"))
            .map(|node| self.source.of(node).to_owned())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_and_bound_names() {
        for (code, free, bound) in [
            ("x = f(y, k=z)", "f y z", "x"),
            ("with open(p) as h:\n    h.read()", "open p", "h"),
            ("for a, (b, c) in d:\n    e.f = a", "d e", "a b c"),
            ("import os.path\nfrom a import b as c\nc(os)", "", "c os"),
            ("def g(q, r=s):\n    t = q\n    return u\ng(1)", "s u", "g"),
            ("[i for i in j if k]", "j k", ""),
            ("l = lambda m: m + n", "n", "l"),
            ("if (w := v):\n    w", "v", "w"),
            ("x[0] += y", "x y", ""),
        ] {
            let names = Names::of(code).expect("parses");
            let join = |set: &BTreeSet<String>| {
                let all: Vec<&str> = set.iter().map(String::as_str).collect();
                all.join(" ")
            };
            assert_eq!(join(&names.free), free, "{code}");
            assert_eq!(join(&names.bound), bound, "{code}");
        }
    }

    #[test]
    fn imports_and_definitions_of_a_module() {
        let text = "import a.b, c as d\nfrom e.f import g as h\nfrom . import i\nJ: int = 1\n\ndef k():\n    pass\n";
        let source = Source::parse(text).expect("parses");
        assert_eq!(source.import_of("a").as_deref(), Some("import a.b"));
        assert_eq!(source.import_of("d").as_deref(), Some("import c as d"));
        let from = source.import_of("h");
        assert_eq!(from.as_deref(), Some("from e.f import g as h"));
        assert_eq!(source.import_of("i").as_deref(), Some("from . import i"));
        assert!(source.defines("J") && source.defines("k") && !source.defines("a"));
    }
}
