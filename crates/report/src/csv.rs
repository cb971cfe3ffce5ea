//! Cells of comma-separated tables.

use crate::wording::visible;

/// Text of a suite as one cell, quoted as in RFC 4180.
///
/// Spreadsheets run a cell that begins like a formula, also a quoted one. Names come from the suites of others, so such a
/// cell gets an apostrophe in front. No file name or id that pytest makes begins like that by itself: programs that join
/// tables by these names see them as they are.
pub(crate) fn cell(text: &str) -> String {
    let mut text = visible(text);
    if text.starts_with(['=', '+', '-', '@']) {
        text.insert(0, '\'');
    }
    if text.contains([',', '"']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        assert_eq!(
            cell("tests/test_a.py::test[1-2]"),
            "tests/test_a.py::test[1-2]"
        );
        assert_eq!(cell("a,b"), "\"a,b\"");
        assert_eq!(cell("a \"b\""), "\"a \"\"b\"\"\"");
        assert_eq!(cell("a\r\nb"), "a\u{fffd}\u{fffd}b");
    }

    #[test]
    fn no_cell_is_a_formula() {
        assert_eq!(cell("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
        assert_eq!(cell("@SUM(1)"), "'@SUM(1)");
        assert_eq!(cell("\t=1"), "\u{fffd}=1");
    }
}
