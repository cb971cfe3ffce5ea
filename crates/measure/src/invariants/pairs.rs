//! Which pairs of variables are asked what, and which answers follow from others.
//!
//! As in Daikon, the first of several equal variables speaks for all of them, and of x < y < z the outer pair
//! is not said. Both only hold between variables that have a value in every sample.

use super::column::{Class, Column};
use super::confidence::{self, justified};
use super::membership::{self, Inclusion};
use super::order::{self, Order};
use super::unary::Known;
use super::{Kept, MOST_PAIRED, equality, linear};

/// left < right, or left <= right.
struct Below {
    left: usize,
    right: usize,
    is_strict: bool,
    /// Bounds or a line that were kept say it too.
    is_implied: bool,
}

pub(super) fn look(columns: &[Column], known: &[Known], kept: &mut Kept) {
    let comparable = columns.iter().zip(known).filter(|(column, _)| {
        matches!(
            column.class,
            Class::Bool | Class::Number | Class::Text | Class::Sequence
        )
    });
    let (columns, known): (Vec<&Column>, Vec<Known>) = comparable.take(MOST_PAIRED).unzip();
    let tell = |left: usize, right: usize| keep(columns[left], columns[right], "==", "", kept);
    let follows = equality::followers(&columns, tell);
    let mut numbers = Numbers::default();
    for left in 0..columns.len() {
        for right in left + 1..columns.len() {
            let is_said = known[left].constant && known[right].constant;
            if follows[left] || follows[right] || is_said {
                continue;
            }
            let (a, b) = (columns[left], columns[right]);
            match (a.class, b.class) {
                (Class::Number, Class::Number) => {
                    numbers.ask((left, a, known[left]), (right, b, known[right]), kept);
                }
                (Class::Number, Class::Sequence) => member(a, b, kept),
                (Class::Sequence, Class::Number) => member(b, a, kept),
                (Class::Sequence, Class::Sequence) => include(a, b, kept),
                _ => {}
            }
        }
    }
    numbers.keep(&columns, kept);
}

fn keep(left: &Column, right: &Column, kind: &str, value: &str, kept: &mut Kept) {
    let variables = format!("{}, {}", left.name, right.name);
    kept.keep(&variables, kind, left.gaps.and(right.gaps).admit(value));
}

fn member(number: &Column, sequence: &Column, kept: &mut Kept) {
    if membership::is_member(number, sequence) {
        keep(number, sequence, "in", "", kept);
    }
}

fn include(left: &Column, right: &Column, kept: &mut Kept) {
    match membership::inclusion(left, right) {
        Some(Inclusion::Subset) => keep(left, right, "subset", "", kept),
        Some(Inclusion::Superset) => keep(right, left, "subset", "", kept),
        // Equal ones with gaps are paired again, and equality says more.
        Some(Inclusion::SameElements) if !equality::are_equal(left, right) => {
            keep(left, right, "same elements", "", kept);
        }
        Some(Inclusion::SameElements) | None => {}
    }
}

/// A paired variable: where it stands, its values, and what was kept about it.
type Asked<'a> = (usize, &'a Column<'a>, Known);

/// What is known so far of pairs of numbers.
#[derive(Default)]
struct Numbers {
    below: Vec<Below>,
    /// Pairs without gaps of which one is a linear function of the other.
    lines: Vec<(usize, usize)>,
}

impl Numbers {
    /// Lines are kept at once, orders when all of them are known.
    fn ask(&mut self, left: Asked, right: Asked, kept: &mut Kept) {
        if left.2.constant || right.2.constant || equality::are_equal(left.1, right.1) {
            return;
        }
        let is_shift = self.line(left, right, kept);
        let Some((order, samples)) = order::of(left.1, right.1) else {
            return;
        };
        if !justified(confidence::coin(samples)) {
            return;
        }
        let (low, high) = match order {
            Order::Less | Order::LessOrEqual => (left, right),
            Order::Greater | Order::GreaterOrEqual => (right, left),
        };
        let bounded = low.2.bounds.upper && high.2.bounds.lower;
        self.below.push(Below {
            left: low.0,
            right: high.0,
            is_strict: matches!(order, Order::Less | Order::Greater),
            is_implied: is_shift || (bounded && order::apart(low.1, high.1)),
        });
    }

    /// Whether one is the other moved by a constant. A line that follows from two others is not kept.
    fn line(&mut self, left: Asked, right: Asked, kept: &mut Kept) -> bool {
        let Some(line) = linear::of(left.1, right.1) else {
            return false;
        };
        let is_known = |pair| self.lines.contains(&pair);
        let follows = (0..left.0).any(|by| is_known((by, left.0)) && is_known((by, right.0)));
        if !left.1.gaps.and(right.1.gaps).any() {
            self.lines.push((left.0, right.0));
        }
        if !follows {
            keep(left.1, right.1, "linear", &line.equation, kept);
        }
        line.is_shift
    }

    /// The orders that neither bounds nor lines nor two other orders say.
    fn keep(&self, columns: &[&Column], kept: &mut Kept) {
        for below in &self.below {
            if !below.is_implied && !self.is_between(below, columns) {
                let (left, right) = (columns[below.left], columns[below.right]);
                let kind = if below.is_strict { "<" } else { "<=" };
                keep(left, right, kind, "", kept);
            }
        }
    }

    /// Whether there is a third variable between the two.
    fn is_between(&self, outer: &Below, columns: &[&Column]) -> bool {
        let gapless = |at: usize| !columns[at].gaps.any();
        let completes = |first: &Below| {
            self.below.iter().any(|second| {
                let strict_enough = !outer.is_strict || first.is_strict || second.is_strict;
                second.left == first.right && second.right == outer.right && strict_enough
            })
        };
        gapless(outer.left)
            && gapless(outer.right)
            && self
                .below
                .iter()
                .any(|first| first.left == outer.left && gapless(first.right) && completes(first))
    }
}
