//! Fisher's exact test for two proportions.

use statrs::function::factorial::ln_binomial;

/// The two-sided p-value that `a` of `a_of` and `b` of `b_of` come from one common rate.
pub fn fisher_two_sided(a: u64, a_of: u64, b: u64, b_of: u64) -> f64 {
    let hits = a + b;
    let total = a_of + b_of;
    let ln_probability =
        |x: u64| ln_binomial(a_of, x) + ln_binomial(b_of, hits - x) - ln_binomial(total, hits);
    let observed = ln_probability(a);
    let low = hits.saturating_sub(b_of);
    let high = hits.min(a_of);
    // Tolerance as in R's fisher.test: tables as likely as the observed one count.
    let sum: f64 = (low..=high)
        .map(ln_probability)
        .filter(|p| *p <= observed + 1e-7)
        .map(f64::exp)
        .sum();
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_lady_tasting_tea() {
        // R: fisher.test(matrix(c(3, 1, 1, 3), 2))$p.value = 0.4857143
        assert!((fisher_two_sided(3, 4, 1, 4) - 0.485_714_3).abs() < 1e-6);
        // R: fisher.test(matrix(c(10, 0, 2, 8), 2))$p.value = 0.0007144558
        assert!((fisher_two_sided(10, 10, 2, 10) - 0.000_714_455_8).abs() < 1e-8);
        assert_eq!(fisher_two_sided(0, 5, 0, 5), 1.0);
    }
}
