//! What a replacement has to look like so that its surroundings still mean what they meant: as many lines as before,
//! no two words grown together, parentheses where the probe needs them.

use std::ops::Range;

/// What a probe calls; it returns `None`, so that `(… or value)` is the value. Names that end in two underscores
/// are not mangled in classes.
pub(super) const HIT: &str = "__flakelab_hit__";
/// The decorator that stands where another was removed.
pub(super) const SEEN: &str = "__flakelab_seen__";

/// The text of a file, and how its lines end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout<'a> {
    pub(super) text: &'a str,
    newline: &'static str,
}

/// What takes the place of a range: for people, and with a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) plain: String,
    pub(super) probed: String,
}

impl<'a> Layout<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        Self { text, newline }
    }

    /// The line ends that `new` lacks, to stay as long as what it replaces.
    fn lost(self, range: &Range<usize>, new: &str) -> usize {
        let count = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count();
        count(&self.text[range.clone()]).saturating_sub(count(new))
    }

    /// An expression. `loose` ones bind less than `or`.
    pub(super) fn expression(self, range: &Range<usize>, new: &str, loose: bool) -> Change {
        let rest = self.newline.repeat(self.lost(range, new));
        let inner = if loose {
            format!("({new})")
        } else {
            new.to_owned()
        };
        let plain = if rest.is_empty() {
            self.apart(range, new)
        } else {
            format!("({new}{rest})")
        };
        Change {
            plain,
            probed: format!("({HIT}() or {inner}{rest})"),
        }
    }

    /// Brackets around nothing but the lines of what they replace.
    pub(super) fn empty(self, range: &Range<usize>, open: &str, close: char) -> String {
        let lines = self.newline.repeat(self.lost(range, ""));
        format!("{open}{lines}{close}")
    }

    /// A simple statement, or several on the lines of what they replace.
    pub(super) fn statement(self, range: &Range<usize>, new: &str) -> Change {
        let lost = self.lost(range, new);
        let rest = if lost > 0 && self.goes_on(range.end) {
            format!(" \\{}", self.newline).repeat(lost)
        } else {
            self.newline.repeat(lost)
        };
        Change {
            plain: format!("{new}{rest}"),
            probed: format!("{HIT}(); {new}{rest}"),
        }
    }

    /// A decorator that is removed. Its line stays, empty.
    pub(super) fn decorator(self, range: &Range<usize>) -> Change {
        let rest = self.newline.repeat(self.lost(range, ""));
        Change {
            probed: format!("@{SEEN}{rest}"),
            plain: rest,
        }
    }

    /// Whether another statement, or a lone semicolon, follows on the same line.
    fn goes_on(self, end: usize) -> bool {
        let rest = self.text[end..].trim_start_matches([' ', '\t', '\x0c', '\\', '\r', '\n']);
        let between = &self.text[end..self.text.len() - rest.len()];
        let joined = between.replace("\\\r\n", "").replace("\\\n", "");
        rest.starts_with(';') && !joined.contains('\n')
    }

    /// `return-x` without its sign is not `returnx`.
    fn apart(self, range: &Range<usize>, new: &str) -> String {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let quote = |c: char| matches!(c, '"' | '\'');
        let before = self.text[..range.start].chars().next_back();
        let after = self.text[range.end..].chars().next();
        let mut out = String::with_capacity(new.len() + 2);
        let starts = new.chars().next();
        if before.is_some_and(word) && starts.is_some_and(|c| word(c) || quote(c)) {
            out.push(' ');
        }
        out.push_str(new);
        let ends = new.chars().next_back();
        if ends.is_some_and(|c| word(c) || c == '.') && after.is_some_and(|c| word(c) || quote(c)) {
            out.push(' ');
        }
        out
    }
}

/// Whether an expression of that kind binds less than `or`.
pub(super) fn is_loose(kind: &str) -> bool {
    matches!(
        kind,
        "lambda" | "conditional_expression" | "named_expression" | "yield" | "expression_list"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_do_not_grow_together_and_lines_stay() {
        let text = "return-x\nif(a\n  or b):pass\n";
        let layout = Layout::new(text);
        assert_eq!(layout.expression(&(6..8), "x", false).plain, " x");
        let condition = 11..21;
        assert_eq!(&text[condition.clone()], "(a\n  or b)");
        let forced = layout.expression(&condition, "True", false);
        assert_eq!(forced.plain, "(True\n)");
        assert_eq!(forced.probed, "(__flakelab_hit__() or True\n)");
    }

    #[test]
    fn a_statement_with_another_behind_it_keeps_it_on_its_line() {
        let text = "f(\n); g()\nh(\n)  # why\n";
        let layout = Layout::new(text);
        assert_eq!(layout.statement(&(0..4), "pass").plain, "pass \\\n");
        assert_eq!(layout.statement(&(10..14), "pass").plain, "pass\n");
    }
}
