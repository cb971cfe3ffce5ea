//! What a file imports, and where code that needs more can stand.

use tree_sitter::Node;

use crate::body::is_docstring;
use crate::edit::Edit;
use crate::python::Source;

impl Source {
    /// Where code that needs imports can stand: behind the line of the last one above the first definition, or of the
    /// docstring. Other statements may stand between imports: a path that is put in front, a package that is set up.
    pub fn after_imports(&self) -> usize {
        let root = self.root();
        let mut cursor = root.walk();
        let mut end = 0;
        let mut statements = root
            .named_children(&mut cursor)
            .filter(|node| node.kind() != "comment")
            .take_while(|node| !node.kind().ends_with("_definition"))
            .peekable();
        if let Some(first) = statements.peek().filter(|first| is_docstring(**first)) {
            end = first.end_byte();
        }
        for node in statements {
            if self.has_import(node) {
                end = node.end_byte();
            }
        }
        if end == 0 {
            return self.after_header();
        }
        self.line_end(end)
    }

    /// Whether a statement imports, if only where it can.
    fn has_import(&self, node: Node<'_>) -> bool {
        match node.kind() {
            "import_statement" | "import_from_statement" | "future_import_statement" => true,
            "function_definition" | "class_definition" => false,
            "expression_statement" => self.of(node).contains("importorskip("),
            _ => {
                let mut cursor = node.walk();
                node.named_children(&mut cursor)
                    .any(|child| self.has_import(child))
            }
        }
    }

    /// Behind what must stay first: a byte order mark, the line of the interpreter, the encoding.
    fn after_header(&self) -> usize {
        let mark = self.text().chars().next().filter(|c| *c == '\u{feff}');
        let mut at = mark.map_or(0, char::len_utf8);
        for line in self.text()[at..].split_inclusive('\n').take(2) {
            if line.starts_with("#!") || (line.starts_with('#') && line.contains("coding")) {
                at += line.len();
            } else {
                break;
            }
        }
        at
    }

    /// What the file at this path calls a module: itself, an alias, or the name it was imported by.
    pub fn name_of(&self, module: &str, path: &str) -> Option<String> {
        let root = self.root();
        let mut cursor = root.walk();
        for node in root.named_children(&mut cursor) {
            let from = match node.kind() {
                "import_statement" => String::new(),
                "import_from_statement" => match node.child_by_field_name("module_name") {
                    Some(name) if name.kind() == "dotted_name" => format!("{}.", self.of(name)),
                    Some(name) => absolute(self.of(name), path),
                    None => continue,
                },
                _ => continue,
            };
            let mut inner = node.walk();
            for name in node.children_by_field_name("name", &mut inner) {
                let (imported, known) = match name.kind() {
                    "aliased_import" => (
                        name.child_by_field_name("name").map(|n| self.of(n))?,
                        name.child_by_field_name("alias").map(|n| self.of(n))?,
                    ),
                    _ => (self.of(name), self.of(name)),
                };
                if format!("{from}{imported}") == module {
                    return Some(known.to_owned());
                }
            }
        }
        None
    }

    /// Whether `from … import name` stands at the top.
    pub fn imports_name(&self, name: &str) -> bool {
        let root = self.root();
        let mut cursor = root.walk();
        root.named_children(&mut cursor)
            .filter(|node| node.kind() == "import_from_statement")
            .any(|node| {
                let mut inner = node.walk();
                node.children_by_field_name("name", &mut inner)
                    .any(|imported| self.of(imported) == name)
            })
    }

    /// Whether `import module` stands at the top of the file, in front of a place.
    fn imports_before(&self, module: &str, end: usize) -> bool {
        let root = self.root();
        let mut cursor = root.walk();
        root.named_children(&mut cursor)
            .filter(|node| node.kind() == "import_statement" && node.end_byte() <= end)
            .any(|node| {
                let mut inner = node.walk();
                node.named_children(&mut inner)
                    .any(|name| name.kind() == "dotted_name" && self.of(name) == module)
            })
    }

    /// The lines that import what is not imported in front of a place: modules, or whole statements.
    fn missing(&self, needed: &[&str], end: usize) -> String {
        let mut lines: Vec<String> = Vec::new();
        for need in needed {
            let line = if need.starts_with("from ") || need.starts_with("import ") {
                (*need).to_owned()
            } else {
                format!("import {need}")
            };
            let bound = line.rsplit(' ').next().unwrap_or_default();
            let first = bound.split('.').next().unwrap_or_default();
            let there = match line.strip_prefix("import ") {
                Some(module) => self.imports_before(module, end),
                None => false,
            };
            let there = there || self.import_before(first, end).as_ref() == Some(&line);
            if !there && !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// Adds what is not imported yet, and a block of code behind the imports.
    pub fn add_block(&self, needed: &[&str], block: &str) -> Edit {
        let at = self.after_imports();
        let missing = self.missing(needed, at);
        let newline = if at > 0 && !self.text()[..at].ends_with('\n') {
            "\n"
        } else {
            ""
        };
        let rest = self.text()[at..].trim_start_matches(['\r', '\n']);
        let gap = self.text().len() - at - rest.len();
        let after = if rest.is_empty() { "" } else { "\n\n" };
        let lead = if at == 0 && missing.is_empty() {
            ""
        } else {
            "\n\n"
        };
        let text = format!("{newline}{missing}{lead}{block}{after}");
        Edit::replace(at..at + gap, text)
    }

    /// Adds what is not imported anywhere, behind the imports: for code that runs when all of the file has.
    pub fn add_imports(&self, needed: &[&str]) -> Option<Edit> {
        let missing = self.missing(needed, self.text().len());
        let at = self.after_imports();
        let newline = if at > 0 && !self.text()[..at].ends_with('\n') {
            "\n"
        } else {
            ""
        };
        (!missing.is_empty()).then(|| Edit::insert(at, format!("{newline}{missing}")))
    }

    /// (the part of the statement that imports it, the name it binds) for each name of an import.
    pub(crate) fn imported(&self, node: Node<'_>) -> Vec<(String, String)> {
        let mut cursor = node.walk();
        node.children_by_field_name("name", &mut cursor)
            .map(|name| {
                let whole = self.of(name).to_owned();
                let bound = match name.child_by_field_name("alias") {
                    Some(alias) => self.of(alias).to_owned(),
                    // `import a.b` binds `a`.
                    None => whole.split('.').next().unwrap_or_default().to_owned(),
                };
                (whole, bound)
            })
            .collect()
    }

    /// The statement that binds a name by import at the top of the module.
    pub fn import_of(&self, name: &str) -> Option<String> {
        self.import_before(name, self.text().len())
    }

    /// The same, for statements that end in front of a place.
    pub(crate) fn import_before(&self, name: &str, end: usize) -> Option<String> {
        let root = self.root();
        let mut cursor = root.walk();
        let mut found = None;
        let nodes = root.named_children(&mut cursor);
        for node in nodes.filter(|node| node.end_byte() <= end) {
            let from = match node.kind() {
                "import_statement" => None,
                "import_from_statement" => node.child_by_field_name("module_name"),
                _ => continue,
            };
            for (part, bound) in self.imported(node) {
                if bound == name {
                    found = Some(match from {
                        None => format!("import {part}"),
                        Some(from) => format!("from {} import {part}", self.of(from)),
                    });
                }
            }
        }
        found
    }
}

/// `.` or `..pkg` in a file as the start of an absolute name.
fn absolute(relative: &str, path: &str) -> String {
    let dots = relative.len() - relative.trim_start_matches('.').len();
    let mut folders: Vec<&str> = path.split('/').collect();
    folders.truncate(folders.len().saturating_sub(dots));
    let rest = relative.trim_start_matches('.');
    if !rest.is_empty() {
        folders.push(rest);
    }
    folders.iter().map(|part| format!("{part}.")).collect()
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
    fn a_block_goes_behind_the_imports_and_imports_only_what_is_missing() {
        let text = "\"\"\"Doc.\"\"\"\nfrom __future__ import annotations\nimport os\n\nX = 1\n";
        let out = edited(text, |s| {
            vec![s.add_block(&["os", "pytest"], "def a():\n    pass\n")]
        });
        assert_eq!(
            out,
            "\"\"\"Doc.\"\"\"\nfrom __future__ import annotations\nimport os\nimport pytest\n\n\ndef a():\n    pass\n\n\nX = 1\n"
        );
        // A licence may stand before the docstring.
        let text = "# Licence.\n\n\"\"\"Doc.\"\"\"\nfrom __future__ import annotations\nX = 1\n";
        let out = edited(text, |s| s.add_imports(&["os"]).into_iter().collect());
        let expected = text.replace("annotations\n", "annotations\nimport os\n");
        assert_eq!(out, expected);
    }

    #[test]
    fn a_block_goes_behind_imports_that_other_statements_stand_between() {
        for between in [
            "sys.path.insert(0, \"x\")",
            "__version__ = 1",
            "django.setup()",
            "os.environ.setdefault(\"A\", \"b\")",
            "pytest.importorskip(\"numpy\")",
            "if TYPE_CHECKING:\n    import shop",
            "try:\n    import a\nexcept ImportError:\n    a = None",
        ] {
            let text =
                format!("import sys\n{between}\nimport pytest\n\n\ndef test_a():\n    pass\n");
            let out = edited(&text, |s| {
                vec![s.add_block(&["pytest"], "@pytest.fixture\ndef a():\n    pass\n")]
            });
            let wanted = text.replace(
                "import pytest\n",
                "import pytest\n\n\n@pytest.fixture\ndef a():\n    pass\n",
            );
            assert_eq!(out, wanted);
        }
        let late = "import os\n\n\ndef f():\n    pass\n\n\nimport pytest\n";
        let out = edited(late, |s| {
            vec![s.add_block(&["pytest", "os"], "X = pytest\n")]
        });
        assert!(
            out.starts_with("import os\nimport pytest\n\n\nX = pytest\n\n\ndef f"),
            "{out}"
        );
        let source = Source::parse(late).expect("parses");
        assert!(source.add_imports(&["pytest"]).is_none());
    }

    #[test]
    fn a_module_is_known_by_the_name_it_was_imported_by() {
        let text = "import a.b\nimport c.d as e\nfrom f.g import h, i as j\nfrom . import k\n";
        let source = Source::parse(text).expect("parses");
        for (module, name) in [
            ("a.b", Some("a.b")),
            ("c.d", Some("e")),
            ("f.g.h", Some("h")),
            ("f.g.i", Some("j")),
            ("pkg.k", Some("k")),
            ("x", None),
        ] {
            assert_eq!(
                source.name_of(module, "pkg/test_x.py").as_deref(),
                name,
                "{module}"
            );
        }
    }
}
