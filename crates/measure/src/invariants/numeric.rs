//! What holds for one number: bounds, a modulus, that it is never zero.

use std::cmp::Ordering;

use super::Kept;
use super::column::{Column, Gaps};
use super::confidence::{self, justified};
use super::number::{Number, gcd};

/// Which bounds of a variable were kept, or follow from what was kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) lower: bool,
    pub(super) upper: bool,
}

impl Bounds {
    pub(super) const BOTH: Bounds = Bounds {
        lower: true,
        upper: true,
    };
}

/// The different numbers, ascending, with how many samples have each.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) values: Vec<(Number, usize)>,
    samples: usize,
}

impl Counted {
    /// Nothing where a sample is not a number: NaN is neither above nor below anything.
    pub(super) fn new(mut numbers: Vec<Number>) -> Option<Counted> {
        if numbers.is_empty() || numbers.iter().any(|number| number.is_nan()) {
            return None;
        }
        // Of equal ones the whole number comes first, so that it is the one that is shown.
        let whole_last = |number: &Number| matches!(number, Number::Float(_));
        numbers.sort_unstable_by(|a, b| {
            let by_size = a.order(*b).unwrap_or(Ordering::Equal);
            by_size.then_with(|| whole_last(a).cmp(&whole_last(b)))
        });
        let samples = numbers.len();
        let mut values: Vec<(Number, usize)> = Vec::new();
        for number in numbers {
            match values.last_mut() {
                Some((last, count)) if last.order(number) == Some(Ordering::Equal) => *count += 1,
                _ => values.push((number, 1)),
            }
        }
        Some(Counted { values, samples })
    }

    fn ends(&self) -> Option<(Number, Number)> {
        Some((self.values.first()?.0, self.values.last()?.0))
    }
}

pub(super) fn look(column: &Column, kept: &mut Kept) -> Bounds {
    let Some(counted) = Counted::new(column.numbers.iter().flatten().copied().collect()) else {
        return Bounds::default();
    };
    let modulus = modulus(&counted);
    if let Some((modulus, rest)) = modulus {
        let value = format!("{rest} mod {modulus}");
        kept.keep(column.name, "modulus", column.gaps.admit(&value));
    }
    let step = modulus.map_or(1, |(modulus, _)| modulus);
    let kept_bounds = bounds(&counted, step, column.name, column.gaps, kept);
    if never_zero(&counted, modulus, kept_bounds) {
        kept.keep(column.name, "not zero", column.gaps.admit(""));
    }
    kept_bounds
}

/// Each bound has a justification of its own, and so is an invariant of its own.
pub(super) fn bounds(
    counted: &Counted,
    step: u64,
    name: &str,
    gaps: Gaps,
    kept: &mut Kept,
) -> Bounds {
    let Some((lowest, highest)) = counted.ends() else {
        return Bounds::default();
    };
    let values = &counted.values;
    let mut keep = |end: Number, evidence, kind: &str| {
        // That a float is at most infinite says nothing.
        let holds = end.is_finite() && justified(confidence::bound(evidence));
        if holds {
            kept.keep(name, kind, gaps.admit(&end.show()));
        }
        holds
    };
    let from_below = evidence(values.iter(), counted, step, lowest.is_zero());
    let from_above = evidence(values.iter().rev(), counted, step, false);
    Bounds {
        lower: keep(lowest, from_below, "lower bound"),
        upper: keep(highest, from_above, "upper bound"),
    }
}

fn evidence<'a>(
    from_end: impl Iterator<Item = &'a (Number, usize)>,
    counted: &Counted,
    step: u64,
    starts_at_zero: bool,
) -> confidence::Bound {
    let first: Vec<(Number, usize)> = from_end.take(3).copied().collect();
    let adjacent = |pair: &[(Number, usize)]| pair[0].0.distance(pair[1].0) == step as f64;
    let width = counted
        .ends()
        .map_or(0.0, |(lowest, highest)| lowest.distance(highest));
    let mut counts = [0; 3];
    for (count, (_, seen)) in counts.iter_mut().zip(&first) {
        *count = *seen;
    }
    confidence::Bound {
        counts,
        adjacent: first.len() == 3 && first.windows(2).all(adjacent),
        // Daikon has this step in mind ("need to reinstate this") and takes 1.
        span: (width / step as f64) + 1.0,
        samples: counted.samples,
        starts_at_zero,
    }
}

/// The modulus and the rest that all of them leave: the greatest common divisor of their differences.
fn modulus(counted: &Counted) -> Option<(u64, i128)> {
    let mut common = 0_u128;
    let mut first = None;
    for (number, _) in &counted.values {
        let Number::Int(value) = *number else {
            return None;
        };
        let first = *first.get_or_insert(value);
        common = gcd(common, u128::from(value.abs_diff(first)));
        if common == 1 {
            return None;
        }
    }
    let common = u64::try_from(common).ok()?;
    let chance = confidence::modulus(common, counted.samples);
    let rest = i128::from(first?).checked_rem_euclid(i128::from(common))?;
    justified(chance).then_some((common, rest))
}

/// Not where it follows: from a bound beyond zero, or from a modulus whose rest is not zero.
fn never_zero(counted: &Counted, modulus: Option<(u64, i128)>, kept: Bounds) -> bool {
    let Some((lowest, highest)) = counted.ends() else {
        return false;
    };
    let zero = Number::Int(0);
    let above = lowest.order(zero) == Some(Ordering::Greater);
    let below = highest.order(zero) == Some(Ordering::Less);
    let implied = (above && kept.lower)
        || (below && kept.upper)
        || modulus.is_some_and(|(_, rest)| rest != 0);
    if implied || counted.values.iter().any(|(number, _)| number.is_zero()) {
        return false;
    }
    let width = if above {
        zero.distance(highest)
    } else if below {
        zero.distance(lowest)
    } else {
        lowest.distance(highest)
    };
    let step = modulus.map_or(1, |(modulus, _)| modulus);
    justified(confidence::not_zero(width + 1.0, step, counted.samples))
}
