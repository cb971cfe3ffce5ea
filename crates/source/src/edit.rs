//! Edits as data: a byte range and what takes its place.

use std::ops::Range;

use similar::TextDiff;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub range: Range<usize>,
    pub text: String,
}

impl Edit {
    pub fn insert(at: usize, text: impl Into<String>) -> Self {
        Self {
            range: at..at,
            text: text.into(),
        }
    }

    pub fn replace(range: Range<usize>, text: impl Into<String>) -> Self {
        Self {
            range,
            text: text.into(),
        }
    }
}

/// The text with all edits applied; they must not overlap. Line ends of the file are kept.
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let mut ordered: Vec<&Edit> = edits.iter().collect();
    ordered.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let windows = text.contains("\r\n");
    let mut out = String::with_capacity(text.len() + 200);
    let mut at = 0;
    for edit in ordered {
        if edit.range.start < at {
            continue;
        }
        out.push_str(&text[at..edit.range.start]);
        if windows {
            out.push_str(&edit.text.replace('\n', "\r\n"));
        } else {
            out.push_str(&edit.text);
        }
        at = edit.range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// A unified diff that `git apply` takes; empty if nothing changed. `before` is `None` for a new file.
pub fn unified(path: &str, before: Option<&str>, after: &str) -> String {
    let old = before.unwrap_or_default();
    if before.is_some() && old == after {
        return String::new();
    }
    let from = match before {
        Some(_) => format!("a/{path}"),
        None => "/dev/null".to_owned(),
    };
    let body = TextDiff::from_lines(old, after)
        .unified_diff()
        .context_radius(3)
        .header(&from, &format!("b/{path}"))
        .to_string();
    let head = match before {
        Some(_) => format!("diff --git a/{path} b/{path}\n"),
        None => format!("diff --git a/{path} b/{path}\nnew file mode 100644\n"),
    };
    head + &body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_keep_line_ends_and_the_rest() {
        let text = "a\r\nb\r\n";
        let edits = [Edit::insert(3, "x\n"), Edit::replace(0..1, "A")];
        assert_eq!(apply(text, &edits), "A\r\nx\r\nb\r\n");
    }

    #[test]
    fn a_diff_names_both_sides() {
        let diff = unified("t.py", Some("a\nb\n"), "a\nc\n");
        assert!(diff.contains("--- a/t.py\n+++ b/t.py\n"), "{diff}");
        assert!(diff.contains("-b\n+c\n"), "{diff}");
        assert_eq!(unified("t.py", Some("a\n"), "a\n"), "");
        assert!(unified("n.py", None, "a\n").contains("--- /dev/null"));
    }
}
