//! Wilcoxon's signed-rank test: do paired values differ?

use statrs::distribution::{ContinuousCDF, Normal};

use crate::ranks::{Method, Ranks};

/// As scipy's `method="auto"`: exact up to here, if no differences are tied or zero.
const EXACT_UP_TO: usize = 50;
/// And up to here if some are.
const EXACT_WITH_TIES_UP_TO: usize = 13;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wilcoxon {
    /// The smaller one of the sums of ranks of positive and of negative differences.
    pub w: f64,
    /// Two-sided.
    pub p_value: f64,
    pub method: Method,
}

/// Compares `x[i]` with `y[i]`; pairs without a difference are left out. `None` for lists of different
/// length, without any difference, or with differences that are no numbers.
pub fn wilcoxon(x: &[f64], y: &[f64]) -> Option<Wilcoxon> {
    if x.len() != y.len() {
        return None;
    }
    let differences: Vec<f64> = x
        .iter()
        .zip(y)
        .map(|(a, b)| a - b)
        .filter(|d| *d != 0.0)
        .collect();
    let n = differences.len();
    if n == 0 {
        return None;
    }
    let sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
    let ranks = Ranks::new(&sizes)?;
    let positive: f64 = differences
        .iter()
        .zip(&ranks.of)
        .filter(|(d, _)| **d > 0.0)
        .map(|(_, rank)| rank)
        .sum();
    let all = n as f64 * (n as f64 + 1.0) / 2.0;
    let w = positive.min(all - positive);
    let plain = ranks.ties.is_empty() && n == x.len();
    let exact = x.len() <= EXACT_WITH_TIES_UP_TO || plain && n <= EXACT_UP_TO;
    let (p_value, method) = if exact {
        (2.0 * lower_tail(&ranks.of, w), Method::Exact)
    } else {
        let spread = n as f64 * (n as f64 + 1.0) * (2.0 * n as f64 + 1.0);
        let error = ((spread - ranks.tie_term() / 2.0) / 24.0).sqrt();
        let z = (w - all / 2.0) / error;
        (2.0 * Normal::standard().cdf(z), Method::Approximate)
    };
    Some(Wilcoxon {
        w,
        p_value: p_value.min(1.0),
        method,
    })
}

/// The probability of a sum of at most `w` if every rank counts with probability one half.
fn lower_tail(ranks: &[f64], w: f64) -> f64 {
    // Ranks of ties are multiples of one half.
    let doubled = |rank: f64| (2.0 * rank) as usize;
    let sum: usize = ranks.iter().map(|rank| doubled(*rank)).sum();
    let mut probability = vec![0.0_f64; sum + 1];
    probability[0] = 1.0;
    for rank in ranks {
        for at in (0..=sum).rev() {
            let with = at.checked_sub(doubled(*rank)).map(|n| probability[n]);
            probability[at] = (probability[at] + with.unwrap_or(0.0)) / 2.0;
        }
    }
    probability[..=doubled(w).min(sum)].iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(x: &[f64], y: &[f64], w: f64, p: f64, method: Method) {
        let found = wilcoxon(x, y).expect("a result");
        assert_eq!((found.w, found.method), (w, method), "{x:?} {y:?}");
        assert!((found.p_value - p).abs() < 1e-9, "{x:?} {y:?}: {found:?}");
        assert_eq!(wilcoxon(y, x), Some(found));
    }

    // Numbers: scipy.stats.wilcoxon(x, y)

    #[test]
    #[allow(clippy::approx_constant)] // 3.14 is a measurement.
    fn few_differences_are_counted() {
        // Darwin's maize (scipy's documentation; Fisher 1935).
        let maize = [
            6., 8., 14., 16., 23., 24., 28., 29., 41., -48., 49., 56., 60., -67., 75.,
        ];
        check(&maize, &[0.0; 15], 24.0, 0.041_259_765_625, Method::Exact);
        // Hollander and Wolfe, depression scale factor IV (R's ?wilcox.test): W = 5, p = 0.0390625.
        check(
            &[1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30],
            &[0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29],
            5.0,
            0.039_062_5,
            Method::Exact,
        );
        check(&[1.], &[2.], 0.0, 1.0, Method::Exact);
    }

    #[test]
    fn ties_and_zeros_are_counted_among_few() {
        check(
            &[1., 2., 3., 4., 5., 6., 7.],
            &[2., 4., 3., 6., 4., 8., 10.],
            1.5,
            0.093_75,
            Method::Exact,
        );
    }

    #[test]
    fn ties_zeros_and_many_differences_are_approximated() {
        let x: Vec<f64> = (1..=15).map(f64::from).collect();
        let y = [
            2., 4., 3., 6., 4., 8., 10., 8., 11., 13., 9., 15., 13., 12., 18.,
        ];
        check(&x, &y, 12.5, 0.034_292_440_961_547_634, Method::Approximate);
        // x = range(60), y = [i * i * 7 % 61 + 0.25 * i for i in range(60)]
        let x: Vec<f64> = (0..60).map(f64::from).collect();
        let y: Vec<f64> = (0..60)
            .map(|i| f64::from(i * i * 7 % 61) + 0.25 * f64::from(i))
            .collect();
        check(
            &x,
            &y,
            483.0,
            0.002_410_018_567_165_582_6,
            Method::Approximate,
        );
    }

    #[test]
    fn what_does_not_differ_has_no_result() {
        assert_eq!(wilcoxon(&[], &[]), None);
        assert_eq!(wilcoxon(&[1., 2.], &[1., 2.]), None);
        assert_eq!(wilcoxon(&[1., 2.], &[1.]), None);
        assert_eq!(wilcoxon(&[f64::NAN], &[1.]), None);
        assert_eq!(wilcoxon(&[f64::INFINITY], &[f64::INFINITY]), None);
    }
}
