//! The body of a function as pieces that can stand elsewhere, and places where pieces can be put.

use tree_sitter::Node;

use crate::edit::Edit;
use crate::python::{Class, Function, Source};

/// One statement, free of where it stood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Lines without the indentation of the body they come from; those inside a string are left as they are.
    lines: Vec<(bool, String)>,
    /// Whether it would end or suspend the function it stands in.
    pub leaves: bool,
}

impl Piece {
    pub fn line(text: &str) -> Self {
        Self {
            lines: vec![(false, text.to_owned())],
            leaves: false,
        }
    }

    /// Pieces one level deeper between lines of ours.
    pub fn wrap(head: &[&str], pieces: &[Piece], indent: &str, tail: &[&str]) -> Self {
        let own = |lines: &[&str]| -> Vec<(bool, String)> {
            let lines = lines.iter();
            lines.map(|line| (false, (*line).to_owned())).collect()
        };
        let deeper = |(inside, line): &(bool, String)| match (inside, line.as_str()) {
            (true, _) | (_, "") => (*inside, line.clone()),
            _ => (*inside, format!("{indent}{line}")),
        };
        let inner = pieces
            .iter()
            .flat_map(|piece| piece.lines.iter().map(deeper));
        Self {
            lines: own(head)
                .into_iter()
                .chain(inner)
                .chain(own(tail))
                .collect(),
            leaves: pieces.iter().any(|piece| piece.leaves),
        }
    }

    /// The statement at this indentation, without the last line's end.
    pub fn at(&self, indent: &str) -> String {
        let mut out = String::new();
        for (number, (inside, line)) in self.lines.iter().enumerate() {
            if number > 0 {
                out.push('\n');
            }
            if !inside && !line.is_empty() {
                out.push_str(indent);
            }
            out.push_str(line);
        }
        out
    }
}

impl<'a> Function<'a> {
    /// Its statements, behind the docstring.
    pub fn pieces(self) -> Vec<Piece> {
        let statements = self.statements_of_body();
        statements
            .into_iter()
            .filter(|node| !matches!(node.kind(), "pass_statement"))
            .map(|node| self.source.piece(node))
            .collect()
    }

    fn statements_of_body(self) -> Vec<Node<'a>> {
        let Some(body) = self.node.child_by_field_name("body") else {
            return Vec::new();
        };
        let mut cursor = body.walk();
        let all: Vec<Node<'_>> = body
            .named_children(&mut cursor)
            .filter(|node| node.kind() != "comment")
            .collect();
        let skip = usize::from(all.first().is_some_and(|first| is_docstring(*first)));
        all.into_iter().skip(skip).collect()
    }

    /// Pieces at the start of its body, behind the docstring; `None` for a body on the line of the `def`.
    pub fn prepend_pieces(self, pieces: &[Piece]) -> Option<Edit> {
        let (start, lead) = self.first_statement()?;
        let text: String = pieces.iter().map(|p| format!("{}\n", p.at(lead))).collect();
        Some(Edit::insert(start, text))
    }

    /// Pieces at the end of its body. `None` where the last statement would never get there.
    pub fn append_pieces(self, pieces: &[Piece]) -> Option<Edit> {
        let (_, lead) = self.first_statement()?;
        let last = self.statements_of_body().into_iter().next_back()?;
        if matches!(last.kind(), "return_statement" | "raise_statement") {
            return None;
        }
        let at = self.source.line_end(last.end_byte());
        let newline = if self.source.text()[..at].ends_with('\n') {
            ""
        } else {
            "\n"
        };
        let text: String = pieces.iter().map(|p| format!("{}\n", p.at(lead))).collect();
        Some(Edit::insert(at, format!("{newline}{text}")))
    }

    fn first_statement(self) -> Option<(usize, &'a str)> {
        let first = behind_docstring(self.node)?;
        self.source.line_of(first)
    }
}

impl Function<'_> {
    /// One more decorator, above those it has.
    pub fn decorate(self, decorator: &str) -> Option<Edit> {
        self.source.decorate(self.node, decorator)
    }
}

impl<'a> Class<'a> {
    /// One more decorator, above those it has.
    pub fn decorate(self, decorator: &str) -> Option<Edit> {
        self.source.decorate(self.node, decorator)
    }

    /// A method at the start of the class, behind its docstring.
    pub fn add_method(self, head: &str, body: &[Piece]) -> Option<Edit> {
        let next = behind_docstring(self.node)?;
        let (start, lead) = self.source.line_of(next)?;
        let indent = self.source.indent();
        let mut text = format!("{lead}{head}\n");
        for piece in body {
            text.push_str(&format!("{}\n", piece.at(&format!("{lead}{indent}"))));
        }
        let alone = next.prev_named_sibling().is_none() && next.next_named_sibling().is_none();
        if next.kind() == "pass_statement" && alone {
            // It was only there because there was nothing else.
            return Some(Edit::replace(
                start..self.source.line_end(next.end_byte()),
                text,
            ));
        }
        text.push('\n');
        Some(Edit::insert(start, text))
    }
}

/// The first statement of a definition behind its docstring; `None` for a body on the line of the head.
fn behind_docstring(definition: Node<'_>) -> Option<Node<'_>> {
    let body = definition.child_by_field_name("body")?;
    let mut cursor = body.walk();
    let mut statements = body
        .named_children(&mut cursor)
        .filter(|node| node.kind() != "comment");
    let first = statements.next()?;
    if first.start_position().row == definition.start_position().row {
        return None;
    }
    Some(match statements.next() {
        Some(second) if is_docstring(first) => second,
        _ => first,
    })
}

impl Source {
    /// The start of the line where a statement stands, and its indentation; `None` if another comes before it.
    fn line_of(&self, node: Node<'_>) -> Option<(usize, &str)> {
        let start = self.line_start(node.start_byte());
        let lead = &self.text()[start..node.start_byte()];
        lead.trim().is_empty().then_some((start, lead))
    }

    fn decorate(&self, definition: Node<'_>, decorator: &str) -> Option<Edit> {
        let outer = definition.parent();
        let outer = outer.filter(|outer| outer.kind() == "decorated_definition");
        let (start, lead) = self.line_of(outer.unwrap_or(definition))?;
        Some(Edit::insert(start, format!("{lead}{decorator}\n")))
    }

    fn piece(&self, node: Node<'_>) -> Piece {
        let start = self.line_start(node.start_byte());
        let lead = &self.text()[start..node.start_byte()];
        // A statement behind another on one line has no indentation of its own.
        let lead = if lead.trim().is_empty() { lead } else { "" };
        let mut strings = Vec::new();
        collect(node, "string", &mut strings);
        let mut lines = Vec::new();
        let mut at = node.start_byte();
        for line in self.of(node).split('\n') {
            let inside = strings
                .iter()
                .any(|s: &Node<'_>| s.start_byte() < at && at < s.end_byte());
            let kept = line.strip_suffix('\r').unwrap_or(line);
            let kept = if inside {
                kept
            } else {
                kept.strip_prefix(lead).unwrap_or(kept.trim_start())
            };
            lines.push((inside, kept.to_owned()));
            at += line.len() + 1;
        }
        Piece {
            lines,
            leaves: leaves(self, node),
        }
    }
}

/// Whether running it can end, suspend or skip the function around it.
fn leaves(source: &Source, node: Node<'_>) -> bool {
    match node.kind() {
        "return_statement" | "yield" | "raise_statement" | "global_statement"
        | "nonlocal_statement" => return true,
        "function_definition" | "class_definition" | "lambda" => return false,
        "call" => {
            let function = node.child_by_field_name("function");
            let name = function.map_or("", |f| source.of(f));
            let last = name.rsplit('.').next().unwrap_or_default();
            if matches!(
                last,
                "skip" | "skipTest" | "xfail" | "exit" | "_exit" | "importorskip"
            ) {
                return true;
            }
        }
        _ => {}
    }
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .any(|child| leaves(source, child))
}

fn collect<'a>(node: Node<'a>, kind: &str, into: &mut Vec<Node<'a>>) {
    if node.kind() == kind {
        into.push(node);
        return;
    }
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        collect(child, kind, into);
    }
}

pub(crate) fn is_docstring(node: Node<'_>) -> bool {
    node.kind() == "expression_statement"
        && node.named_child(0).is_some_and(|n| n.kind() == "string")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply;

    #[test]
    fn pieces_move_to_another_indentation_and_strings_stay() {
        let text = "class A:\n    def test_a(self):\n        '''Doc.'''\n        if x:\n            y()\n        z = \"\"\"a\n  b\"\"\"; w()\n        return\n";
        let source = Source::parse(text).expect("parses");
        let pieces = source.function(&["A", "test_a"]).expect("found").pieces();
        let at: Vec<String> = pieces.iter().map(|p| p.at("\t")).collect();
        assert_eq!(
            at,
            [
                "\tif x:\n\t    y()",
                "\tz = \"\"\"a\n  b\"\"\"",
                "\tw()",
                "\treturn"
            ]
        );
        let leaves: Vec<bool> = pieces.iter().map(|p| p.leaves).collect();
        assert_eq!(leaves, [false, false, false, true]);
    }

    #[test]
    fn what_stands_in_strings_is_not_indented_with_what_is_around_it() {
        let text = "def test_a():\n    x = \"\"\"a\n      b\n    \"\"\"\n\n\nclass A:\n    y = 1\n";
        let source = Source::parse(text).expect("parses");
        let pieces = source.function(&["test_a"]).expect("found").pieces();
        let whole = Piece::wrap(&["if y:"], &pieces, "    ", &["z()"]);
        let wanted = "if y:\n    x = \"\"\"a\n      b\n    \"\"\"\nz()";
        assert_eq!(whole.at(""), wanted);
        let class = source.class(&["A"]).expect("found");
        let edit = class.add_method("def setUp(self):", &[whole]);
        let out = edit.expect("an edit").applied(text);
        let wanted = "    def setUp(self):\n        if y:\n            x = \"\"\"a\n      b\n    \"\"\"\n        z()\n\n    y = 1\n";
        assert!(out.ends_with(wanted), "{out}");
    }

    #[test]
    fn pieces_go_to_the_start_and_to_the_end() {
        let text = "def test_a():\n  x = 1\n  # why\n  assert x\n\n\ndef test_b(): pass";
        let source = Source::parse(text).expect("parses");
        let a = source.function(&["test_a"]).expect("found");
        let pieces = [Piece::line("reset()")];
        let edits = [
            a.prepend_pieces(&pieces).expect("start"),
            a.append_pieces(&pieces).expect("end"),
        ];
        assert_eq!(
            apply(text, &edits).expect("they do not overlap"),
            "def test_a():\n  reset()\n  x = 1\n  # why\n  assert x\n  reset()\n\n\ndef test_b(): pass"
        );
        let b = source.function(&["test_b"]).expect("found");
        assert!(b.prepend_pieces(&pieces).is_none());
    }

    #[test]
    fn a_decorator_goes_above_the_others() {
        let text = "class A:\n    @skip\n    def test_a(self):\n        pass\n\n\nasync def test_b():\n    pass\n";
        let source = Source::parse(text).expect("parses");
        let edits = [
            source
                .function(&["A", "test_a"])
                .and_then(|f| f.decorate("@x")),
            source.function(&["test_b"]).and_then(|f| f.decorate("@y")),
            source.class(&["A"]).and_then(|c| c.decorate("@z")),
        ];
        let edits: Vec<Edit> = edits.into_iter().flatten().collect();
        assert_eq!(
            apply(text, &edits).expect("they do not overlap"),
            "@z\nclass A:\n    @x\n    @skip\n    def test_a(self):\n        pass\n\n\n@y\nasync def test_b():\n    pass\n"
        );
    }

    #[test]
    fn a_method_goes_behind_the_docstring_of_its_class() {
        let text = "class A:\n\t'''Doc.'''\n\n\tdef test_a(self):\n\t\tpass\n";
        let source = Source::parse(text).expect("parses");
        let class = source.class(&["A"]).expect("found");
        let edit = class.add_method("def setUp(self):", &[Piece::line("x()")]);
        assert_eq!(
            edit.expect("an edit").applied(text),
            "class A:\n\t'''Doc.'''\n\n\tdef setUp(self):\n\t\tx()\n\n\tdef test_a(self):\n\t\tpass\n"
        );
    }
}
