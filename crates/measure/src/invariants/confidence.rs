//! How likely an invariant holds by chance. Formulas and constants are Daikon's (`computeConfidence` and
//! `computeProbability` of the class that each function names), as probabilities: 0 is certain to be no chance.
//!
//! Where this is stricter than Daikon, the function says so. *Constant* and *one of* have no formula: they
//! list what was seen, and one sample is enough for that, as for Daikon's `OneOf`.

/// The most that the probability of a coincidence may be. Daikon's `confidence_limit` is 0.99, its complement.
pub const CONFIDENCE_LIMIT: f64 = 0.01;

/// Daikon's `BoundCore.required_samples`: a bound takes more samples than this.
const BOUND_SAMPLES: usize = 5;
/// Daikon's `BoundCore.required_samples_at_bound`.
const SAMPLES_AT_BOUND: f64 = 3.0;
/// Daikon's `LinearBinaryCore.MINPAIRS`.
const LINE_POINTS: f64 = 4.0;
/// Daikon's `NonZero.range_max`: in a wide range zero is unlikely, but not that unlikely.
const ZERO_RANGE: f64 = 50.0;

pub(super) fn justified(chance: f64) -> bool {
    chance <= CONFIDENCE_LIMIT
}

/// `Invariant.prob_is_ge`: 0 if x ≥ goal, 1 if x ≤ 1, (goal − x) / (goal − 1) between them.
fn is_at_least(x: f64, goal: f64) -> f64 {
    if x >= goal {
        0.0
    } else if x <= 1.0 {
        1.0
    } else {
        (goal - x) / (goal - 1.0)
    }
}

/// `Invariant.prob_and`: 1 − (1 − p)(1 − q).
fn and(p: f64, q: f64) -> f64 {
    1.0 - (1.0 - p) * (1.0 - q)
}

fn power(base: f64, samples: usize) -> f64 {
    base.powf(samples as f64)
}

/// `IntLessThan`, `EltwiseIntLessEqual`: ½ⁿ, as if each sample had tossed a coin. Daikon takes equality,
/// `Member` and `SubSet` as justified by one sample; here they take this too, because most places are reached
/// a few times in one test and small numbers are often equal.
pub(super) fn coin(samples: usize) -> f64 {
    power(0.5, samples)
}

/// `NoDuplicates`: 0.9ⁿ.
pub(super) fn no_duplicates(samples: usize) -> f64 {
    power(0.9, samples)
}

/// `NonZero` of a pointer: (1 − 1/3)ⁿ.
pub(super) fn not_none(samples: usize) -> f64 {
    power(1.0 - 1.0 / 3.0, samples)
}

/// `Modulus`: (1 − 1/m)ⁿ.
pub(super) fn modulus(modulus: u64, samples: usize) -> f64 {
    if modulus < 2 {
        return 1.0;
    }
    power(1.0 - 1.0 / modulus as f64, samples)
}

/// `NonZero`: (1 − 1/r)ⁿ, r the number of values in the range, at most 50. Daikon leaves ranges that end
/// before zero to the bounds, justified or not; here `span` reaches to zero.
pub(super) fn not_zero(span: f64, modulus: u64, samples: usize) -> f64 {
    let range = (span / modulus.max(1) as f64).clamp(1.0, ZERO_RANGE);
    power(1.0 - 1.0 / range, samples)
}

/// `LinearBinary`: is_ge(distinct points, 4). Two points are on a line anyway.
pub(super) fn line(distinct: usize) -> f64 {
    is_at_least(distinct as f64, LINE_POINTS)
}

/// What a bound rests on, seen from its end of the values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    /// How many samples are at the bound, at the next value, and at the one after that.
    pub(super) counts: [usize; 3],
    /// Whether these three follow each other without a gap.
    pub(super) adjacent: bool,
    /// How many values could be there from one end to the other.
    pub(super) span: f64,
    pub(super) samples: usize,
    /// Zero is where numbers naturally start.
    pub(super) starts_at_zero: bool,
}

/// `LowerBound`, `UpperBound`: at least 3 samples are at the bound, and either these are five times as many as
/// if values were uniform, or the bound and the next two values each have half of what they would then.
pub(super) fn bound(bound: Bound) -> f64 {
    if bound.samples <= BOUND_SAMPLES {
        return 1.0;
    }
    let mut expected = (bound.samples as f64 / bound.span).min(100.0);
    if bound.starts_at_zero {
        expected /= 5.0;
    }
    let [at, next, third] = bound.counts.map(|count| count as f64);
    let enough = is_at_least(at, SAMPLES_AT_BOUND);
    let truncated = is_at_least(at, 5.0 * expected);
    let uniform = if bound.adjacent {
        let half = expected / 2.0;
        let first_two = and(is_at_least(at, half), is_at_least(next, half));
        and(first_two, is_at_least(third, half))
    } else {
        1.0
    };
    and(enough, truncated.min(uniform))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn at_least_agrees_with_daikons_own_tests() {
        // InvariantTester.test_prob_is_ge
        for (x, expected) in [
            (0.0, 1.0),
            (1.0, 1.0),
            (2.0, 0.9),
            (3.0, 0.8),
            (9.0, 0.2),
            (10.0, 0.1),
            (11.0, 0.0),
            (20.0, 0.0),
        ] {
            assert!(close(is_at_least(x, 11.0), expected), "{x}");
        }
        assert!(close(and(0.2, 0.4), 0.52));
        assert!(close(and(0.0, 1.0), 1.0));
    }

    #[test]
    fn each_formula_is_justified_from_its_first_sample_that_suffices() {
        let first = |chance: &dyn Fn(usize) -> f64| (0..1000).find(|n| justified(chance(*n)));
        assert_eq!(first(&coin), Some(7), "1/128");
        assert_eq!(first(&no_duplicates), Some(44));
        assert_eq!(first(&not_none), Some(12));
        assert_eq!(first(&line), Some(4));
        assert_eq!(first(&|n| modulus(2, n)), Some(7));
        assert_eq!(first(&|n| modulus(10, n)), Some(44));
        assert_eq!(first(&|n| modulus(1, n)), None);
        assert_eq!(first(&|n| not_zero(2.0, 1, n)), Some(7));
        assert_eq!(first(&|n| not_zero(1e300, 1, n)), Some(228), "0.98^228");
        assert_eq!(first(&|n| not_zero(40.0, 4, n)), Some(44), "ten values");
    }

    fn evidence(counts: [usize; 3], adjacent: bool, span: f64, samples: usize) -> Bound {
        Bound {
            counts,
            adjacent,
            span,
            samples,
            starts_at_zero: false,
        }
    }

    #[test]
    fn bounds_are_justified_as_in_daikon() {
        // Uniform: 10 values, 30 samples, three of each.
        assert!(close(bound(evidence([3, 3, 3], true, 10.0, 30)), 0.0));
        // The same with holes: three at the bound where fifteen would be telling, (15 - 3) / 14.
        assert!(close(
            bound(evidence([3, 3, 3], false, 10.0, 30)),
            12.0 / 14.0
        ));
        // Truncated: fifteen at the bound.
        assert!(close(bound(evidence([15, 1, 1], false, 10.0, 30)), 0.0));
        // Two at the bound are too few, (3 - 2) / 2, whatever else.
        assert!(close(bound(evidence([2, 2, 2], true, 10.0, 20)), 0.5));
        assert!(close(bound(evidence([3, 1, 1], true, 3.0, 5)), 1.0));
        // A start at zero divides what is expected by five.
        let mut from_zero = evidence([3, 1, 1], false, 10.0, 30);
        from_zero.starts_at_zero = true;
        assert!(close(bound(from_zero), 0.0));
        // No more than 100 are ever expected at one value.
        assert!(close(
            bound(evidence([500, 1, 1], false, 4.0, 100_000)),
            0.0
        ));
    }

    #[test]
    fn nothing_here_is_other_than_a_probability() {
        for span in [0.0, 1.0, f64::MAX, f64::INFINITY, f64::NAN] {
            for samples in [0, 1, 6, 100_000, usize::MAX] {
                for adjacent in [false, true] {
                    let chance = bound(evidence([samples, 0, 1], adjacent, span, samples));
                    assert!((0.0..=1.0).contains(&chance), "{span} {samples}");
                }
                let chance = modulus(u64::MAX, samples);
                assert!((0.0..=1.0).contains(&chance), "{samples}");
            }
        }
        assert!(!justified(f64::NAN));
    }
}
