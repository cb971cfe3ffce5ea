//! Survivors as GitHub Actions shows them beside the code. With `--diff` they are on changed lines.

use super::sayings::{self, name};
use super::{Document, Mutant, useful};
use crate::github::{data, property};
use crate::wording::first_line;

/// GitHub shows 10 of a kind in a step and 50 in a job.
const MOST: usize = 50;
/// Characters of a title and of each part of a text.
const TITLE: usize = 200;
const PART: usize = 500;

/// One workflow command a line, the most useful survivor first.
pub fn annotations(document: &Document) -> Vec<String> {
    let survivors = useful::survivors(document).into_iter();
    survivors
        .take(MOST)
        .map(|(_, mutant)| warning(mutant))
        .collect()
}

fn warning(mutant: &Mutant) -> String {
    let scope = name(&mutant.scope, TITLE / 2);
    let says = first_line(&mutant.says, TITLE / 2);
    format!(
        "::warning file={},line={},col={},title={}::{}",
        property(&name(&mutant.file, PART)),
        mutant.line,
        mutant.column,
        property(&format!("survived in {scope}: {says}")),
        data(&format!(
            "{}: {} ({}, {})",
            first_line(&mutant.says, PART),
            sayings::verdict(mutant),
            name(&mutant.operator, TITLE),
            name(&mutant.id, TITLE)
        ))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutate::{Status, example};

    #[test]
    fn survivors_are_warnings_beside_the_code() {
        let found = annotations(&example::shop());
        assert_eq!(
            found.first().map(String::as_str),
            Some(
                "::warning file=shop/cart.py,line=4,col=20,title=survived in Cart.total%3A `<` became `<=`::\
                 `<` became `<=`: 4 tests hit it, none failed (comparison, m1)"
            )
        );
        assert_eq!(found.len() as u64, example::shop().totals.survived);
    }

    #[test]
    fn a_suite_cannot_write_commands_of_its_own() {
        let found = annotations(&example::hostile());
        assert!(!found.is_empty());
        for line in found {
            assert!(!line.contains(['\n', '\r', '\u{1b}']), "{line}");
            let (properties, _) = line
                .strip_prefix("::warning ")
                .and_then(|rest| rest.split_once("::"))
                .expect("a command");
            assert_eq!(properties.split(',').count(), 4, "{properties}");
            assert!(line.len() < 20_000, "{}", line.len());
        }
    }

    #[test]
    fn there_are_never_more_than_fifty() {
        let mut document = example::shop();
        document.mutants = vec![example::mutant(Status::Survived); 80];
        assert_eq!(annotations(&document).len(), 50);
    }
}
