//! All values of one variable at one point: what they are made of, before anybody asks what holds.

use std::collections::BTreeMap;

use flakelab_model::{Datum, Point, Sample, Trace};

use super::MOST_VARIABLES;
use super::number::{Number, alike};

/// As many values as *one of* lists, and as many types: the default of Daikon's `OneOf.size`.
pub(super) const MOST_LISTED: usize = 3;

/// What the values that are there have in common, and so what can be asked of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// None wherever there is a value.
    Nothing,
    Bool,
    Number,
    Text,
    Sequence,
    Sized,
    Mixed,
}

/// In which ways some samples have no value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Gaps {
    pub(super) none: bool,
    pub(super) missing: bool,
}

impl Gaps {
    pub(super) fn any(self) -> bool {
        self.none || self.missing
    }

    pub(super) fn and(self, other: Gaps) -> Gaps {
        Gaps {
            none: self.none || other.none,
            missing: self.missing || other.missing,
        }
    }

    /// The value of an invariant that speaks only of the other samples.
    pub(super) fn admit(self, value: &str) -> String {
        let none = self.none.then_some("or None");
        let missing = self.missing.then_some("or missing");
        let value = Some(value).filter(|value| !value.is_empty());
        let parts: Vec<&str> = [value, none, missing].into_iter().flatten().collect();
        parts.join(" ")
    }
}

#[derive(Debug)]
pub(super) struct Column<'a> {
    pub(super) trace: &'a Trace,
    pub(super) name: &'a str,
    /// One for each sample of the point.
    pub(super) values: Vec<&'a Datum>,
    /// The same as numbers; empty unless all of them are.
    pub(super) numbers: Vec<Option<Number>>,
    pub(super) class: Class,
    pub(super) gaps: Gaps,
    /// How many samples have a value that is not None.
    pub(super) present: usize,
    /// The different values, None among them; one more than can be listed at most.
    pub(super) distinct: Vec<&'a Datum>,
    /// The different types, without that of None; one more than can be listed at most.
    pub(super) types: Vec<&'a str>,
}

pub(super) fn text(trace: &Trace, number: u32) -> Option<&str> {
    trace.texts.get(number as usize).map(String::as_str)
}

/// The columns of a point, by name: the order in which a run met its variables must not matter.
pub(super) fn of_point<'a>(
    trace: &'a Trace,
    point: &Point,
    samples: &[&'a Sample],
) -> Vec<Column<'a>> {
    let mut by_name = BTreeMap::new();
    for (at, variable) in point.variables.iter().enumerate() {
        if let Some(name) = text(trace, *variable) {
            by_name.entry(name).or_insert(at);
        }
    }
    let values_at = |at: usize| {
        samples
            .iter()
            .map(move |sample| sample.values.get(at).unwrap_or(&Datum::Missing))
    };
    by_name
        .into_iter()
        .take(MOST_VARIABLES)
        .map(|(name, at)| Column::new(trace, name, values_at(at)))
        .collect()
}

impl<'a> Column<'a> {
    fn new(trace: &'a Trace, name: &'a str, values: impl Iterator<Item = &'a Datum>) -> Self {
        let mut column = Column {
            trace,
            name,
            values: Vec::new(),
            numbers: Vec::new(),
            class: Class::Nothing,
            gaps: Gaps::default(),
            present: 0,
            distinct: Vec::new(),
            types: Vec::new(),
        };
        for value in values {
            column.add(value);
        }
        if column.class == Class::Number {
            column.numbers = column.values.iter().map(|v| Number::of(v)).collect();
        }
        column
    }

    fn add(&mut self, value: &'a Datum) {
        let Some((class, kind)) = classify(self.trace, value) else {
            self.gaps.missing = true;
            self.values.push(&Datum::Missing);
            return;
        };
        self.values.push(value);
        if class == Class::Nothing {
            self.gaps.none = true;
        } else {
            self.present += 1;
            self.class = match self.class {
                Class::Nothing => class,
                same if same == class => class,
                _ => Class::Mixed,
            };
            if self.types.len() <= MOST_LISTED && !self.types.contains(&kind) {
                self.types.push(kind);
            }
        }
        let known = |seen: &&Datum| self.same(seen, value);
        if self.distinct.len() <= MOST_LISTED && !self.distinct.iter().any(known) {
            self.distinct.push(value);
        }
    }

    /// Whether two values are shown alike, and so are one value of a list. A thing known only by its type is
    /// like no other, and neither is a sequence whose end was not kept.
    pub(super) fn same(&self, a: &Datum, b: &Datum) -> bool {
        match (a, b) {
            (Datum::None, Datum::None) => true,
            (Datum::Bool(a), Datum::Bool(b)) => a == b,
            (Datum::Int(a), Datum::Int(b)) => a == b,
            (Datum::Float(a), Datum::Float(b)) => alike(*a, *b),
            (Datum::Text { text: a, .. }, Datum::Text { text: b, .. }) => {
                a == b || text(self.trace, *a) == text(self.trace, *b)
            }
            (Datum::Numbers { .. }, Datum::Numbers { .. }) => match (whole(a), whole(b)) {
                (Some(a), Some(b)) => {
                    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(*a, *b))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether every value can be written down.
    pub(super) fn is_listable(&self) -> bool {
        let listable = |value: &&Datum| match value {
            Datum::Sized { .. } | Datum::Other { .. } => false,
            Datum::Numbers { .. } => whole(value).is_some(),
            _ => true,
        };
        (1..=MOST_LISTED).contains(&self.distinct.len()) && self.distinct.iter().all(listable)
    }

    pub(super) fn is_constant(&self) -> bool {
        self.is_listable() && self.distinct.len() == 1
    }
}

/// The elements of a sequence, if all of them were kept.
pub(super) fn whole(value: &Datum) -> Option<&[f64]> {
    match value {
        Datum::Numbers { length, items } if *length == items.len() as u64 => Some(items),
        _ => None,
    }
}

/// What a value is and the name of its type; nothing where there is none, or none that can be told.
fn classify<'a>(trace: &'a Trace, value: &Datum) -> Option<(Class, &'a str)> {
    Some(match value {
        Datum::Missing => return None,
        Datum::None => (Class::Nothing, "NoneType"),
        Datum::Bool(_) => (Class::Bool, "bool"),
        Datum::Int(_) => (Class::Number, "int"),
        Datum::Float(_) => (Class::Number, "float"),
        Datum::Text { text: number, .. } => {
            text(trace, *number)?;
            (Class::Text, "str")
        }
        Datum::Numbers { .. } => (Class::Sequence, "numbers"),
        Datum::Sized { kind, .. } => (Class::Sized, text(trace, *kind)?),
        Datum::Other { kind } => (Class::Mixed, text(trace, *kind)?),
    })
}
