//! What holds for one variable: constant, one of a few values, its type, that it is never None.

use std::cmp::Ordering;

use flakelab_model::Datum;

use super::column::{Class, Column, MOST_LISTED, text};
use super::number::{Number, show_float};
use super::{Kept, confidence, numeric, sequence};

/// What was kept about a variable, as far as it implies anything about pairs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) constant: bool,
    pub(super) bounds: numeric::Bounds,
}

pub(super) fn look(column: &Column, kept: &mut Kept) -> Known {
    let before = kept.found.len();
    let mut known = Known::default();
    if column.is_listable() && !is_any_bool(column) {
        let kind = if column.is_constant() {
            "constant"
        } else {
            "one of"
        };
        // None is one of the values, so only missing ones are left to be admitted.
        let mut gaps = column.gaps;
        gaps.none = false;
        kept.keep(column.name, kind, gaps.admit(&list(column)));
        known.constant = column.is_constant();
        known.bounds = numeric::Bounds::BOTH;
        return known;
    }
    match column.class {
        Class::Number => known.bounds = numeric::look(column, kept),
        Class::Sequence => sequence::look(column, kept),
        Class::Sized | Class::Text => sequence::lengths(column, kept),
        Class::Nothing | Class::Bool | Class::Mixed => {}
    }
    types(column, kept);
    if kept.found.len() == before && !column.gaps.none {
        never_none(column, kept);
    }
    known
}

/// Both truth values are all there are: listing them says nothing.
fn is_any_bool(column: &Column) -> bool {
    column.class == Class::Bool && !column.gaps.none && column.distinct.len() == 2
}

/// Which types, where that is no matter of course: the types vary, or the type is all that is known. Justified
/// by one sample, as every list.
fn types(column: &Column, kept: &mut Kept) {
    let telling = column.types.len() > 1 || matches!(column.class, Class::Sized | Class::Mixed);
    if telling && (1..=MOST_LISTED).contains(&column.types.len()) {
        kept.keep(column.name, "type", column.gaps.admit(&type_names(column)));
    }
}

/// Everything else that is kept without `or None` implies this.
fn never_none(column: &Column, kept: &mut Kept) {
    if confidence::justified(confidence::not_none(column.present)) {
        let value = if column.types.len() > MOST_LISTED {
            String::new()
        } else {
            type_names(column)
        };
        kept.keep(column.name, "not None", column.gaps.admit(&value));
    }
}

fn type_names(column: &Column) -> String {
    let mut names = column.types.clone();
    names.sort_unstable();
    match names.as_slice() {
        [one] => (*one).to_owned(),
        several => format!("{{{}}}", several.join(", ")),
    }
}

/// The only value, or all of them: numbers by size, others by their text, None last.
fn list(column: &Column) -> String {
    let mut values = column.distinct.clone();
    values.sort_by(|a, b| {
        let none = |value: &Datum| matches!(value, Datum::None);
        let by_size = match (Number::of(a), Number::of(b)) {
            (Some(a), Some(b)) => a.order(b).unwrap_or(Ordering::Equal),
            _ => Ordering::Equal,
        };
        none(a)
            .cmp(&none(b))
            .then(by_size)
            .then_with(|| show(column, a).cmp(&show(column, b)))
    });
    let shown: Vec<String> = values.iter().map(|value| show(column, value)).collect();
    match shown.as_slice() {
        [one] => one.clone(),
        several => format!("{{{}}}", several.join(", ")),
    }
}

fn show(column: &Column, value: &Datum) -> String {
    match value {
        Datum::Bool(true) => "True".to_owned(),
        Datum::Bool(false) => "False".to_owned(),
        Datum::Int(value) => value.to_string(),
        Datum::Float(value) => show_float(*value),
        // Quoted and escaped, so that no text looks like anything else.
        Datum::Text { text: number, .. } => {
            format!("{:?}", text(column.trace, *number).unwrap_or_default())
        }
        Datum::Numbers { items, .. } => {
            let items: Vec<String> = items.iter().map(|item| show_float(*item)).collect();
            format!("[{}]", items.join(", "))
        }
        Datum::None | Datum::Missing | Datum::Sized { .. } | Datum::Other { .. } => {
            "None".to_owned()
        }
    }
}
