//! A Python file: functions, classes, fixtures, imports, and where they stand.

use std::sync::OnceLock;

use tree_sitter::{Node, Parser, Tree};

use crate::body::Piece;
use crate::edit::Edit;
use crate::names::ModuleNames;

/// A file that parses.
#[derive(Debug, Clone)]
pub struct Source {
    text: String,
    tree: Tree,
    names: OnceLock<ModuleNames>,
}

/// A function or method.
#[derive(Debug, Clone, Copy)]
pub struct Function<'a> {
    pub(crate) source: &'a Source,
    /// With its decorators.
    pub(crate) outer: Node<'a>,
    pub(crate) node: Node<'a>,
}

#[derive(Debug, Clone, Copy)]
pub struct Class<'a> {
    pub(crate) source: &'a Source,
    pub(crate) node: Node<'a>,
}

impl Source {
    /// `None` if it is not Python that this parser knows.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parser = Parser::new();
        parser
            .set_language(&tree_sitter_python::LANGUAGE.into())
            .ok()?;
        let tree = parser.parse(text, None)?;
        if tree.root_node().has_error() {
            return None;
        }
        Some(Self {
            text: text.to_owned(),
            tree,
            names: OnceLock::new(),
        })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    pub(crate) fn of(&self, node: Node<'_>) -> &str {
        &self.text[node.byte_range()]
    }

    pub(crate) fn module_names(&self) -> &ModuleNames {
        self.names.get_or_init(|| ModuleNames::new(self))
    }

    /// A function by its names from the outside in: `["TestCart", "test_total"]`.
    pub fn function(&self, path: &[&str]) -> Option<Function<'_>> {
        let (name, classes) = path.split_last()?;
        let mut body = self.tree.root_node();
        for class in classes {
            body = self
                .class_in(body, class)?
                .node
                .child_by_field_name("body")?;
        }
        self.function_in(body, name)
    }

    pub fn class(&self, path: &[&str]) -> Option<Class<'_>> {
        let mut body = self.tree.root_node();
        let mut found = None;
        for name in path {
            let class = self.class_in(body, name)?;
            body = class.node.child_by_field_name("body")?;
            found = Some(class);
        }
        found
    }

    /// The last definition of a name counts, as it does for Python.
    fn function_in<'a>(&'a self, body: Node<'a>, name: &str) -> Option<Function<'a>> {
        let mut found = None;
        for (outer, node) in definitions(body) {
            let is = node.kind() == "function_definition"
                && node
                    .child_by_field_name("name")
                    .is_some_and(|n| self.of(n) == name);
            if is {
                found = Some(Function {
                    source: self,
                    outer,
                    node,
                });
            }
        }
        found
    }

    /// The last one here as well.
    fn class_in<'a>(&'a self, body: Node<'a>, name: &str) -> Option<Class<'a>> {
        definitions(body)
            .into_iter()
            .rfind(|(_, node)| {
                let own = node.child_by_field_name("name");
                node.kind() == "class_definition" && own.is_some_and(|own| self.of(own) == name)
            })
            .map(|(_, node)| Class { source: self, node })
    }

    /// The start of the line after the one that holds `at`.
    pub(crate) fn line_end(&self, at: usize) -> usize {
        if at == 0 {
            return 0;
        }
        self.text[at..]
            .find('\n')
            .map_or(self.text.len(), |n| at + n + 1)
    }

    pub(crate) fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |n| n + 1)
    }

    /// One level of indentation as this file has it.
    pub fn indent(&self) -> &str {
        self.indent_below(self.root())
            .filter(|lead| *lead == "\t" || (1..=8).contains(&lead.len()) && !lead.contains('\t'))
            .unwrap_or("    ")
    }

    /// How much further in the first body stands than what it belongs to. Strings may look like code.
    fn indent_below(&self, node: Node<'_>) -> Option<&str> {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if child.kind() == "block" && child.start_position().row > node.start_position().row {
                let lead_of = |node: Node<'_>| {
                    let line = &self.text[self.line_start(node.start_byte())..];
                    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
                };
                return lead_of(child).strip_prefix(lead_of(node));
            }
            if let Some(found) = self.indent_below(child) {
                return Some(found);
            }
        }
        None
    }
}

/// (with decorators, the definition itself) of everything defined in a body.
pub(crate) fn definitions(body: Node<'_>) -> Vec<(Node<'_>, Node<'_>)> {
    let mut cursor = body.walk();
    body.named_children(&mut cursor)
        .filter_map(|node| match node.kind() {
            "decorated_definition" => Some((node, node.child_by_field_name("definition")?)),
            "function_definition" | "class_definition" => Some((node, node)),
            _ => None,
        })
        .collect()
}

impl<'a> Class<'a> {
    pub fn method(self, name: &str) -> Option<Function<'a>> {
        let body = self.node.child_by_field_name("body")?;
        self.source.function_in(body, name)
    }

    /// Whether one of its bases, or of their bases in this file, is named like a `TestCase`.
    pub fn is_unittest(self) -> bool {
        self.is_unittest_within(8)
    }

    fn is_unittest_within(self, depth: usize) -> bool {
        depth > 0
            && self.bases().iter().any(|base| {
                base.contains("TestCase")
                    || self
                        .source
                        .class(&[base])
                        .is_some_and(|class| class.is_unittest_within(depth - 1))
            })
    }
}

impl<'a> Function<'a> {
    pub fn is_async(self) -> bool {
        self.source.of(self.node).starts_with("async")
    }

    pub fn is_decorated(self) -> bool {
        self.outer != self.node
    }

    /// Parameters without their defaults, in order; `self` included.
    pub fn parameters(self) -> Vec<String> {
        let Some(list) = self.node.child_by_field_name("parameters") else {
            return Vec::new();
        };
        let mut cursor = list.walk();
        list.named_children(&mut cursor)
            .filter_map(|node| match node.kind() {
                "identifier" => Some(self.source.of(node).to_owned()),
                "typed_parameter" => node.named_child(0).map(|n| self.source.of(n).to_owned()),
                _ => None,
            })
            .collect()
    }

    /// Adds parameters that it does not have, behind those without a default.
    pub fn add_parameters(self, names: &[String]) -> Option<Edit> {
        let have = self.parameters();
        let missing: Vec<&str> = names
            .iter()
            .filter(|name| !have.contains(name))
            .map(String::as_str)
            .collect();
        if missing.is_empty() {
            return None;
        }
        let list = self.node.child_by_field_name("parameters")?;
        let mut cursor = list.walk();
        let all: Vec<Node<'_>> = list
            .named_children(&mut cursor)
            .filter(|node| node.kind() != "comment")
            .collect();
        let plain = all.iter().take_while(|node| {
            matches!(
                node.kind(),
                "identifier" | "typed_parameter" | "positional_separator"
            ) && !self.source.of(**node).starts_with('*')
        });
        let joined = missing.join(", ");
        Some(match (plain.last(), all.first()) {
            (Some(last), _) => Edit::insert(last.end_byte(), format!(", {joined}")),
            (None, Some(other)) => Edit::insert(other.start_byte(), format!("{joined}, ")),
            (None, None) => Edit::insert(list.start_byte() + 1, joined),
        })
    }

    /// Lines at the start of its body, behind the docstring; `None` for a body on the line of the `def`.
    pub fn prepend(self, lines: &[String]) -> Option<Edit> {
        let pieces: Vec<Piece> = lines.iter().map(|line| Piece::line(line)).collect();
        self.prepend_pieces(&pieces)
    }

    /// The call arguments of its `pytest.fixture` decorator, if it has one with arguments.
    fn fixture_call(self) -> Option<Node<'a>> {
        self.decorators().into_iter().find_map(|decorator| {
            let call = decorator.named_child(0)?;
            let function = call.child_by_field_name("function")?;
            let named = self.source.of(function);
            (call.kind() == "call" && named.ends_with("fixture")).then_some(call)
        })
    }

    pub(crate) fn decorators(self) -> Vec<Node<'a>> {
        let mut cursor = self.outer.walk();
        self.outer
            .named_children(&mut cursor)
            .filter(|node| node.kind() == "decorator")
            .collect()
    }

    /// What its `pytest.fixture` decorator is called with, and which of that is the scope.
    fn scope_argument(self) -> Option<(Node<'a>, Vec<Node<'a>>, usize)> {
        let call = self.fixture_call()?;
        let arguments = call.child_by_field_name("arguments")?;
        let mut cursor = arguments.walk();
        let all: Vec<Node<'_>> = arguments.named_children(&mut cursor).collect();
        let at = all.iter().position(|node| {
            node.kind() == "keyword_argument"
                && node
                    .child_by_field_name("name")
                    .is_some_and(|n| self.source.of(n) == "scope")
        })?;
        Some((arguments, all, at))
    }

    /// The scope of a fixture that says it, e.g. `module`.
    pub(crate) fn fixture_scope(self) -> Option<&'a str> {
        let (_, all, at) = self.scope_argument()?;
        let value = all[at].child_by_field_name("value")?;
        Some(self.source.of(value).trim_matches(['"', '\'']))
    }

    /// Whether it is a fixture that nobody has to ask for.
    pub(crate) fn is_autouse(self) -> bool {
        let arguments = self
            .fixture_call()
            .and_then(|call| call.child_by_field_name("arguments"));
        let Some(arguments) = arguments else {
            return false;
        };
        let mut cursor = arguments.walk();
        arguments.named_children(&mut cursor).any(|node| {
            let of = |field: &str| node.child_by_field_name(field).map(|n| self.source.of(n));
            of("name") == Some("autouse") && of("value") != Some("False")
        })
    }

    /// Takes the scope off a fixture, so that every test gets its own.
    pub fn drop_scope(self) -> Option<Vec<Edit>> {
        let (arguments, all, at) = self.scope_argument()?;
        let range = if all.len() == 1 {
            arguments.byte_range()
        } else if at + 1 < all.len() {
            all[at].start_byte()..all[at + 1].start_byte()
        } else {
            all[at - 1].end_byte()..all[at].end_byte()
        };
        Some(vec![Edit::replace(range, "")])
    }

    /// A class-wide set-up made one for every test: `setUpClass(cls)` becomes `setUp(self)`.
    pub fn to_method(self, from: &str, to: &str) -> Vec<Edit> {
        let mut edits = Vec::new();
        for decorator in self.decorators() {
            if self.source.of(decorator).trim() == "@classmethod" {
                let start = self.source.line_start(decorator.start_byte());
                let end = self.source.line_end(decorator.end_byte());
                edits.push(Edit::replace(start..end, ""));
            }
        }
        let mut waiting = vec![self.node];
        while let Some(node) = waiting.pop() {
            if node.kind() == "identifier" {
                let new = match self.source.of(node) {
                    "cls" | "klass" => Some("self"),
                    name if name == from => Some(to),
                    _ => None,
                };
                if let Some(new) = new {
                    edits.push(Edit::replace(node.byte_range(), new));
                }
            }
            let mut cursor = node.walk();
            waiting.extend(node.children(&mut cursor));
        }
        edits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply;

    fn edited(text: &str, edits: impl FnOnce(&Source) -> Vec<Edit>) -> String {
        let source = Source::parse(text).expect("it parses");
        let out = apply(text, &edits(&source)).expect("they do not overlap");
        assert!(Source::parse(&out).is_some(), "no longer parses:\n{out}");
        out
    }

    #[test]
    fn a_call_goes_behind_the_docstring_with_the_indentation_of_the_file() {
        let text =
            "class TestA:\n  def test_b(self):\n    \"\"\"Doc.\"\"\"\n    # why\n    x = 1\n";
        let out = edited(text, |s| {
            let f = s.function(&["TestA", "test_b"]).expect("found");
            f.prepend(&["reset()".into()]).into_iter().collect()
        });
        assert_eq!(
            out,
            "class TestA:\n  def test_b(self):\n    \"\"\"Doc.\"\"\"\n    # why\n    reset()\n    x = 1\n"
        );
    }

    #[test]
    fn a_level_of_indentation_is_one_of_the_code_and_the_last_class_of_a_name_counts() {
        for (text, indent) in [
            (
                "\"\"\"Doc.\n\n  Example\n\"\"\"\n\n\ndef f():\n    pass\n",
                "    ",
            ),
            ("x = [\n  1,\n]\nif x:\n\tpass\n", "\t"),
            ("class A:\n  def f(self):\n      pass\n", "  "),
            ("def f(\n        a,\n):\n   # why\n   pass\n", "   "),
            ("x = 1\n", "    "),
        ] {
            let source = Source::parse(text).expect("parses");
            assert_eq!(source.indent(), indent, "{text}");
        }
        let text = "class A:\n    x = 1\n\n\nclass A:\n    def f(self):\n        pass\n";
        let source = Source::parse(text).expect("parses");
        assert!(source.function(&["A", "f"]).is_some());
    }

    #[test]
    fn a_body_on_one_line_is_refused() {
        let source = Source::parse("def test_a(): pass\n").expect("parses");
        let f = source.function(&["test_a"]).expect("found");
        assert!(f.prepend(&["x()".into()]).is_none());
    }

    #[test]
    fn modern_syntax_parses_and_nested_and_async_tests_are_found() {
        let text = "import a\n\n\nasync def test_x(a, /, b: int, *, c=1):\n    match a:\n        case 1:\n            pass\n    if (n := 1):\n        pass\n    try:\n        pass\n    except* ValueError:\n        pass\n\n\nclass A:\n    class B:\n        def test_y(self):\n            pass\n";
        let source = Source::parse(text).expect("parses");
        let x = source.function(&["test_x"]).expect("found");
        assert!(x.is_async());
        assert_eq!(x.parameters(), ["a", "b"]);
        assert!(source.function(&["A", "B", "test_y"]).is_some());
    }

    #[test]
    fn a_fixture_loses_its_scope_and_keeps_the_rest() {
        for (before, after) in [
            ("@pytest.fixture(scope=\"module\")", "@pytest.fixture"),
            (
                "@pytest.fixture(scope='session', autouse=True)",
                "@pytest.fixture(autouse=True)",
            ),
            (
                "@fixture(name=\"x\", scope=\"class\")",
                "@fixture(name=\"x\")",
            ),
        ] {
            let text = format!("{before}\ndef thing():\n    return []\n");
            let out = edited(&text, |s| {
                s.function(&["thing"])
                    .and_then(Function::drop_scope)
                    .expect("scope")
            });
            assert!(out.starts_with(&format!("{after}\ndef")), "{out}");
        }
    }

    #[test]
    fn a_class_set_up_becomes_one_for_every_test() {
        let text = "class TestA(TestCase):\n    @classmethod\n    def setUpClass(cls):\n        super().setUpClass()\n        cls.x = []\n";
        let out = edited(text, |s| {
            s.function(&["TestA", "setUpClass"])
                .expect("found")
                .to_method("setUpClass", "setUp")
        });
        assert_eq!(
            out,
            "class TestA(TestCase):\n    def setUp(self):\n        super().setUp()\n        self.x = []\n"
        );
    }

    #[test]
    fn parameters_are_added_once_and_behind_those_without_a_default() {
        let text = "class T:\n    def test_a(self, x, /, *, z=1):\n        pass\n\n\ndef test_b():\n    pass\n";
        let out = edited(text, |s| {
            let names = ["x".to_owned(), "y".to_owned()];
            let a = s
                .function(&["T", "test_a"])
                .and_then(|f| f.add_parameters(&names));
            let b = s
                .function(&["test_b"])
                .and_then(|f| f.add_parameters(&names));
            a.into_iter().chain(b).collect()
        });
        assert!(out.contains("def test_a(self, x, /, y, *, z=1):"), "{out}");
        assert!(out.contains("def test_b(x, y):"), "{out}");
    }
}
