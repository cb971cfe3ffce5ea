//! Which of two numbers is the smaller one in every sample.

use std::cmp::Ordering;

use super::column::Column;
use super::number::Number;

/// What all samples agree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// The strongest order that all samples show in which both are numbers, and how many these are.
pub(super) fn of(left: &Column, right: &Column) -> Option<(Order, usize)> {
    let (mut less, mut equal, mut greater) = (false, false, false);
    let mut samples = 0;
    for pair in left.numbers.iter().zip(&right.numbers) {
        let (Some(left), Some(right)) = pair else {
            continue;
        };
        samples += 1;
        match left.order(*right)? {
            Ordering::Less => less = true,
            Ordering::Equal => equal = true,
            Ordering::Greater => greater = true,
        }
        if less && greater {
            return None;
        }
    }
    let order = match (less, equal, greater) {
        (true, false, false) => Order::Less,
        (true, true, false) => Order::LessOrEqual,
        (false, false, true) => Order::Greater,
        (false, true, true) => Order::GreaterOrEqual,
        _ => return None,
    };
    Some((order, samples))
}

/// Whether every value of one is below every value of the other: then bounds say it.
pub(super) fn apart(below: &Column, above: &Column) -> bool {
    let highest = outermost(below, Ordering::Greater);
    let lowest = outermost(above, Ordering::Less);
    match (highest, lowest) {
        (Some(highest), Some(lowest)) => highest.order(lowest) == Some(Ordering::Less),
        _ => false,
    }
}

fn outermost(column: &Column, side: Ordering) -> Option<Number> {
    let numbers = column.numbers.iter().flatten().copied();
    numbers.reduce(|a, b| if b.order(a) == Some(side) { b } else { a })
}
