//! Lines over a common axis, with their names.

use std::fmt::Write as _;

use crate::html::escape;

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 44.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 44.0;
/// Lines are told apart without colour, too.
const DASHES: [&str; 3] = ["6 4", "none", "2 3"];

/// Percentages from 0 to 100 over whatever is on the axis.
pub(crate) fn lines(title: &str, all: &[(&str, Vec<(f64, f64)>)]) -> String {
    let most = all
        .iter()
        .flat_map(|(_, points)| points.iter().map(|(x, _)| *x))
        .fold(0.1, f64::max);
    let x = |value: f64| LEFT + value / most * WIDTH;
    let y = |value: f64| TOP + HEIGHT - value / 100.0 * HEIGHT;
    let (width, height) = (LEFT + WIDTH + 24.0, TOP + HEIGHT + BOTTOM + 20.0);
    let mut out = format!(
        "<figure>\n<figcaption>{0}</figcaption>\n<svg role=\"img\" aria-label=\"{0}\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\">\n",
        escape(title)
    );
    for tick in [0.0, 25.0, 50.0, 75.0, 100.0] {
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{0:.1}\" y1=\"{1:.1}\" y2=\"{1:.1}\"/>\
             <text x=\"{2}\" y=\"{3:.1}\" text-anchor=\"end\">{tick}</text>",
            LEFT + WIDTH,
            y(tick),
            LEFT - 6.0,
            y(tick) + 4.0
        );
    }
    for part in 0..=4 {
        let value = most * f64::from(part) / 4.0;
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value:.1}</text>",
            x(value),
            TOP + HEIGHT + 18.0
        );
    }
    for (at, (name, points)) in all.iter().enumerate() {
        let dashes = DASHES[at % DASHES.len()];
        let path: Vec<String> = points
            .iter()
            .map(|(a, b)| format!("{:.1},{:.1}", x(*a), y(*b)))
            .collect();
        let legend = LEFT + 230.0 * at as f64;
        let below = TOP + HEIGHT + 44.0;
        let _ = writeln!(
            out,
            "<polyline class=\"curve\" fill=\"none\" stroke-dasharray=\"{dashes}\" points=\"{}\"/>\
             <line class=\"curve\" stroke-dasharray=\"{dashes}\" x1=\"{legend}\" x2=\"{}\" y1=\"{below}\" y2=\"{below}\"/>\
             <text x=\"{}\" y=\"{}\">{}</text>",
            path.join(" "),
            legend + 34.0,
            legend + 40.0,
            below + 4.0,
            escape(name)
        );
    }
    out.push_str("</svg>\n</figure>\n");
    out
}
