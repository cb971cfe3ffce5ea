//! Two changes of one text, made one.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Lines of the text before that are something else now.
struct Hunk<'a> {
    lines: Range<usize>,
    now: Vec<&'a str>,
}

/// Both changes, where they touch different lines; `None` where they do not. What both put at one place stands there one
/// after the other, each import once.
pub fn merge(before: &str, ours: &str, theirs: &str) -> Option<String> {
    let base: Vec<&str> = before.split_inclusive('\n').collect();
    let mut hunks = hunks(&base, ours);
    hunks.extend(self::hunks(&base, theirs));
    // Ours first, where both are at one place: the sort is stable.
    hunks.sort_by_key(|hunk| (hunk.lines.start, hunk.lines.end));
    let mut merged = String::new();
    let mut last = Hunk {
        lines: 0..0,
        now: Vec::new(),
    };
    for mut hunk in hunks {
        let is_same = hunk.lines == last.lines;
        if is_same && hunk.now == last.now {
            continue;
        }
        if hunk.lines.start < last.lines.end || is_same && !hunk.lines.is_empty() {
            return None;
        }
        merged.extend(base[last.lines.end..hunk.lines.start].iter().copied());
        if is_same {
            hunk.now
                .retain(|line| !(is_import(line) && last.now.contains(line)));
        }
        merged.extend(hunk.now.iter().copied());
        last = hunk;
    }
    merged.extend(base[last.lines.end..].iter().copied());
    Some(merged)
}

fn is_import(line: &str) -> bool {
    line.starts_with("import ") || line.starts_with("from ")
}

fn hunks<'a>(base: &[&str], after: &'a str) -> Vec<Hunk<'a>> {
    let after: Vec<&str> = after.split_inclusive('\n').collect();
    capture_diff_slices(Algorithm::Patience, base, &after)
        .into_iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .map(|op| Hunk {
            lines: op.old_range(),
            now: after[op.new_range()].to_vec(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "import os\n\ndef a():\n    x = 1\n\ndef b():\n    y = 1\n";

    #[test]
    fn changes_of_different_lines_are_both_there() {
        let ours = BEFORE.replace("x = 1", "x = 2");
        let theirs = BEFORE.replace("y = 1", "y = 2\n    z = 3");
        let both = ours.replace("y = 1", "y = 2\n    z = 3");
        assert_eq!(merge(BEFORE, &ours, &theirs), Some(both.clone()));
        assert_eq!(merge(BEFORE, &theirs, &ours), Some(both));
        assert_eq!(merge(BEFORE, &ours, &ours), Some(ours.clone()));
        assert_eq!(merge(BEFORE, &ours, BEFORE), Some(ours));
    }

    #[test]
    fn changes_of_one_line_are_refused() {
        let ours = BEFORE.replace("x = 1", "x = 2");
        for theirs in ["x = 3", "", "x = 1\n    w = 1\n    x = 4"] {
            let theirs = BEFORE.replace("    x = 1\n", theirs);
            assert_eq!(merge(BEFORE, &ours, &theirs), None, "{theirs}");
        }
    }

    #[test]
    fn what_both_insert_at_one_place_is_there_with_each_import_once() {
        let with = |lines: &str| BEFORE.replace("import os\n", &format!("import os\n{lines}"));
        let ours = with("import pytest\nOURS = 1\n");
        let theirs = with("import pytest\nTHEIRS = 1\n");
        let both = with("import pytest\nOURS = 1\nTHEIRS = 1\n");
        assert_eq!(merge(BEFORE, &ours, &theirs), Some(both));
    }
}
