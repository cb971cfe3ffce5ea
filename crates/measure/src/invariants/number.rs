//! Numbers as Python compares them: whole numbers and floats by their exact value.

use std::cmp::Ordering;

use flakelab_model::Datum;

/// 2⁶³: the first float beyond the whole numbers that a sample can carry.
const BEYOND: f64 = 9_223_372_036_854_775_808.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    pub(super) fn of(datum: &Datum) -> Option<Number> {
        match datum {
            Datum::Int(value) => Some(Number::Int(*value)),
            Datum::Float(value) => Some(Number::Float(*value)),
            _ => None,
        }
    }

    /// `None` where one of them is no number at all (NaN).
    pub(super) fn order(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
            (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
            (Number::Int(a), Number::Float(b)) => whole_and_float(a, b),
            (Number::Float(a), Number::Int(b)) => whole_and_float(b, a).map(Ordering::reverse),
        }
    }

    pub(super) fn is_nan(self) -> bool {
        matches!(self, Number::Float(value) if value.is_nan())
    }

    pub(super) fn is_finite(self) -> bool {
        match self {
            Number::Int(_) => true,
            Number::Float(value) => value.is_finite(),
        }
    }

    pub(super) fn is_zero(self) -> bool {
        self.order(Number::Int(0)) == Some(Ordering::Equal)
    }

    pub(super) fn approximate(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
        }
    }

    /// How far it is from here to there; rounded only where floats are in it.
    pub(super) fn distance(self, other: Number) -> f64 {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => a.abs_diff(b) as f64,
            _ => (self.approximate() - other.approximate()).abs(),
        }
    }

    pub(super) fn show(self) -> String {
        match self {
            Number::Int(value) => value.to_string(),
            Number::Float(value) => show_float(value),
        }
    }
}

/// As Python writes it; the sign of zero is not worth a difference between two runs.
pub(super) fn show_float(value: f64) -> String {
    if value.is_nan() {
        "nan".to_owned()
    } else if value == 0.0 {
        "0.0".to_owned()
    } else {
        format!("{value:?}")
    }
}

/// Whether two floats would be shown alike.
pub(super) fn alike(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

pub(super) fn gcd(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Casting either to the type of the other would make neighbours equal from 2⁵³ on.
fn whole_and_float(a: i64, b: f64) -> Option<Ordering> {
    if b.is_nan() {
        None
    } else if b >= BEYOND {
        Some(Ordering::Less)
    } else if b < -BEYOND {
        Some(Ordering::Greater)
    } else {
        let rest = 0.0_f64.partial_cmp(&b.fract())?;
        Some(a.cmp(&(b.trunc() as i64)).then(rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(a: i64, b: f64) -> Option<Ordering> {
        let (a, b) = (Number::Int(a), Number::Float(b));
        assert_eq!(a.order(b), b.order(a).map(Ordering::reverse));
        a.order(b)
    }

    #[test]
    fn whole_numbers_and_floats_are_compared_exactly() {
        assert_eq!(order(1, 1.0), Some(Ordering::Equal));
        assert_eq!(order(1, 1.5), Some(Ordering::Less));
        assert_eq!(order(-1, -1.5), Some(Ordering::Greater));
        assert_eq!(order(-2, -1.5), Some(Ordering::Less));
        assert_eq!(order(0, -0.0), Some(Ordering::Equal));
        // 2⁵³ + 1 is no float; a cast would say equal.
        assert_eq!(
            order(9_007_199_254_740_993, 9_007_199_254_740_992.0),
            Some(Ordering::Greater)
        );
        assert_eq!(order(i64::MAX, BEYOND), Some(Ordering::Less));
        assert_eq!(order(i64::MIN, -BEYOND), Some(Ordering::Equal));
        assert_eq!(order(i64::MAX, f64::INFINITY), Some(Ordering::Less));
        assert_eq!(order(i64::MIN, f64::NEG_INFINITY), Some(Ordering::Greater));
        assert_eq!(order(0, f64::NAN), None);
    }

    #[test]
    fn distances_do_not_overflow() {
        let far = Number::Int(i64::MIN).distance(Number::Int(i64::MAX));
        assert_eq!(far, 18_446_744_073_709_551_615.0);
        let far = Number::Float(f64::MIN).distance(Number::Float(f64::MAX));
        assert_eq!(far, f64::INFINITY);
    }
}
