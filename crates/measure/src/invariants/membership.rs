//! Numbers that are in a sequence, and sequences whose elements are all in another.

use std::cmp::Ordering;

use flakelab_model::Datum;

use super::column::{Class, Column, whole};
use super::confidence::{self, justified};
use super::number::Number;

/// Comparisons of elements for one pair of variables: 100,000 samples of ten elements each, some hundredths of
/// a second.
const MOST_LOOKUPS: usize = 10_000_000;

/// Whether the number is in the sequence in every sample that has both.
pub(super) fn is_member(number: &Column, sequence: &Column) -> bool {
    let mut samples = 0;
    let holds = number
        .numbers
        .iter()
        .zip(&sequence.values)
        .all(|pair| match pair {
            (Some(number), Datum::Numbers { items, .. }) => {
                samples += 1;
                items.iter().any(|item| is(*number, *item))
            }
            // One of them is not there, because both are of one kind otherwise.
            _ => true,
        });
    holds && justified(confidence::coin(samples))
}

fn is(number: Number, item: f64) -> bool {
    number.order(Number::Float(item)) == Some(Ordering::Equal)
}

/// How the elements of two sequences relate in every sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inclusion {
    Subset,
    Superset,
    SameElements,
}

pub(super) fn inclusion(left: &Column, right: &Column) -> Option<Inclusion> {
    if left.class != Class::Sequence || right.class != Class::Sequence {
        return None;
    }
    let pairs = || {
        let both = left.values.iter().zip(&right.values);
        both.filter_map(|pair| match pair {
            (Datum::Numbers { .. }, Datum::Numbers { .. }) => Some((*pair.0, *pair.1)),
            _ => None,
        })
    };
    let lookups = |(a, b): (&Datum, &Datum)| kept(a).len().saturating_mul(kept(b).len());
    let all = pairs().map(lookups).fold(0_usize, usize::saturating_add);
    if all > MOST_LOOKUPS {
        return None;
    }
    // An empty sequence is in every other, and so no evidence.
    let telling = |side: fn((&Datum, &Datum)) -> usize| pairs().filter(|p| side(*p) > 0).count();
    let is_justified = |samples| justified(confidence::coin(samples));
    let below = is_justified(telling(|(a, _)| kept(a).len())) && pairs().all(|(a, b)| within(a, b));
    let above = is_justified(telling(|(_, b)| kept(b).len())) && pairs().all(|(a, b)| within(b, a));
    match (below, above) {
        (true, true) => Some(Inclusion::SameElements),
        (true, false) => Some(Inclusion::Subset),
        (false, true) => Some(Inclusion::Superset),
        (false, false) => None,
    }
}

fn kept(value: &Datum) -> &[f64] {
    match value {
        Datum::Numbers { items, .. } => items,
        _ => &[],
    }
}

/// What was not kept of the inner one may be anything; of the outer one it is not needed.
fn within(inner: &Datum, outer: &Datum) -> bool {
    whole(inner).is_some_and(|items| items.iter().all(|item| kept(outer).contains(item)))
}
