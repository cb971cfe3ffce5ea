//! What a file asserts.

use tree_sitter::Node;

use crate::python::Source;

impl Source {
    /// The text of every assertion: `assert`, calls of `assert…` and `fail…`, `raises` and `warns`.
    pub fn assertions(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.collect_assertions(self.root(), &mut found);
        found
    }

    fn collect_assertions(&self, node: Node<'_>, found: &mut Vec<String>) {
        let is = match node.kind() {
            "assert_statement" => true,
            "call" => {
                let function = node.child_by_field_name("function");
                let name = function.map_or("", |f| self.of(f));
                let last = name.rsplit('.').next().unwrap_or_default();
                last.starts_with("assert")
                    || last.starts_with("fail")
                    || matches!(last, "raises" | "warns")
            }
            _ => false,
        };
        if is {
            found.push(self.of(node).to_owned());
            return;
        }
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.collect_assertions(child, found);
        }
    }
}
