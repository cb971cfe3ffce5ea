//! One number as a linear function of another: y = a·x + b over at least four different x. Not with a = 0, and
//! not y = x: those are a constant and an equality, which have justifications of their own.
//!
//! Whole numbers are compared exactly, with a slope that may be a fraction. Floats are rounded wherever they
//! were computed, so theirs hold to nine digits, and are shown with nine.

use std::cmp::Ordering;

use super::column::Column;
use super::confidence::{self, justified};
use super::number::{Number, gcd, show_float};

/// What is left of a float's digits after a few operations, with room.
const DIGITS: usize = 9;
const TOLERANCE: f64 = 2e-9;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) equation: String,
    /// A slope of one: then the order of the two follows.
    pub(super) is_shift: bool,
}

pub(super) fn of(x: &Column, y: &Column) -> Option<Line> {
    let pairs = || {
        let both = x.numbers.iter().zip(&y.numbers);
        both.filter_map(|(x, y)| Some(((*x)?, (*y)?)))
    };
    // The outermost points, chosen by value: which sample came first must not matter.
    let (mut low, mut high) = (pairs().next()?, pairs().next()?);
    let mut different: Vec<Number> = Vec::new();
    for pair in pairs() {
        if by_value(pair, low)? == Ordering::Less {
            low = pair;
        }
        if by_value(pair, high)? == Ordering::Greater {
            high = pair;
        }
        let is_seen = |seen: &Number| seen.order(pair.0) == Some(Ordering::Equal);
        if !justified(confidence::line(different.len())) && !different.iter().any(is_seen) {
            different.push(pair.0);
        }
    }
    if !justified(confidence::line(different.len())) {
        return None;
    }
    match (low, high) {
        ((Number::Int(a), Number::Int(b)), (Number::Int(c), Number::Int(d)))
            if pairs().all(|p| matches!(p, (Number::Int(_), Number::Int(_)))) =>
        {
            let line = Whole::through((a, b), (c, d))?;
            let on_line = |(x, y)| match (x, y) {
                (Number::Int(x), Number::Int(y)) => line.meets(x, y),
                _ => Some(false),
            };
            let holds = pairs().all(|pair| on_line(pair) == Some(true));
            holds.then(|| line.show(x.name, y.name))
        }
        _ => rounded(low, high, pairs, x.name, y.name),
    }
}

fn by_value(a: (Number, Number), b: (Number, Number)) -> Option<Ordering> {
    Some(a.0.order(b.0)?.then(a.1.order(b.1)?))
}

/// q·y = p·x + c in whole numbers without a common divisor of p and q, and q > 0.
struct Whole {
    p: i128,
    q: i128,
    c: i128,
}

impl Whole {
    fn through(low: (i64, i64), high: (i64, i64)) -> Option<Whole> {
        let run = i128::from(high.0) - i128::from(low.0);
        let rise = i128::from(high.1) - i128::from(low.1);
        if run <= 0 || rise == 0 {
            return None;
        }
        let common = i128::try_from(gcd(run.unsigned_abs(), rise.unsigned_abs())).ok()?;
        let (p, q) = (rise / common, run / common);
        let c = q
            .checked_mul(i128::from(low.1))?
            .checked_sub(p.checked_mul(i128::from(low.0))?)?;
        ((p, q, c) != (1, 1, 0)).then_some(Whole { p, q, c })
    }

    /// `None` where the numbers are too large to say.
    fn meets(&self, x: i64, y: i64) -> Option<bool> {
        let left = self.q.checked_mul(i128::from(y))?;
        let right = self.p.checked_mul(i128::from(x))?.checked_add(self.c)?;
        Some(left == right)
    }

    /// Turned round where that makes the slope a whole number.
    fn show(&self, x: &str, y: &str) -> Line {
        let (p, q, c) = (self.p, self.q, self.c);
        let equation = if q != 1 && p.abs() == 1 {
            // p is its own inverse, and c is far from the end: it is a difference of two checked products.
            equation(
                x,
                &(p * q).to_string(),
                y,
                &c.saturating_mul(-p).to_string(),
            )
        } else if q == 1 {
            equation(y, &p.to_string(), x, &c.to_string())
        } else {
            equation(&format!("{q}*{y}"), &p.to_string(), x, &c.to_string())
        };
        Line {
            equation,
            is_shift: p == 1 && q == 1,
        }
    }
}

fn rounded<I: Iterator<Item = (Number, Number)>>(
    low: (Number, Number),
    high: (Number, Number),
    pairs: impl Fn() -> I,
    x_name: &str,
    y_name: &str,
) -> Option<Line> {
    let (x, y) = (low.0.approximate(), low.1.approximate());
    let slope = round((high.1.approximate() - y) / (high.0.approximate() - x))?;
    let offset = y - slope * x;
    if slope == 0.0 || !offset.is_finite() {
        return None;
    }
    // Seen from the lowest point, and by the way to there: neither large offsets nor outliers hide anything.
    let meets = |(at, value): (Number, Number)| {
        let (at, value) = (at.approximate(), value.approximate());
        let way = slope * (at - x);
        let sizes = [value, y, slope * at, slope * x];
        let largest = sizes.into_iter().map(f64::abs).fold(0.0, f64::max);
        (value - y - way).abs() <= TOLERANCE * way.abs() + 8.0 * f64::EPSILON * largest
    };
    if !pairs().all(meets) {
        return None;
    }
    // What subtraction left of an offset that is none.
    let none = offset.abs() <= TOLERANCE * y.abs().max((slope * x).abs());
    let offset = if none { 0.0 } else { round(offset)? };
    if (slope, offset) == (1.0, 0.0) {
        return None;
    }
    Some(Line {
        equation: equation(y_name, &plain(slope), x_name, &plain(offset)),
        is_shift: slope == 1.0,
    })
}

/// To the digits that can be relied on; nothing for what is not finite.
fn round(value: f64) -> Option<f64> {
    let written = format!("{value:.0$e}", DIGITS - 1);
    written.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Whole coefficients without the dot.
fn plain(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        format!("{value:.0}")
    } else {
        show_float(value)
    }
}

fn equation(y: &str, slope: &str, x: &str, offset: &str) -> String {
    let product = match slope {
        "1" => x.to_owned(),
        "-1" => format!("-{x}"),
        _ => format!("{slope}*{x}"),
    };
    match offset.strip_prefix('-') {
        _ if offset == "0" || offset == "-0" => format!("{y} = {product}"),
        Some(offset) => format!("{y} = {product} - {offset}"),
        None => format!("{y} = {product} + {offset}"),
    }
}
