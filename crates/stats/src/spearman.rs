//! Spearman's rank correlation: how well a monotonic function describes two variables.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::interval::Interval;
use crate::ranks::{Method, Ranks};

/// Up to here all permutations are walked: 9! = 362,880, some milliseconds; R's `cor.test` draws the line
/// for counting them one by one at the same place.
const EXACT_UP_TO: usize = 9;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spearman {
    pub rho: f64,
    /// Two-sided.
    pub p_value: f64,
    pub method: Method,
    /// By Fisher's z with the standard error of Bonett and Wright (2000); `None` below four pairs and for
    /// a perfect correlation, where z has no value.
    pub interval: Option<Interval>,
    pub pairs: usize,
}

/// The rank correlation of `x[i]` with `y[i]`. `None` for lists of different length, fewer than three
/// pairs, a constant list, or values that are no numbers.
pub fn spearman(x: &[f64], y: &[f64], confidence: f64) -> Option<Spearman> {
    let pairs = x.len();
    if pairs != y.len() || pairs < 3 {
        return None;
    }
    let (ranks_x, ranks_y) = (Ranks::new(x)?, Ranks::new(y)?);
    let rho = pearson(&ranks_x.of, &ranks_y.of)?;
    let untied = ranks_x.ties.is_empty() && ranks_y.ties.is_empty();
    let (p_value, method) = if untied && pairs <= EXACT_UP_TO {
        (exact(&ranks_x.of, &ranks_y.of), Method::Exact)
    } else {
        (by_t(rho, pairs)?, Method::Approximate)
    };
    Some(Spearman {
        rho,
        p_value,
        method,
        interval: interval(rho, pairs, confidence),
        pairs,
    })
}

fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    let n = x.len() as f64;
    let (mean_x, mean_y) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (a, b) in x.iter().zip(y) {
        xy += (a - mean_x) * (b - mean_y);
        xx += (a - mean_x).powi(2);
        yy += (b - mean_y).powi(2);
    }
    (xx > 0.0 && yy > 0.0).then(|| (xy / (xx.sqrt() * yy.sqrt())).clamp(-1.0, 1.0))
}

fn by_t(rho: f64, pairs: usize) -> Option<f64> {
    let freedom = pairs as f64 - 2.0;
    let rest = (1.0 - rho) * (1.0 + rho);
    if rest <= 0.0 {
        return Some(0.0);
    }
    let t = rho.abs() * (freedom / rest).sqrt();
    let students = StudentsT::new(0.0, 1.0, freedom).ok()?;
    Some((2.0 * students.sf(t)).min(1.0))
}

/// The share of permutations whose correlation is at least as far from zero.
fn exact(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len() as i64;
    // Without ties rho is 1 - 6D / (n³ - n), D the sum of squared differences of ranks: whole numbers,
    // so that "as far" needs no tolerance.
    let distance = |d: i64| (6 * d - (n.pow(3) - n)).abs();
    let difference = |a: i64, b: i64| (a - b).pow(2);
    let observed = x
        .iter()
        .zip(y)
        .map(|(a, b)| difference(*a as i64, *b as i64))
        .sum();
    let mut order: Vec<i64> = (1..=n).collect();
    let mut as_far = 0_u64;
    let mut all = 0_u64;
    // Heap's algorithm, without recursion.
    let mut counters = vec![0_usize; order.len()];
    let mut look = |order: &[i64]| {
        let d = (1..).zip(order).map(|(a, b)| difference(a, *b)).sum();
        all += 1;
        as_far += u64::from(distance(d) >= distance(observed));
    };
    look(&order);
    let mut at = 1;
    while at < order.len() {
        if counters[at] < at {
            order.swap(if at % 2 == 0 { 0 } else { counters[at] }, at);
            look(&order);
            counters[at] += 1;
            at = 1;
        } else {
            counters[at] = 0;
            at += 1;
        }
    }
    as_far as f64 / all as f64
}

fn interval(rho: f64, pairs: usize, confidence: f64) -> Option<Interval> {
    if pairs < 4 || rho.abs() >= 1.0 || !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let z = Normal::standard().inverse_cdf((1.0 + confidence) / 2.0);
    let error = ((1.0 + rho * rho / 2.0) / (pairs as f64 - 3.0)).sqrt();
    Some(Interval {
        low: (rho.atanh() - z * error).tanh(),
        high: (rho.atanh() + z * error).tanh(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    fn counted(n: u32) -> Vec<f64> {
        (1..=n).map(f64::from).collect()
    }

    #[test]
    fn agrees_with_scipy_where_students_t_decides() {
        // Hours of television and IQ, the example of many textbooks: rho = -29/165, p = 0.627188.
        // scipy.stats.spearmanr(iq, tv); the interval from tanh(atanh(r) ± norm.ppf(.975) * sqrt((1 + r*r/2) / 7))
        let iq = [106., 100., 86., 101., 99., 103., 97., 113., 112., 110.];
        let tv = [7., 27., 2., 50., 28., 29., 20., 12., 6., 17.];
        let found = spearman(&iq, &tv, 0.95).expect("a correlation");
        assert!(close(found.rho, -29.0 / 165.0), "{found:?}");
        assert!(close(found.p_value, 0.627_188_344_776_484_6), "{found:?}");
        assert_eq!(found.method, Method::Approximate);
        let interval = found.interval.expect("an interval");
        assert!(close(interval.low, -0.727_830_028_239_407_1), "{found:?}");
        assert!(close(interval.high, 0.514_546_661_632_956_1), "{found:?}");

        // spearmanr(range(1, 26), [(7*i*i + 3*i) % 31 for i in range(1, 26)]), ties in y
        let x = counted(25);
        let y: Vec<f64> = (1..=25)
            .map(|i| f64::from((7 * i * i + 3 * i) % 31))
            .collect();
        let found = spearman(&x, &y, 0.99).expect("a correlation");
        assert!(close(found.rho, 0.416_875_987_758_482_9), "{found:?}");
        assert!(close(found.p_value, 0.038_160_654_260_583_446), "{found:?}");
        let interval = found.interval.expect("an interval");
        assert!(close(interval.low, -0.127_921_497_381_016_5), "{found:?}");
        assert!(close(interval.high, 0.768_410_925_744_289_7), "{found:?}");
    }

    #[test]
    fn ties_get_average_ranks() {
        // spearmanr(x, y)
        let x = [1., 2., 2., 3., 4., 4., 4., 5., 6., 7., 8., 8.];
        let y = [2., 1., 3., 3., 5., 4., 6., 6., 8., 7., 9., 9.];
        let found = spearman(&x, &y, 0.95).expect("a correlation");
        assert!(close(found.rho, 0.964_489_714_245_000_1), "{found:?}");
        assert!(close(found.p_value, 4.189_314_579_046_177e-7), "{found:?}");
    }

    #[test]
    fn few_pairs_are_permuted() {
        // permutation_test((x,), lambda x: spearmanr(x, y).statistic, permutation_type="pairings",
        //                  n_resamples=inf).pvalue
        for (y, rho, p) in [
            (vec![5., 6., 7., 8., 7.5], 0.9, 1.0 / 12.0),
            (
                vec![2., 1., 4., 3., 7., 6., 5.],
                0.785_714_285_714_285_9,
                0.048_015_873_015_873_02,
            ),
            (
                vec![3., 5., 1., 6., 2., 7., 4.],
                0.285_714_285_714_285_75,
                0.555_952_380_952_381,
            ),
            (vec![1., 3., 2.], 0.5, 1.0),
            (
                vec![8., 7., 6., 5., 4., 3., 2., 1.],
                -1.0,
                4.960_317_460_317_46e-5,
            ),
        ] {
            let found = spearman(&counted(y.len() as u32), &y, 0.95).expect("a correlation");
            assert!(close(found.rho, rho), "{y:?}: {found:?}");
            assert!(close(found.p_value, p), "{y:?}: {found:?}");
            assert_eq!(found.method, Method::Exact);
            assert_eq!(found.interval.is_none(), y.len() < 4 || rho == -1.0);
        }
    }

    #[test]
    fn what_has_no_correlation_has_none() {
        for (x, y) in [
            (vec![], vec![]),
            (vec![1., 2.], vec![1., 2.]),
            (vec![1., 2., 3.], vec![1., 2.]),
            (vec![1., 1., 1.], vec![1., 2., 3.]),
            (vec![1., 2., f64::NAN], vec![1., 2., 3.]),
        ] {
            assert_eq!(spearman(&x, &y, 0.95), None, "{x:?} {y:?}");
        }
        let perfect = spearman(&counted(20), &counted(20), 0.95).expect("a correlation");
        assert_eq!((perfect.rho, perfect.p_value), (1.0, 0.0));
        let odd = spearman(&counted(4), &[1., 3., 2., 4.], 1.5).expect("a correlation");
        assert_eq!(odd.interval, None);
    }
}
