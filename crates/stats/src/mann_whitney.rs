//! The Mann-Whitney U test: do two independent samples come from one distribution?

use statrs::distribution::{ContinuousCDF, Normal};

use crate::ranks::{Method, Ranks};

/// Both samples beyond this: the normal approximation, as scipy's `method="auto"`.
const EXACT_UP_TO: usize = 8;
/// Values of U whose arrangements are counted at most; one small sample does not make the other one small.
const COUNTED: usize = 1_000_000;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannWhitney {
    /// Of the first sample: pairs in which its value is the larger one, ties count half.
    pub u: f64,
    /// Two-sided.
    pub p_value: f64,
    pub method: Method,
}

/// Exact for a small sample without ties, else the normal approximation with tie and continuity correction.
/// `None` for an empty sample or values that are no numbers.
pub fn mann_whitney(x: &[f64], y: &[f64]) -> Option<MannWhitney> {
    if x.is_empty() || y.is_empty() {
        return None;
    }
    let ranks = Ranks::new(&[x, y].concat())?;
    let (n1, n2) = (x.len() as f64, y.len() as f64);
    let u = ranks.of[..x.len()].iter().sum::<f64>() - n1 * (n1 + 1.0) / 2.0;
    let larger = u.max(n1 * n2 - u);
    let small = x.len().min(y.len()) <= EXACT_UP_TO;
    let counts = (small && ranks.ties.is_empty())
        .then(|| arrangements(x.len(), y.len()))
        .flatten();
    let (p_value, method) = match counts {
        Some(counts) => {
            let all: f64 = counts.iter().map(|c| *c as f64).sum();
            // Symmetric: as many arrangements have U at least `larger` as have at most its mirror.
            let tail: f64 = counts[larger as usize..].iter().map(|c| *c as f64).sum();
            (2.0 * tail / all, Method::Exact)
        }
        None => {
            let n = n1 + n2;
            let variance = n1 * n2 / 12.0 * ((n + 1.0) - ranks.tie_term() / (n * (n - 1.0)));
            let z = (larger - n1 * n2 / 2.0 - 0.5) / variance.max(0.0).sqrt();
            (2.0 * Normal::standard().sf(z), Method::Approximate)
        }
    };
    Some(MannWhitney {
        u,
        p_value: p_value.min(1.0),
        method,
    })
}

/// How many arrangements give each value of U: the coefficients of the Gaussian binomial. `None` where
/// they are too many or too large to count.
fn arrangements(n1: usize, n2: usize) -> Option<Vec<u128>> {
    let (few, many) = (n1.min(n2), n1.max(n2));
    let values = few.checked_mul(many)?.checked_add(1)?;
    if values > COUNTED {
        return None;
    }
    let mut counts = vec![0_u128; values];
    counts[0] = 1;
    let mut all = 1_u128;
    for step in 1..=few {
        // The sum of all counts after this step, C(many + step, step): if it fits, they all do, and the
        // wrapping steps on the way cancel out.
        all = all.checked_mul((many + step) as u128)? / step as u128;
        let factor = many + step;
        for at in (factor..values).rev() {
            counts[at] = counts[at].wrapping_sub(counts[at - factor]);
        }
        for at in step..values {
            counts[at] = counts[at].wrapping_add(counts[at - step]);
        }
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(x: &[f64], y: &[f64], u: f64, p: f64, method: Method) {
        let found = mann_whitney(x, y).expect("a result");
        assert_eq!((found.u, found.method), (u, method), "{x:?} {y:?}");
        assert!((found.p_value - p).abs() < 1e-9, "{x:?} {y:?}: {found:?}");
        let turned = mann_whitney(y, x).expect("a result");
        assert!((found.p_value - turned.p_value).abs() < 1e-12, "{turned:?}");
    }

    fn counted(n: u32) -> Vec<f64> {
        (0..n).map(f64::from).collect()
    }

    // Numbers: scipy.stats.mannwhitneyu(x, y)

    #[test]
    fn small_samples_are_counted() {
        // The example of scipy's documentation: men and women diagnosed with diabetes.
        let men = [19., 22., 16., 29., 24.];
        let women = [20., 11., 17., 12.];
        check(&men, &women, 17.0, 1.0 / 9.0, Method::Exact);
        check(&[1., 2., 3.], &[4., 5., 6.], 0.0, 0.1, Method::Exact);
        check(&[1.], &[2.], 0.0, 1.0, Method::Exact);
        check(
            &[1.1, 2.2, 3.3, 9.9],
            &[0.5, 4.4, 5.5, 6.6, 7.7, 8.8, 10.1],
            9.0,
            0.412_121_212_121_212_1,
            Method::Exact,
        );
    }

    #[test]
    fn one_small_sample_is_enough_to_count() {
        check(
            &[0.5, 100.5, 3.5],
            &counted(300),
            106.0,
            0.015_884_367_693_551_386,
            Method::Exact,
        );
        check(
            &[3.5, 7.5, 11.5, 2.5, 90.5, 31.5, 44.5, 60.5],
            &counted(100),
            256.0,
            0.092_693_456_588_101_78,
            Method::Exact,
        );
    }

    #[test]
    fn ties_and_large_samples_are_approximated() {
        check(
            &[1., 2., 2., 3.],
            &[2., 3., 4., 5., 5.],
            2.5,
            0.078_545_850_951_190_67,
            Method::Approximate,
        );
        check(
            &[0., 2., 4., 6., 8., 10., 12., 14., 16., 18.],
            &[1., 4., 7., 10., 13., 16., 19., 22., 25., 28.],
            31.5,
            0.173_131_842_799_287_17,
            Method::Approximate,
        );
        check(&[1., 1.], &[1., 1.], 2.0, 1.0, Method::Approximate);
        // Too many to count.
        let found = mann_whitney(&[0.5, 1.5], &counted(600_000)).expect("a result");
        assert_eq!(found.method, Method::Approximate);
    }

    #[test]
    fn all_arrangements_are_counted_once() {
        // C(9, 4), C(16, 8)
        assert_eq!(arrangements(4, 5).expect("few").iter().sum::<u128>(), 126);
        assert_eq!(arrangements(8, 8).expect("few").iter().sum::<u128>(), 12870);
        // The Gaussian binomial of 6 and 3.
        assert_eq!(
            arrangements(3, 3).expect("few"),
            [1, 1, 2, 3, 3, 3, 3, 2, 1, 1]
        );
    }

    #[test]
    fn what_cannot_be_compared_has_no_result() {
        assert_eq!(mann_whitney(&[], &[1.0]), None);
        assert_eq!(mann_whitney(&[1.0], &[]), None);
        assert_eq!(mann_whitney(&[1.0, f64::NAN], &[1.0]), None);
    }
}
