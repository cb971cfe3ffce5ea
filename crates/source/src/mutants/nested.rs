//! Code that is made by a call and outlives it: a function, a lambda or a generator inside of a function.

use super::{Mutation, Unit};
use crate::python::Source;

const OUTLIVES: [&str; 3] = ["function_definition", "lambda", "generator_expression"];

impl Mutation {
    /// Whether it stands in such code. What earlier calls of its unit have made keeps the old code.
    pub fn is_nested(&self, source: &Source, unit: &Unit) -> bool {
        let root = source.root();
        let mut node = root.descendant_for_byte_range(self.span.start, self.span.end);
        let mut around = 0;
        while let Some(inner) = node.filter(|node| node.start_byte() >= unit.span.start) {
            around += usize::from(OUTLIVES.contains(&inner.kind()) && inner.is_named());
            node = inner.parent();
        }
        // The function that the unit is.
        around > 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::mutants;
    use super::*;

    #[test]
    fn what_a_call_leaves_behind_is_nested() {
        let text = "\
class Shop:
    def make(self, rate):
        base = rate + 1

        def price(amount):
            return amount * 2

        later = lambda amount: amount - 3
        return price, later, (n / 4 for n in base), [n % 5 for n in base]
";
        let source = Source::parse(text).expect("it parses");
        let found = mutants(&source);
        let nested = |operator: char| -> Vec<bool> {
            let swaps = found.mutations.iter();
            swaps
                .filter(|m| text[m.span.clone()].contains(operator) && m.span.len() < 12)
                .map(|m| m.is_nested(&source, &found.units[m.unit]))
                .collect()
        };
        for (operator, expected) in [
            ('+', false),
            ('*', true),
            ('-', true),
            ('/', true),
            ('%', false),
        ] {
            let seen = nested(operator);
            assert!(!seen.is_empty(), "{operator} is changed");
            assert!(seen.iter().all(|n| *n == expected), "{operator}: {seen:?}");
        }
    }
}
