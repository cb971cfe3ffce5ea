//! Intervals for a proportion.

use statrs::distribution::{Beta, ContinuousCDF};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

/// The exact (Clopper-Pearson) interval for `hits` of `trials` at the given confidence: it never
/// covers less than it says, which matters for the handful of trials a flaky test gets.
pub fn clopper_pearson(hits: u64, trials: u64, confidence: f64) -> Interval {
    if trials == 0 {
        return Interval {
            low: 0.0,
            high: 1.0,
        };
    }
    let tail = (1.0 - confidence) / 2.0;
    let (k, n) = (hits as f64, trials as f64);
    let quantile = |a: f64, b: f64, p: f64| Beta::new(a, b).map_or(f64::NAN, |d| d.inverse_cdf(p));
    Interval {
        low: if hits == 0 {
            0.0
        } else {
            quantile(k, n - k + 1.0, tail)
        },
        high: if hits >= trials {
            1.0
        } else {
            quantile(k + 1.0, n - k, 1.0 - tail)
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_published_values() {
        // Rule of three, exact form: 1 - 0.025^(1/100).
        let none = clopper_pearson(0, 100, 0.95);
        assert_eq!(none.low, 0.0);
        assert!((none.high - 0.036_216_7).abs() < 1e-4, "{none:?}");
        // R: binom.test(5, 20)$conf.int = 0.08657147 0.49104587
        let some = clopper_pearson(5, 20, 0.95);
        assert!((some.low - 0.086_571_47).abs() < 1e-4, "{some:?}");
        assert!((some.high - 0.491_045_87).abs() < 1e-4, "{some:?}");
        assert_eq!(clopper_pearson(7, 7, 0.95).high, 1.0);
        assert_eq!(clopper_pearson(0, 0, 0.95).high, 1.0);
    }
}
