//! Shannon's entropy of counts.

/// How evenly things are spread over their kinds, in nats; `None` if there are none.
pub fn entropy(counts: &[u64]) -> Option<f64> {
    let all: f64 = counts.iter().map(|n| *n as f64).sum();
    let shares = counts.iter().map(|n| *n as f64 / all);
    (all > 0.0).then(|| {
        shares
            .filter(|share| *share > 0.0)
            .map(|share| share * (1.0 / share).ln())
            .sum()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_scipy() {
        assert_eq!(entropy(&[]), None);
        assert_eq!(entropy(&[0, 0]), None);
        assert_eq!(entropy(&[7, 0]), Some(0.0));
        assert_eq!(entropy(&[1, 1, 1, 1]), Some(4.0f64.ln()));
        // scipy.stats.entropy([9, 1]) = 0.3250829733914482
        let mixed = entropy(&[9, 1]).expect("some");
        assert!((mixed - 0.325_082_973_391_448_2).abs() < 1e-12);
    }
}
