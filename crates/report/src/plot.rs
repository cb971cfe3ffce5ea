//! Plots as SVG: horizontal, one row for each label. Colours come from the page's style.

mod boxed;
mod layered;
mod lined;
mod matrix;
mod spark;

use std::fmt::Write as _;

use crate::html::escape;

pub(crate) use boxed::boxes;
pub(crate) use layered::{Edge, Kind, Line, Node, layered};
pub(crate) use lined::lines;
pub(crate) use matrix::{Bar, matrix};
pub(crate) use spark::spark;

const ROW: usize = 22;
const WIDTH: usize = 420;
/// Beside the bars, for their values.
const VALUES: usize = 60;
/// Characters of a label that fit.
const LABEL_LENGTH: usize = 38;
/// Width of a character of a label, rounded up; and what is kept free.
const CHARACTER: usize = 7;
const GAP: usize = 20;

/// Horizontal bars, each with its label and value.
pub(crate) fn bars(title: &str, values: &[(String, f64)]) -> String {
    let most = values.iter().map(|(_, v)| *v).fold(0.0, f64::max);
    let labels = label_width(values.iter().map(|(label, _)| label.as_str()));
    let height = ROW * values.len().max(1);
    let mut out = opening(title, labels + WIDTH + VALUES, height);
    for (at, (label, value)) in values.iter().enumerate() {
        let y = at * ROW;
        let length = if most > 0.0 {
            value / most * WIDTH as f64
        } else {
            0.0
        };
        label_text(&mut out, label, labels, y + 15);
        let _ = writeln!(
            out,
            "<rect x=\"{labels}\" y=\"{}\" width=\"{length:.1}\" height=\"{}\"/>\
             <text x=\"{:.1}\" y=\"{}\">{}</text>",
            y + 3,
            ROW - 7,
            labels as f64 + length + 6.0,
            y + 15,
            number(*value),
        );
    }
    out.push_str("</svg>\n</figure>\n");
    out
}

fn opening(title: &str, width: usize, height: usize) -> String {
    format!(
        "<figure>\n<figcaption>{0}</figcaption>\n<svg role=\"img\" aria-label=\"{0}\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n",
        escape(title),
    )
}

fn label_text(out: &mut String, label: &str, width: usize, y: usize) {
    let shown = shortened(label);
    let whole = if shown == label {
        String::new()
    } else {
        format!("<title>{}</title>", escape(label))
    };
    let _ = write!(
        out,
        "<text x=\"{}\" y=\"{y}\" text-anchor=\"end\">{whole}{}</text>",
        width - 8,
        escape(&shown),
    );
}

/// As wide as the longest label that is shown.
fn label_width<'a>(labels: impl Iterator<Item = &'a str>) -> usize {
    let longest = labels
        .map(|label| label.chars().count().min(LABEL_LENGTH))
        .max();
    longest.unwrap_or(0) * CHARACTER + GAP
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
