//! How sure a search that found nothing may be.

/// The probability that a test failing in a share `rate` of orders passed in all of `orders`.
pub fn miss_probability(rate: f64, orders: u64) -> f64 {
    (1.0 - rate).powf(orders as f64)
}

/// The smallest failure rate that `orders` random orders miss with probability at most `miss`.
pub fn detectable_rate(miss: f64, orders: u64) -> f64 {
    if orders == 0 {
        return 1.0;
    }
    1.0 - miss.powf(1.0 / orders as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_orders_miss_a_rate_of_4_5_percent_once_in_a_hundred() {
        // The figures of iPFlakies, section 5.
        assert!((detectable_rate(0.01, 100) - 0.045).abs() < 0.000_1);
        assert!((miss_probability(0.045, 100) - 0.01).abs() < 0.000_1);
        assert_eq!(detectable_rate(0.01, 0), 1.0);
    }
}
