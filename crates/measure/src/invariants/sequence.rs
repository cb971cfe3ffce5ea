//! What holds for one sequence of numbers, and for the length of anything that has one.

use flakelab_model::Datum;

use super::Kept;
use super::column::{Class, Column, MOST_LISTED, whole};
use super::confidence::{self, justified};
use super::number::Number;
use super::numeric::{self, Counted};

pub(super) fn look(column: &Column, kept: &mut Kept) {
    lengths(column, kept);
    let sequences = || {
        column
            .values
            .iter()
            .filter(|v| !matches!(v, Datum::None | Datum::Missing))
    };
    // Fewer than two elements are sorted and different anyway, and so no evidence (Daikon counts them).
    let telling = sequences()
        .filter(|v| matches!(v, Datum::Numbers { length, .. } if *length > 1))
        .count();
    let all = |holds: fn(&[f64]) -> bool| sequences().all(|v| whole(v).is_some_and(holds));
    let mut keep = |kind: &str| kept.keep(column.name, kind, column.gaps.admit(""));
    if justified(confidence::coin(telling)) {
        if all(|items| items.windows(2).all(|pair| pair[0] <= pair[1])) {
            keep("ascending");
        }
        if all(|items| items.windows(2).all(|pair| pair[0] >= pair[1])) {
            keep("descending");
        }
    }
    if justified(confidence::no_duplicates(telling)) && all(are_different) {
        keep("no duplicates");
    }
}

fn are_different(items: &[f64]) -> bool {
    let mut sorted = items.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    // Zeros of both signs are neighbours here. What is no number is not known to differ.
    sorted.windows(2).all(|pair| pair[0] < pair[1]) && !items.iter().any(|item| item.is_nan())
}

/// The length as a number of its own: constant, one of a few, or bounded. Of texts only a constant one, because
/// what a text's length is otherwise says little.
pub(super) fn lengths(column: &Column, kept: &mut Kept) {
    let numbers = column.values.iter().filter_map(|v| length(v)).collect();
    let Some(counted) = Counted::new(numbers) else {
        return;
    };
    let name = format!("len({})", column.name);
    let shown: Vec<String> = counted.values.iter().map(|(n, _)| n.show()).collect();
    match shown.as_slice() {
        [one] => kept.keep(&name, "constant", column.gaps.admit(one)),
        _ if column.class == Class::Text => {}
        few if few.len() <= MOST_LISTED => {
            let value = format!("{{{}}}", few.join(", "));
            kept.keep(&name, "one of", column.gaps.admit(&value));
        }
        _ => {
            numeric::bounds(&counted, 1, &name, column.gaps, kept);
        }
    }
}

fn length(value: &Datum) -> Option<Number> {
    match value {
        Datum::Text { length, .. }
        | Datum::Numbers { length, .. }
        | Datum::Sized { length, .. } => {
            Some(Number::Int(i64::try_from(*length).unwrap_or(i64::MAX)))
        }
        _ => None,
    }
}
