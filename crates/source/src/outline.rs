//! What a file consists of, besides tests: fixtures, set-ups, and state that tests share.

use tree_sitter::Node;

use crate::python::{Function, Source, definitions};

/// Functions that unittest and pytest call around tests by their names.
const SET_UPS: [&str; 14] = [
    "setUp",
    "tearDown",
    "setUpClass",
    "tearDownClass",
    "setUpModule",
    "tearDownModule",
    "setup_method",
    "teardown_method",
    "setup_class",
    "teardown_class",
    "setup_function",
    "teardown_function",
    "setup_module",
    "teardown_module",
];

impl Function<'_> {
    /// First and last line, decorators included, from 1.
    pub fn lines(self) -> (usize, usize) {
        let last = self.node.end_position().row + 1;
        (self.outer.start_position().row + 1, last)
    }

    /// The line it starts at, from 1, decorators included.
    pub fn first_line(self) -> usize {
        self.outer.start_position().row + 1
    }

    /// The line of its `def`, from 1.
    pub fn line(self) -> usize {
        self.node.start_position().row + 1
    }

    /// From the start of the line of its `def` to its end.
    pub fn span(self) -> std::ops::Range<usize> {
        self.source.line_start(self.node.start_byte())..self.node.end_byte()
    }
}

impl Source {
    /// Whether lines from `first` to `last`, from 1, have code that is in no function: what runs when the file is imported.
    pub fn runs_at_import(&self, first: usize, last: usize) -> bool {
        let lines = self.text().lines().enumerate().take(last);
        lines.skip(first.saturating_sub(1)).any(|(row, line)| {
            let code = line.trim_start();
            !code.is_empty() && !code.starts_with('#') && !self.is_in_function(row)
        })
    }

    fn is_in_function(&self, row: usize) -> bool {
        let mut node = self.root();
        loop {
            if node.kind() == "function_definition" {
                return true;
            }
            let mut cursor = node.walk();
            let around = |child: &Node<'_>| {
                (child.start_position().row..=child.end_position().row).contains(&row)
            };
            let inner = node.named_children(&mut cursor).find(around);
            match inner {
                Some(inner) => node = inner,
                None => return false,
            }
        }
    }

    /// Names, from the outside in, of fixtures and of set-ups and teardowns.
    pub fn fixtures(&self) -> Vec<Vec<String>> {
        let mut found = Vec::new();
        self.collect_fixtures(self.root(), &mut Vec::new(), &mut found);
        found
    }

    /// The scopes that its fixtures say they have.
    pub fn fixture_scopes(&self) -> Vec<String> {
        let fixtures = self.fixtures().into_iter();
        fixtures
            .filter_map(|path| {
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                let scope = self.function(&path)?.fixture_scope()?;
                Some(scope.to_owned())
            })
            .collect()
    }

    fn collect_fixtures(
        &self,
        body: Node<'_>,
        path: &mut Vec<String>,
        found: &mut Vec<Vec<String>>,
    ) {
        for (outer, node) in definitions(body) {
            let Some(name) = node.child_by_field_name("name").map(|n| self.of(n)) else {
                continue;
            };
            path.push(name.to_owned());
            if node.kind() == "class_definition" {
                if let Some(inner) = node.child_by_field_name("body") {
                    self.collect_fixtures(inner, path, found);
                }
            } else if SET_UPS.contains(&name) || self.is_fixture(outer) {
                found.push(path.clone());
            }
            path.pop();
        }
    }

    fn is_fixture(&self, outer: Node<'_>) -> bool {
        let mut cursor = outer.walk();
        outer
            .named_children(&mut cursor)
            .filter(|node| node.kind() == "decorator")
            .any(|node| {
                let text = self.of(node);
                let name = text.split('(').next().unwrap_or_default();
                name.trim_end().ends_with("fixture")
            })
    }

    /// Mutable values that the tests of a class, or the functions of the file, share: assigned at the level
    /// of the module or of the class.
    pub fn shared_fields(&self, class: &[&str]) -> usize {
        let module = self.mutable_in(self.root());
        let own = self
            .class(class)
            .and_then(|class| class.node.child_by_field_name("body"))
            .map_or(0, |body| self.mutable_in(body));
        module + own
    }

    fn mutable_in(&self, body: Node<'_>) -> usize {
        let mut cursor = body.walk();
        body.named_children(&mut cursor)
            .filter_map(|node| node.named_child(0).filter(|n| n.kind() == "assignment"))
            .filter_map(|node| node.child_by_field_name("right"))
            .filter(|value| {
                matches!(
                    value.kind(),
                    "list"
                        | "dictionary"
                        | "set"
                        | "call"
                        | "list_comprehension"
                        | "dictionary_comprehension"
                        | "set_comprehension"
                )
            })
            .count()
    }
}

#[cfg(test)]
mod tests {
    use crate::Source;

    #[test]
    fn fixtures_and_shared_state_are_found() {
        let text = "A = []\nB = 1\nC = dict()\n\n\n@pytest.fixture(scope='x')\ndef box():\n    pass\n\n\nclass T:\n    D = {}\n\n    def setUp(self):\n        pass\n\n    def test_a(self):\n        pass\n";
        let source = Source::parse(text).expect("parses");
        let paths: Vec<String> = source.fixtures().iter().map(|p| p.join(".")).collect();
        assert_eq!(paths, ["box", "T.setUp"]);
        assert_eq!(source.shared_fields(&[]), 2);
        assert_eq!(source.shared_fields(&["T"]), 3);
        let function = source.function(&["box"]).expect("found");
        assert_eq!((function.first_line(), function.line()), (6, 7));
        let at_import: Vec<usize> = (1..=20).filter(|l| source.runs_at_import(*l, *l)).collect();
        assert_eq!(at_import, [1, 2, 3, 6, 11, 12]);
        assert!(source.runs_at_import(8, 11) && !source.runs_at_import(7, 10));
    }
}
