//! Small bars in a row of a table: one for each version.

use std::fmt::Write as _;

use crate::html::escape;

const BAR: usize = 5;
const HEIGHT: f64 = 18.0;
/// What shows that there is a value, though it is nothing.
const LEAST: f64 = 1.0;

/// Shares from 0 to 1; `None` leaves a gap. `says` is read where bars cannot be seen.
pub(crate) fn spark(values: &[Option<f64>], says: &str) -> String {
    let width = values.len().max(1) * BAR;
    let mut out = format!(
        "<svg class=\"spark\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {width} {HEIGHT}\" width=\"{width}\" height=\"{HEIGHT}\">",
        escape(says)
    );
    for (at, value) in values.iter().enumerate() {
        let Some(value) = value.filter(|v| v.is_finite()) else {
            continue;
        };
        let class = if value > 0.0 { "" } else { " class=\"none\"" };
        let height = (value.clamp(0.0, 1.0) * HEIGHT).max(LEAST + f64::from(value > 0.0));
        let _ = write!(
            out,
            "<rect{class} x=\"{}\" y=\"{:.1}\" width=\"{}\" height=\"{height:.1}\"/>",
            at * BAR,
            HEIGHT - height,
            BAR - 1
        );
    }
    out.push_str("</svg>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_seldom_always_and_not_run_look_different() {
        let svg = spark(
            &[Some(0.0), Some(0.01), Some(1.0), None, Some(f64::NAN)],
            "<x>",
        );
        assert_eq!(svg.matches("<rect").count(), 3, "{svg}");
        assert_eq!(svg.matches("class=\"none\"").count(), 1);
        for height in ["height=\"1.0\"", "height=\"2.0\"", "height=\"18.0\""] {
            assert!(svg.contains(height), "{height}: {svg}");
        }
        assert!(svg.contains("&lt;x&gt;"));
    }
}
