//! Variables that always have the same value.

use std::cmp::Ordering;

use flakelab_model::Datum;

use super::column::{Column, whole};
use super::confidence::{self, justified};
use super::number::Number;

/// Whether two columns are equal in every sample that has a value for both.
pub(super) fn are_equal(left: &Column, right: &Column) -> bool {
    if left.class != right.class {
        return false;
    }
    let mut samples = 0;
    let holds = left
        .values
        .iter()
        .zip(&right.values)
        .all(|pair| match pair {
            (Datum::None | Datum::Missing, _) | (_, Datum::None | Datum::Missing) => true,
            (a, b) => {
                samples += 1;
                is_equal(left, a, b)
            }
        });
    holds && justified(confidence::coin(samples))
}

fn is_equal(column: &Column, a: &Datum, b: &Datum) -> bool {
    match (a, b) {
        (Datum::Bool(a), Datum::Bool(b)) => a == b,
        // Masking makes texts alike that were not; their lengths may tell.
        (Datum::Text { length: m, .. }, Datum::Text { length: n, .. }) => {
            m == n && column.same(a, b)
        }
        (Datum::Numbers { .. }, Datum::Numbers { .. }) => {
            whole(a).is_some_and(|a| Some(a) == whole(b))
        }
        _ => match (Number::of(a), Number::of(b)) {
            (Some(a), Some(b)) => a.order(b) == Some(Ordering::Equal),
            _ => false,
        },
    }
}

/// For each column, whether it equals one that comes before it; each such pair is handed to `tell`. Equality
/// only carries over to a third variable where all have a value in every sample, so only then it follows.
pub(super) fn followers(columns: &[&Column], mut tell: impl FnMut(usize, usize)) -> Vec<bool> {
    let mut follows = vec![false; columns.len()];
    for left in 0..columns.len() {
        for right in left + 1..columns.len() {
            let (a, b) = (columns[left], columns[right]);
            let is_said = follows[left] || follows[right] || a.is_constant() || b.is_constant();
            if !is_said && are_equal(a, b) {
                tell(left, right);
                follows[right] = !a.gaps.and(b.gaps).any();
            }
        }
    }
    follows
}
