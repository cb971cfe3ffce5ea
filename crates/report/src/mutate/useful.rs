//! Which survivors are worth reading first.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::{Document, Mutant, Status};

/// Survivors, the most useful first:
///
/// 1. One of every function before the second of any: survivors of one function often tell the same, and a list that is cut
///    should not be about one function.
/// 2. Those that most tests hit: the tests are there and look away, so one assertion more is enough.
/// 3. Those in functions with fewer survivors: a gap in what is tested, rather than something that nobody tests.
/// 4. File, line, column, id.
///
/// Within a function, points 2 and 4 say which comes first. Nothing depends on the order of the document; each comes with its
/// place there.
pub(crate) fn survivors(document: &Document) -> Vec<(usize, &Mutant)> {
    let mut found: Vec<(usize, &Mutant)> = document
        .mutants
        .iter()
        .enumerate()
        .filter(|(_, mutant)| mutant.status == Status::Survived)
        .collect();
    found.sort_by_key(|(_, mutant)| (Reverse(mutant.tests), place(mutant)));
    let mut of_function: HashMap<(&str, &str), usize> = HashMap::new();
    let mut ranked: Vec<(usize, (usize, &Mutant))> = Vec::with_capacity(found.len());
    for (at, mutant) in found {
        let turn = of_function.entry(function(mutant)).or_default();
        *turn += 1;
        ranked.push((*turn, (at, mutant)));
    }
    ranked.sort_by_key(|(turn, (_, mutant))| {
        let beside = of_function.get(&function(mutant)).copied();
        (*turn, Reverse(mutant.tests), beside, place(mutant))
    });
    ranked.into_iter().map(|(_, mutant)| mutant).collect()
}

fn function(mutant: &Mutant) -> (&str, &str) {
    (&mutant.file, &mutant.scope)
}

/// File, line, column, id.
pub(super) fn place(mutant: &Mutant) -> (&str, usize, usize, &str) {
    (&mutant.file, mutant.line, mutant.column, &mutant.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutate::example;

    fn order(mutants: &[(&str, &str, usize, usize)]) -> Vec<usize> {
        let mut document = example::shop();
        document.mutants = mutants
            .iter()
            .map(|(file, scope, line, tests)| Mutant {
                id: format!("{file}:{line}"),
                file: (*file).into(),
                scope: (*scope).into(),
                line: *line,
                tests: *tests,
                ..example::mutant(Status::Survived)
            })
            .collect();
        let lines = |document: &Document| -> Vec<usize> {
            survivors(document).iter().map(|(_, m)| m.line).collect()
        };
        let order = lines(&document);
        document.mutants.reverse();
        assert_eq!(order, lines(&document), "the order is stable");
        order
    }

    #[test]
    fn one_of_every_function_comes_before_the_second_of_any() {
        assert_eq!(
            order(&[
                ("a.py", "f", 1, 9),
                ("a.py", "f", 2, 8),
                ("a.py", "g", 3, 7),
                ("b.py", "f", 4, 6)
            ]),
            [1, 3, 4, 2]
        );
    }

    #[test]
    fn then_many_tests_then_few_survivors_then_the_place() {
        assert_eq!(
            order(&[
                ("a.py", "f", 1, 2),
                ("a.py", "f", 2, 1),
                ("a.py", "g", 3, 2),
                ("a.py", "h", 4, 2),
                ("a.py", "i", 5, 3),
                ("a.py", "i", 6, 3)
            ]),
            [5, 3, 4, 1, 6, 2]
        );
    }

    #[test]
    fn only_survivors_are_listed() {
        let document = example::shop();
        let found = survivors(&document);
        assert_eq!(found.len() as u64, document.totals.survived);
        for (at, mutant) in found {
            assert_eq!(mutant.status, Status::Survived);
            assert_eq!(document.mutants[at].id, mutant.id);
        }
    }
}
