//! Box plots in Tukey's way: the box reaches from the first to the third quartile, whiskers to the last value within one and
//! a half times its length, and what lies beyond is a dot.

use std::fmt::Write as _;

use super::{label_text, label_width, number, opening};
use crate::html::escape;

const ROW: usize = 26;
const WIDTH: usize = 620;
/// Above the rows, for the heading of the column of means.
const HEAD: usize = 20;
/// Below the rows, for the axis.
const FOOT: usize = 40;
/// Beside the boxes, for the means.
const MEANS: usize = 64;
/// Dots that would lie closer than one part of this many are one dot: a page has room for all of them.
const STEPS: f64 = 140.0;
/// Ticks of the axis, at most.
const TICKS: f64 = 6.0;

struct Boxed {
    quartiles: [f64; 3],
    whiskers: [f64; 2],
    outliers: Vec<f64>,
    mean: f64,
    of: usize,
}

impl Boxed {
    fn of(values: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (first, last) = (*sorted.first()?, *sorted.last()?);
        let quartiles = [0.25, 0.5, 0.75].map(|share| quantile(&sorted, share));
        let reach = 1.5 * (quartiles[2] - quartiles[0]);
        let (low, high) = (quartiles[0] - reach, quartiles[2] + reach);
        let inside = |v: &&f64| (low..=high).contains(*v);
        Some(Boxed {
            // A quartile between two values may have none beyond it within reach.
            whiskers: [
                sorted
                    .iter()
                    .find(inside)
                    .map_or(first, |v| v.min(quartiles[0])),
                sorted
                    .iter()
                    .rfind(inside)
                    .map_or(last, |v| v.max(quartiles[2])),
            ],
            outliers: sorted
                .iter()
                .copied()
                .filter(|v| !(low..=high).contains(v))
                .collect(),
            mean: sorted.iter().sum::<f64>() / sorted.len() as f64,
            of: sorted.len(),
            quartiles,
        })
    }
}

/// Between the two nearest values, as most tools do it (type 7 of Hyndman and Fan).
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = share * (sorted.len() - 1) as f64;
    let below = sorted[at.floor() as usize];
    let above = sorted[at.ceil() as usize];
    below + (above - below) * at.fract()
}

/// One box for each label; the axis goes from 0 to at least `most`, so that several plots can share it.
pub(crate) fn boxes(title: &str, axis: &str, rows: &[(String, Vec<f64>)], most: f64) -> String {
    let step = tick_step(most);
    let ticks = (most / step - 1e-9).ceil().clamp(1.0, 100.0);
    let labels = label_width(rows.iter().map(|(label, _)| label.as_str()));
    let x = |value: f64| labels as f64 + (value / (ticks * step)).clamp(0.0, 1.0) * WIDTH as f64;
    let bottom = HEAD + ROW * rows.len().max(1);
    let mut out = opening(title, labels + WIDTH + MEANS, bottom + FOOT);
    for tick in 0..=ticks as usize {
        let value = tick as f64 * step;
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{0:.1}\" y1=\"{HEAD}\" x2=\"{0:.1}\" y2=\"{bottom}\"/>\
             <text x=\"{0:.1}\" y=\"{1}\" text-anchor=\"middle\">{2}</text>",
            x(value),
            bottom + 15,
            tick_text(value, step),
        );
    }
    let _ = writeln!(
        out,
        "<text class=\"dim\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
         <text class=\"dim\" x=\"{}\" y=\"13\" text-anchor=\"end\">mean</text>",
        labels + WIDTH / 2,
        bottom + 33,
        escape(axis),
        labels + WIDTH + MEANS - 4,
    );
    for (at, (label, values)) in rows.iter().enumerate() {
        let middle = HEAD + at * ROW + ROW / 2;
        label_text(&mut out, label, labels, middle + 4);
        match Boxed::of(values) {
            Some(boxed) => draw(
                &mut out,
                label,
                &boxed,
                middle,
                x,
                labels + WIDTH + MEANS - 4,
            ),
            None => {
                let _ = writeln!(
                    out,
                    "<text class=\"dim\" x=\"{}\" y=\"{}\">no values</text>",
                    labels + 6,
                    middle + 4
                );
            }
        }
    }
    out.push_str("</svg>\n</figure>\n");
    out
}

fn draw(
    out: &mut String,
    label: &str,
    boxed: &Boxed,
    middle: usize,
    x: impl Fn(f64) -> f64,
    end: usize,
) {
    let [first, median, third] = boxed.quartiles;
    let [low, high] = boxed.whiskers;
    let _ = writeln!(
        out,
        "<g class=\"box\"><title>{}: median {}, quartiles {} and {}, whiskers {} and {}, {} beyond, of {}</title>",
        escape(label),
        number(median),
        number(first),
        number(third),
        number(low),
        number(high),
        boxed.outliers.len(),
        boxed.of,
    );
    for (whisker, quartile) in [(low, first), (high, third)] {
        if whisker != quartile {
            let _ = write!(
                out,
                "<line x1=\"{0:.1}\" y1=\"{middle}\" x2=\"{1:.1}\" y2=\"{middle}\"/>\
                 <line x1=\"{0:.1}\" y1=\"{2}\" x2=\"{0:.1}\" y2=\"{3}\"/>",
                x(whisker),
                x(quartile),
                middle - 4,
                middle + 4
            );
        }
    }
    // A box without length is still seen.
    let width = (x(third) - x(first)).max(2.0);
    let _ = writeln!(
        out,
        "<rect x=\"{0:.1}\" y=\"{1}\" width=\"{width:.1}\" height=\"16\"/>\
         <line class=\"median\" x1=\"{2:.1}\" y1=\"{1}\" x2=\"{2:.1}\" y2=\"{3}\"/>",
        (x(third) - width).min(x(first)),
        middle - 8,
        x(median),
        middle + 8,
    );
    for (value, number_of) in dots(&boxed.outliers, x(0.0), &x) {
        let many = if number_of > 1 {
            format!(
                "><title>{number_of} of about {}</title></circle>",
                number(value)
            )
        } else {
            "/>".into()
        };
        let _ = write!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{middle}\" r=\"{}\"{many}",
            x(value),
            // A dot for many tests is larger, by the logarithm.
            2.8 + (number_of as f64).log10().min(3.0),
        );
    }
    let _ = writeln!(
        out,
        "</g><text x=\"{end}\" y=\"{}\" text-anchor=\"end\">{}</text>",
        middle + 4,
        number(boxed.mean)
    );
}

/// Sorted values that would be drawn over each other, together.
fn dots(values: &[f64], zero: f64, x: impl Fn(f64) -> f64) -> Vec<(f64, usize)> {
    let place = |value: f64| ((x(value) - zero) / WIDTH as f64 * STEPS).round();
    let mut found: Vec<(f64, usize)> = Vec::new();
    for value in values {
        match found.last_mut() {
            Some((first, many)) if place(*first) == place(*value) => *many += 1,
            _ => found.push((*value, 1)),
        }
    }
    found
}

/// 1, 2 or 5 times a power of ten.
fn tick_step(most: f64) -> f64 {
    if !most.is_finite() || most <= 0.0 {
        return 0.2;
    }
    let least = most / TICKS;
    let power = 10f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|f| f * power >= least);
    factor.unwrap_or(10.0) * power
}

fn tick_text(value: f64, step: f64) -> String {
    let decimals = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
    if value == 0.0 {
        "0".into()
    } else {
        format!("{value:.decimals$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_whiskers_and_dots_are_tukeys() {
        let boxed = Boxed::of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 100.0]).expect("values");
        assert_eq!(boxed.quartiles, [3.0, 5.0, 7.0]);
        assert_eq!(boxed.whiskers, [1.0, 8.0]);
        assert_eq!(boxed.outliers, [100.0]);
        assert!(Boxed::of(&[f64::NAN]).is_none());
    }

    #[test]
    fn most_tests_that_never_vary_leave_the_others_as_dots() {
        let mut values = vec![0.0; 20];
        values.extend([0.69, 0.69, 1.1]);
        let boxed = Boxed::of(&values).expect("values");
        assert_eq!(boxed.quartiles, [0.0; 3]);
        assert_eq!(boxed.outliers, [0.69, 0.69, 1.1]);
        let svg = boxes("t", "nats", &[("<a>".into(), values)], 1.1);
        assert_eq!(svg.matches("<circle").count(), 2, "{svg}");
        assert!(svg.contains("2 of about 0.69"), "{svg}");
        assert!(svg.contains("&lt;a&gt;") && !svg.contains("<a>"), "{svg}");
    }

    #[test]
    fn axes_begin_at_zero_and_have_few_round_ticks() {
        assert_eq!(tick_step(2.3), 0.5);
        assert_eq!(tick_step(0.011), 0.002);
        assert_eq!(tick_step(0.0), 0.2);
        assert_eq!(tick_text(0.002, 0.002), "0.002");
        assert_eq!(tick_text(20.0, 10.0), "20");
        assert!(boxes("t", "nats", &[], 0.0).contains(">0</text>"));
    }
}
