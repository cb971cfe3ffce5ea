//! A summary for a CI page (GitHub step summary).

use std::fmt::Write as _;

use super::sayings::{self, name};
use super::{Document, useful};
use crate::markdown::code;
use crate::wording::{first_line, thousands};

/// CI pages are read, not scrolled.
const MOST_ROWS: usize = 50;
const MOST_ASIDE: usize = 20;
/// Characters of a text.
const TEXT: usize = 200;

pub fn markdown(document: &Document) -> String {
    let mut out = format!(
        "## flakelab mutate: score {}\n\n{}.\n\n",
        sayings::range(&document.score),
        sayings::basis(document)
    );
    for (what, parts) in [
        ("Not part of the score", sayings::beside(document)),
        ("Never run", sayings::left_out(document)),
    ] {
        if !parts.is_empty() {
            let _ = writeln!(out, "{what}: {}.\n", parts.join(", "));
        }
    }
    let survivors = useful::survivors(document);
    if !survivors.is_empty() {
        out.push_str("| survived | in | tests that hit it | mutant |\n|---|---|---|---|\n");
    }
    for (_, mutant) in survivors.iter().take(MOST_ROWS) {
        let place = format!("{}:{}", name(&mutant.file, TEXT), mutant.line);
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            code(&place),
            code(&name(&mutant.scope, TEXT)),
            thousands(mutant.tests as u64),
            code(&first_line(&mutant.says, TEXT)),
        );
    }
    if survivors.len() > MOST_ROWS {
        let more = (survivors.len() - MOST_ROWS) as u64;
        let _ = writeln!(out, "\n… and {} more.", thousands(more));
    }
    for one in document.set_aside.iter().take(MOST_ASIDE) {
        let _ = writeln!(
            out,
            "\n> set aside: {}, {}",
            code(&name(&one.test, TEXT)),
            code(&first_line(&one.why, TEXT))
        );
    }
    if document.set_aside.len() > MOST_ASIDE {
        let more = (document.set_aside.len() - MOST_ASIDE) as u64;
        let _ = writeln!(out, "\n> … and {} more set aside", thousands(more));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutate::example;

    #[test]
    fn the_score_and_the_survivors() {
        insta::assert_snapshot!(markdown(&example::shop()), @r#"
    ## flakelab mutate: score 40.0 % – 60.0 %

    2 of 5 mutants killed; 1 is unknown, and leaves the range open.

    Not part of the score: 1 ran out of time, 1 could not be run, 1 covered by no test.

    Never run: 2 equal to the original, 1 equal to another mutant, 3 excluded.

    | survived | in | tests that hit it | mutant |
    |---|---|---|---|
    | `shop/cart.py:4` | `Cart.total` | 4 | `` `<` became `<=` `` |
    | `shop/tax.py:1` | `tax` | 1 | `` `0.2` became `1.2` `` |

    > set aside: `tests/test_cart.py::test_flaky`, `failed in coverage run 2 of 3`
    "#);
    }

    #[test]
    fn ids_cannot_break_out_of_their_cell() {
        let text = markdown(&example::hostile());
        assert!(!text.contains('\u{1b}'));
        for row in text.lines().filter(|line| line.starts_with("| ")) {
            let open = row.replace("\\|", "");
            assert_eq!(open.matches('|').count(), 5, "{row}");
        }
        assert!(text.len() < 100_000, "{}", text.len());
    }
}
