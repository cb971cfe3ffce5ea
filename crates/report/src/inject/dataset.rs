//! Texts that go with a data set: its README and the table of classes.

use std::fmt::Write as _;

use super::{Document, rows, sayings};
use crate::csv::cell;

pub fn readme(document: &Document) -> String {
    let c = &document.campaign;
    let mut out = format!(
        "# Order-dependent tests of {}\n\nMade by flakelab {} with `flakelab inject --seed {} --reruns {} --orders {} --scope {}{}`: one statement\nof a stable test deleted at a time, the same random orders for each.\n\n| metric | value |\n|---|---|\n",
        document.project,
        document.flakelab,
        c.seed,
        c.reruns,
        c.orders,
        c.scope,
        if c.include_fixtures {
            " --include-fixtures"
        } else {
            ""
        },
    );
    for (name, value) in rows(document) {
        // How long it took is no part of the data: the same seed gives the same set.
        if !name.starts_with("run time") {
            let _ = writeln!(out, "| {name} | {value} |");
        }
    }
    out.push('\n');
    for line in sayings(document) {
        let _ = writeln!(out, "- {line}");
    }
    out.push_str(
        "\n| file | what it has |\n|---|---|\n\
         | `manifest.json` | project, commit, interpreter, packages, seed, tool |\n\
         | `mutants.jsonl` | one mutant a line: deleted statement, class, orders, failure, who matters |\n\
         | `orders.jsonl` | the orders, one a line, by number |\n\
         | `patches/` | a patch for each valid mutant, for `git apply` |\n\
         | `excluded.jsonl` | tests that were left out, and why |\n\
         | `classes.csv` | the counts of every test class |\n\
         | `report.html` | the same with plots |\n\n\
         `flakelab inject verify DIR` replays the entries with plain pytest.\n",
    );
    out
}

/// One line for each test class.
pub fn csv(document: &Document) -> String {
    let mut out = "class,size,shared_fields,fixture,stable_tests,mutants,valid,order_dependent,victims,brittles,non_deterministic,assertion_failures,other_failures,tests_affected\n".to_owned();
    for row in &document.classes {
        let t = &row.totals;
        let _ = writeln!(
            out,
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            cell(&row.class),
            row.size,
            row.shared_fields,
            row.fixture,
            t.stable_tests,
            t.mutants,
            t.valid,
            t.order_dependent,
            t.victims,
            t.brittles,
            t.non_deterministic,
            t.assertion_failures,
            t.other_failures,
            t.tests_affected,
        );
    }
    out
}
