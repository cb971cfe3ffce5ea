//! Ranks with ties, which all rank tests start with, and how a p-value came about.

/// How a p-value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Every arrangement counted.
    Exact,
    /// A limiting distribution in its place.
    Approximate,
}

/// Ranks from 1, ties at their average.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ranks {
    pub(crate) of: Vec<f64>,
    /// Sizes of the groups of equal values that have more than one member.
    pub(crate) ties: Vec<usize>,
}

impl Ranks {
    /// `None` for values that have no order.
    pub(crate) fn new(values: &[f64]) -> Option<Self> {
        if values.iter().any(|v| v.is_nan()) {
            return None;
        }
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
        let mut of = vec![0.0; values.len()];
        let mut ties = Vec::new();
        let mut done = 0;
        // Equal by `==`, so that 0.0 and -0.0 are one value.
        for group in order.chunk_by(|a, b| values[*a] == values[*b]) {
            let rank = done as f64 + (group.len() as f64 + 1.0) / 2.0;
            for at in group {
                of[*at] = rank;
            }
            if group.len() > 1 {
                ties.push(group.len());
            }
            done += group.len();
        }
        Some(Self { of, ties })
    }

    /// The sum of t³ - t over groups of ties, which every tie correction needs.
    pub(crate) fn tie_term(&self) -> f64 {
        self.ties
            .iter()
            .map(|t| (*t as f64).powi(3) - *t as f64)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_the_average_of_their_ranks() {
        // scipy.stats.rankdata([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5])
        let ranks = Ranks::new(&[3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0]);
        let ranks = ranks.expect("ordered");
        assert_eq!(
            ranks.of,
            [4.5, 1.5, 6.0, 1.5, 8.0, 11.0, 3.0, 10.0, 8.0, 4.5, 8.0]
        );
        assert_eq!(ranks.ties, [2, 2, 3]);
        assert_eq!(ranks.tie_term(), 6.0 + 6.0 + 24.0);
    }

    #[test]
    fn zero_has_no_sign_and_what_is_no_number_has_no_rank() {
        assert_eq!(Ranks::new(&[0.0, -0.0]).expect("ordered").of, [1.5, 1.5]);
        assert_eq!(
            Ranks::new(&[f64::INFINITY, 1.0]).expect("ordered").of,
            [2.0, 1.0]
        );
        assert_eq!(Ranks::new(&[1.0, f64::NAN]), None);
        assert_eq!(Ranks::new(&[]).expect("ordered").of, []);
    }
}
