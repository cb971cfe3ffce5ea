//! Plots as SVG.

use std::fmt::Write as _;

use crate::html::escape;

const ROW: usize = 22;
const LABELS: usize = 260;
const WIDTH: usize = 420;
/// Characters of a label that fit.
const LABEL_LENGTH: usize = 38;

/// Horizontal bars, each with its label and value.
pub(crate) fn bars(title: &str, values: &[(String, f64)]) -> String {
    let most = values.iter().map(|(_, v)| *v).fold(0.0, f64::max);
    let height = ROW * values.len().max(1);
    let mut out = format!(
        "<figure>\n<figcaption>{0}</figcaption>\n<svg role=\"img\" aria-label=\"{0}\" viewBox=\"0 0 {1} {height}\" width=\"{1}\" height=\"{height}\">\n",
        escape(title),
        LABELS + WIDTH + 60
    );
    for (at, (label, value)) in values.iter().enumerate() {
        let y = at * ROW;
        let length = if most > 0.0 {
            value / most * WIDTH as f64
        } else {
            0.0
        };
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\"><title>{}</title>{}</text>\
             <rect x=\"{}\" y=\"{}\" width=\"{length:.1}\" height=\"{}\"/>\
             <text x=\"{:.1}\" y=\"{}\">{}</text>",
            LABELS - 8,
            y + 15,
            escape(label),
            escape(&shortened(label)),
            LABELS,
            y + 3,
            ROW - 7,
            LABELS as f64 + length + 6.0,
            y + 15,
            number(*value),
        );
    }
    out.push_str("</svg>\n</figure>\n");
    out
}

/// The end of a long label says more than its start.
fn shortened(label: &str) -> String {
    let length = label.chars().count();
    if length <= LABEL_LENGTH {
        return label.to_owned();
    }
    let tail: String = label.chars().skip(length - LABEL_LENGTH + 1).collect();
    format!("…{tail}")
}

fn number(value: f64) -> String {
    if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}
