//! What a name of a module or class is made of, where it can be made once more for every test: nobody else has to do with it
//! before the tests run.

use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::python::{Function, Source, definitions};

/// Set-ups that run before a fixture of one test does.
const EARLY: [&str; 5] = [
    "setup_module",
    "setUpModule",
    "setup_class",
    "setUpClass",
    "setup_function",
];

impl Source {
    /// What a name is made of at the top of the module, or in the body of a class: `["TestCart", "cart"]`. Only a call, a
    /// list, a dictionary or a set, and only where no other statement there has to do with the name, no decorator and no
    /// default keeps it, and no set-up that comes earlier than a test's own fills it.
    pub fn initial(&self, path: &[&str]) -> Option<&str> {
        let (name, classes) = path.split_last()?;
        let body = match classes {
            [] => self.root(),
            _ => self.class(classes)?.node.child_by_field_name("body")?,
        };
        let mut cursor = body.walk();
        let mut with_name = body.named_children(&mut cursor).filter(|node| {
            let mut used = BTreeSet::new();
            let mut bound = BTreeSet::new();
            self.walk(*node, &mut used, &mut bound);
            if node.kind().ends_with("_definition") {
                used.clear();
                self.evaluated(*node, &mut used);
            }
            bound.contains(*name) || used.contains(*name)
        });
        let only = with_name.next().filter(|_| with_name.next().is_none())?;
        let assignment = only.named_child(0).filter(|n| n.kind() == "assignment")?;
        let left = assignment.child_by_field_name("left")?;
        let value = assignment.child_by_field_name("right")?;
        let is_new = matches!(value.kind(), "call" | "list" | "dictionary" | "set");
        let fits = is_new && left.kind() == "identifier" && !self.is_prepared(name);
        fits.then(|| self.of(value))
    }

    /// Names that a definition uses when it is made, not when it is called.
    fn evaluated(&self, node: Node<'_>, used: &mut BTreeSet<String>) {
        let mut ignored = BTreeSet::new();
        match node.kind() {
            "decorated_definition" => {
                let mut cursor = node.walk();
                for child in node.named_children(&mut cursor) {
                    match child.kind() {
                        "decorator" => self.walk(child, used, &mut ignored),
                        _ => self.evaluated(child, used),
                    }
                }
            }
            "function_definition" => self.parameters_of(node, used, &mut ignored),
            "class_definition" => {
                if let Some(bases) = node.child_by_field_name("superclasses") {
                    self.walk(bases, used, &mut ignored);
                }
                if let Some(body) = node.child_by_field_name("body") {
                    let mut cursor = body.walk();
                    for child in body.named_children(&mut cursor) {
                        self.evaluated(child, used);
                    }
                }
            }
            _ => self.walk(node, used, &mut ignored),
        }
    }

    /// Whether a set-up of the file has to do with a name, itself or through functions of the file.
    fn is_prepared(&self, name: &str) -> bool {
        let mut all = Vec::new();
        self.functions_below(self.root(), &mut all);
        let mut known: Vec<usize> = Vec::new();
        let mut open: Vec<usize> = (0..all.len()).filter(|n| self.is_early(all[*n])).collect();
        while let Some(number) = open.pop() {
            known.push(number);
            let mut words = BTreeSet::new();
            self.identifiers(all[number].node, &mut words);
            if words.contains(name) {
                return true;
            }
            let called = (0..all.len()).filter(|n| {
                let own = all[*n].node.child_by_field_name("name");
                own.is_some_and(|own| words.contains(self.of(own)))
            });
            let new: Vec<usize> = called
                .filter(|n| !known.contains(n) && !open.contains(n))
                .collect();
            open.extend(new);
        }
        false
    }

    fn is_early(&self, function: Function<'_>) -> bool {
        let name = function.node.child_by_field_name("name");
        let name = name.map_or("", |name| self.of(name));
        EARLY.contains(&name)
            || function
                .fixture_scope()
                .is_some_and(|scope| scope != "function")
            || function.is_autouse()
    }

    fn functions_below<'a>(&'a self, body: Node<'a>, found: &mut Vec<Function<'a>>) {
        for (outer, node) in definitions(body) {
            if node.kind() == "function_definition" {
                found.push(Function {
                    source: self,
                    outer,
                    node,
                });
            } else if let Some(body) = node.child_by_field_name("body") {
                self.functions_below(body, found);
            }
        }
    }

    fn identifiers(&self, node: Node<'_>, found: &mut BTreeSet<String>) {
        if node.kind() == "identifier" {
            found.insert(self.of(node).to_owned());
        }
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.identifiers(child, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_name_is_made_of() {
        let text = "a = make(1)\nb: list = [\n    1,\n]\nc = d = 2\n\n\nclass T:\n    a = Cart()\n\n    def t(self):\n        b = 1\n";
        let source = Source::parse(text).expect("parses");
        assert_eq!(source.initial(&["a"]), Some("make(1)"));
        assert_eq!(source.initial(&["b"]), Some("[\n    1,\n]"));
        assert_eq!(source.initial(&["T", "a"]), Some("Cart()"));
        assert_eq!(source.initial(&["T", "b"]), None);
        assert_eq!(source.initial(&["T"]), None);
        for text in [
            "a = b\n",
            "a = b[0]\n",
            "a = []\na.append(1)\n",
            "a = b = []\na = 1\n",
        ] {
            let source = Source::parse(text).expect("parses");
            assert_eq!(source.initial(&["a"]), None, "{text}");
        }
    }

    #[test]
    fn what_others_keep_or_fill_before_a_test_is_not_made_anew() {
        let text = "CART = {}\n\n\ndef test_a():\n    CART.add(1)\n\n\nclass T:\n    def setUp(self):\n        CART.open()\n";
        let source = Source::parse(text).expect("parses");
        assert_eq!(source.initial(&["CART"]), Some("{}"));
        for more in [
            "def setup_module():\n    CART.update(load())\n",
            "def fill():\n    CART.update(load())\n\n\ndef setUpModule():\n    fill()\n",
            "class U:\n    @classmethod\n    def setUpClass(cls):\n        CART.fill()\n",
            "@pytest.fixture(scope=\"module\")\ndef full():\n    CART.fill()\n",
            "@pytest.fixture(autouse=True)\ndef full():\n    CART.fill()\n",
            "@CART.register\ndef f():\n    pass\n",
            "def f(c=CART):\n    pass\n",
            "class U:\n    cart = CART\n",
            "class U:\n    def f(self, c=CART):\n        pass\n",
        ] {
            let source = Source::parse(&format!("{text}\n\n{more}")).expect("parses");
            assert_eq!(source.initial(&["CART"]), None, "{more}");
        }
        let text = "class T:\n    cart = Cart()\n\n    @classmethod\n    def setUpClass(cls):\n        cls.cart.fill()\n";
        let source = Source::parse(text).expect("parses");
        assert_eq!(source.initial(&["T", "cart"]), None);
    }
}
