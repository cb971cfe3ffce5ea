//! Cliff's delta: by how much one sample lies above another.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::interval::Interval;

/// Words for |delta|; the bounds 0.147, 0.33 and 0.474 are those of Romano et al. (2006).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Magnitude {
    Negligible,
    Small,
    Medium,
    Large,
}

impl Magnitude {
    fn of(delta: f64) -> Self {
        match delta.abs() {
            d if d < 0.147 => Self::Negligible,
            d if d < 0.33 => Self::Small,
            d if d < 0.474 => Self::Medium,
            _ => Self::Large,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Negligible => "negligible",
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CliffDelta {
    /// From -1 (all of the first sample lie below the second) to 1.
    pub delta: f64,
    pub magnitude: Magnitude,
    /// Asymmetric, with Cliff's unbiased variance and Student's t (Feng and Cliff 2004), as R's
    /// `effsize::cliff.delta`; `None` if a sample has fewer than two values.
    pub interval: Option<Interval>,
}

/// The share of pairs in which `x` is larger minus the share in which `y` is. `None` for an empty sample
/// or values that are no numbers.
pub fn cliff_delta(x: &[f64], y: &[f64], confidence: f64) -> Option<CliffDelta> {
    if x.is_empty() || y.is_empty() || x.iter().chain(y).any(|v| v.is_nan()) {
        return None;
    }
    let rows = dominance(x, y);
    let columns = dominance(y, x);
    let pairs = x.len() as f64 * y.len() as f64;
    let over: f64 = rows.iter().map(|(above, _)| above).sum();
    let under: f64 = rows.iter().map(|(_, below)| below).sum();
    let delta = (over - under) / pairs;
    let squares = over * (1.0 - delta).powi(2)
        + under * (1.0 + delta).powi(2)
        + (pairs - over - under) * delta.powi(2);
    Some(CliffDelta {
        delta,
        magnitude: Magnitude::of(delta),
        interval: interval(delta, squares, &rows, &columns, confidence),
    })
}

/// For each value, how many of the others it lies above and below.
fn dominance(values: &[f64], others: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted = others.to_vec();
    sorted.sort_by(f64::total_cmp);
    values
        .iter()
        .map(|v| {
            let above = sorted.partition_point(|o| o < v);
            let below = sorted.len() - sorted.partition_point(|o| o <= v);
            (above as f64, below as f64)
        })
        .collect()
}

fn interval(
    delta: f64,
    squares: f64,
    rows: &[(f64, f64)],
    columns: &[(f64, f64)],
    confidence: f64,
) -> Option<Interval> {
    let (n1, n2) = (rows.len() as f64, columns.len() as f64);
    if n1 < 2.0 || n2 < 2.0 || !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let t = StudentsT::new(0.0, 1.0, n1 + n2 - 2.0)
        .ok()?
        .inverse_cdf((1.0 + confidence) / 2.0);
    if delta.abs() >= 1.0 {
        // No variance is left to estimate. Feng and Cliff: the bound of a share that was never missed in
        // as many trials as the smaller sample has values.
        let few = n1.min(n2);
        let bound = ((few - t * t) / (few + t * t)).max(-1.0);
        return Some(if delta > 0.0 {
            Interval {
                low: bound,
                high: 1.0,
            }
        } else {
            Interval {
                low: -1.0,
                high: -bound,
            }
        });
    }
    let spread = |side: &[(f64, f64)], mean: f64| -> f64 {
        side.iter()
            .map(|(above, below)| (above - below - mean).powi(2))
            .sum()
    };
    let unbiased = (spread(rows, delta * n2) + spread(columns, -delta * n1) - squares)
        / (n1 * n2 * (n1 - 1.0) * (n2 - 1.0));
    // The unbiased estimate can fall below the least variance there can be (Cliff 1993).
    let variance = unbiased.max((1.0 - delta * delta) / (n1 * n2 - 1.0));
    let wide = t * t * variance;
    let room = 1.0 - delta * delta;
    let half = wide.sqrt() * (room * room + wide).sqrt();
    Some(Interval {
        low: ((delta * room - half) / (room + wide)).max(-1.0),
        high: ((delta * room + half) / (room + wide)).min(1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(x: &[f64], y: &[f64], delta: f64, word: &str, low: f64, high: f64) {
        let found = cliff_delta(x, y, 0.95).expect("a delta");
        assert!((found.delta - delta).abs() < 1e-12, "{found:?}");
        assert_eq!(found.magnitude.word(), word);
        let interval = found.interval.expect("an interval");
        assert!((interval.low - low).abs() < 1e-7, "{found:?}");
        assert!((interval.high - high).abs() < 1e-7, "{found:?}");
        let turned = cliff_delta(y, x, 0.95).expect("a delta");
        let other = turned.interval.expect("an interval");
        assert!((turned.delta + delta).abs() < 1e-12, "{turned:?}");
        assert!((other.low + interval.high).abs() < 1e-12, "{turned:?}");
    }

    #[test]
    fn agrees_with_effsize() {
        // R: effsize::cliff.delta(treatment, control), printed in the package's own tests.
        let treatment = [10., 10., 20., 20., 20., 30., 30., 30., 40., 50.];
        let control = [10., 20., 30., 40., 40., 50.];
        check(
            &treatment,
            &control,
            -0.25,
            "small",
            -0.726_584_6,
            0.389_006_2,
        );
    }

    #[test]
    fn agrees_with_the_dominance_matrix() {
        // D = numpy.sign(x[:, None] - y), delta = D.mean(), variance and limits by Feng and Cliff's formulas
        // with scipy.stats.t.ppf(.975, n1 + n2 - 2)
        let x = [10., 20., 20., 20., 30., 30., 30., 40., 50., 100.];
        let y = [10., 20., 30., 40., 40., 50.];
        check(
            &x,
            &y,
            -1.0 / 15.0,
            "negligible",
            -0.608_225_365_537_745,
            0.517_243_115_492_474,
        );
        check(
            &[1., 2., 3., 4.],
            &[2.5, 3.5, 4.5, 5.5, 6.5],
            -0.7,
            "large",
            -0.948_852_596_505_362_7,
            0.085_333_079_561_341_67,
        );
    }

    #[test]
    fn samples_that_do_not_overlap_keep_an_interval() {
        // scipy.stats.t.ppf(.975, 8)**2 = 5.317656; (5 - 5.317656) / (5 + 5.317656) = -0.0307876
        let low: Vec<f64> = (0..5).map(f64::from).collect();
        let high: Vec<f64> = (10..15).map(f64::from).collect();
        check(&high, &low, 1.0, "large", -0.030_787_6, 1.0);
    }

    #[test]
    fn equal_samples_do_not_differ() {
        let found = cliff_delta(&[1.0; 4], &[1.0; 5], 0.95).expect("a delta");
        assert_eq!((found.delta, found.magnitude), (0.0, Magnitude::Negligible));
        let interval = found.interval.expect("an interval");
        assert!(interval.low < 0.0 && interval.high > 0.0, "{found:?}");
    }

    #[test]
    fn the_words_begin_at_their_bounds() {
        for (delta, word) in [
            (0.1469, "negligible"),
            (-0.147, "small"),
            (0.33, "medium"),
            (-0.4739, "medium"),
            (0.474, "large"),
        ] {
            assert_eq!(Magnitude::of(delta).word(), word, "{delta}");
        }
    }

    #[test]
    fn what_cannot_be_compared_has_no_delta() {
        assert_eq!(cliff_delta(&[], &[1.0], 0.95), None);
        assert_eq!(cliff_delta(&[f64::NAN], &[1.0], 0.95), None);
        let single = cliff_delta(&[1.0], &[0.0, 2.0], 0.95).expect("a delta");
        assert_eq!((single.delta, single.interval), (0.0, None));
    }
}
