//! Bars in rows and columns, all of one scale.

use std::fmt::Write as _;

use super::{ROW, label_text, label_width, number, opening};
use crate::html::escape;

const COLUMN: usize = 185;
/// Of a column, the longest bar; its value stands behind it.
const LONGEST: f64 = 130.0;
/// Above the rows, for the names of columns.
const HEAD: usize = 22;

pub(crate) struct Bar {
    pub(crate) value: f64,
    /// What may be chance is drawn pale.
    pub(crate) sure: bool,
    /// Shown when one points at it.
    pub(crate) hint: String,
}

/// For each row its label and a bar for each column, where there is one.
pub(crate) fn matrix(title: &str, columns: &[&str], rows: &[(String, Vec<Option<Bar>>)]) -> String {
    let labels = label_width(rows.iter().map(|(label, _)| label.as_str()));
    let height = HEAD + ROW * rows.len();
    let cells = rows.iter().flat_map(|(_, bars)| bars.iter().flatten());
    let most = cells.map(|bar| bar.value).fold(0.0, f64::max);
    let mut out = opening(title, labels + COLUMN * columns.len(), height);
    for (at, column) in columns.iter().enumerate() {
        let x = labels + at * COLUMN;
        let _ = writeln!(
            out,
            "<text class=\"dim\" x=\"{x}\" y=\"13\">{}</text>\
             <line class=\"grid\" x1=\"{x}\" y1=\"{HEAD}\" x2=\"{x}\" y2=\"{height}\"/>",
            escape(column)
        );
    }
    for (row, (label, bars)) in rows.iter().enumerate() {
        let y = HEAD + row * ROW;
        label_text(&mut out, label, labels, y + 15);
        for (at, bar) in bars.iter().enumerate() {
            let Some(bar) = bar else { continue };
            let x = labels + at * COLUMN;
            let length = if most > 0.0 {
                (bar.value / most * LONGEST).max(1.0)
            } else {
                1.0
            };
            let _ = write!(
                out,
                "<g{}><title>{}</title><rect x=\"{x}\" y=\"{}\" width=\"{length:.1}\" height=\"{}\"/>\
                 <text x=\"{:.1}\" y=\"{}\">{}</text></g>",
                if bar.sure { "" } else { " class=\"pale\"" },
                escape(&bar.hint),
                y + 3,
                ROW - 7,
                x as f64 + length + 5.0,
                y + 15,
                number(bar.value)
            );
        }
        out.push('\n');
    }
    out.push_str("</svg>\n</figure>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_one_scale_and_doubtful_ones_are_pale() {
        let bar = |value, sure| {
            Some(Bar {
                value,
                sure,
                hint: "<x>".into(),
            })
        };
        let rows = [
            ("a".to_owned(), vec![bar(0.5, true), None]),
            ("b".to_owned(), vec![bar(0.25, false), bar(0.0, true)]),
        ];
        let svg = matrix("t", &["one", "two"], &rows);
        assert!(
            svg.contains("width=\"130.0\"") && svg.contains("width=\"65.0\""),
            "{svg}"
        );
        assert_eq!(svg.matches("class=\"pale\"").count(), 1);
        assert_eq!(svg.matches("<rect").count(), 3);
        assert!(!svg.contains("<x>"));
    }
}
