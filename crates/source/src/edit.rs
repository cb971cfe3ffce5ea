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

    /// The text with this edit alone.
    pub fn applied(&self, text: &str) -> String {
        apply(text, std::slice::from_ref(self)).unwrap_or_else(|| text.to_owned())
    }
}

/// The text with all edits applied; `None` if two of them change the same. Line ends of the file are kept.
pub fn apply(text: &str, edits: &[Edit]) -> Option<String> {
    let mut ordered: Vec<&Edit> = edits.iter().collect();
    ordered.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let overlap = |pair: &[&Edit]| pair[1].range.start < pair[0].range.end;
    if ordered.windows(2).any(overlap) {
        return None;
    }
    let windows = text.contains("\r\n");
    let mut out = String::with_capacity(text.len() + 200);
    let mut at = 0;
    for edit in ordered {
        out.push_str(&text[at..edit.range.start]);
        if windows {
            // Text that was taken from such a file has its line ends already.
            let plain = edit.text.replace("\r\n", "\n");
            out.push_str(&plain.replace('\n', "\r\n"));
        } else {
            out.push_str(&edit.text);
        }
        at = edit.range.end;
    }
    out.push_str(&text[at..]);
    Some(out)
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

/// The same for one small change, without comparing what is far from it.
pub fn unified_near(path: &str, before: &str, range: &Range<usize>, new: &str) -> String {
    const AROUND: usize = 3;
    let start = before[..range.start]
        .rmatch_indices('\n')
        .nth(AROUND)
        .map_or(0, |(at, _)| at + 1);
    let end = before[range.end..]
        .match_indices('\n')
        .nth(AROUND)
        .map_or(before.len(), |(at, _)| range.end + at + 1);
    let after = format!(
        "{}{new}{}",
        &before[start..range.start],
        &before[range.end..end]
    );
    let lines = before[..start].matches('\n').count();
    let near = unified(path, Some(&before[start..end]), &after);
    near.split_inclusive('\n')
        .map(|line| moved(line, lines).unwrap_or_else(|| line.to_owned()))
        .collect()
}

/// The head of a hunk, so many lines further down.
fn moved(line: &str, lines: usize) -> Option<String> {
    let (numbers, rest) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = numbers.split_once(" +")?;
    let shift = |side: &str| -> Option<String> {
        let (first, length) = side
            .split_once(',')
            .map_or((side, None), |(f, l)| (f, Some(l)));
        let first = first.parse::<usize>().ok()? + lines;
        Some(length.map_or_else(|| first.to_string(), |length| format!("{first},{length}")))
    };
    Some(format!("@@ -{} +{} @@{rest}", shift(old)?, shift(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_near_a_change_is_the_diff_of_the_file() {
        let text: String = (0..40).map(|n| format!("line {n}\n")).collect();
        let short = "a\nb\nc";
        for (text, what, new) in [
            (text.as_str(), "line 0\n", "x\n"),
            (text.as_str(), "e 20", "E\nF"),
            (text.as_str(), "line 20\nline 21", "one"),
            (text.as_str(), "line 20\n", ""),
            (text.as_str(), "39", ""),
            (short, "c", "d"),
            (short, "a", "d"),
        ] {
            let start = text.find(what).expect("there");
            let range = start..start + what.len();
            let after = format!("{}{new}{}", &text[..range.start], &text[range.end..]);
            let whole = unified("f.py", Some(text), &after);
            assert_eq!(unified_near("f.py", text, &range, new), whole, "{what:?}");
        }
    }

    #[test]
    fn edits_keep_line_ends_and_the_rest() {
        let text = "a\r\nb\r\n";
        let edits = [Edit::insert(3, "x\ny\r\n"), Edit::replace(0..1, "A")];
        let after = apply(text, &edits);
        assert_eq!(after.as_deref(), Some("A\r\nx\r\ny\r\nb\r\n"));
        // Neither of two that replace the same is left out without a word.
        let edits = [Edit::replace(0..2, "x"), Edit::replace(0..2, "y")];
        assert_eq!(apply(text, &edits), None);
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
