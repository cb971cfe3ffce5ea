//! Tallies in the database: added to what is there.

use std::borrow::Borrow;

use flakelab_model::Tally;
use rusqlite::{Connection, params};

/// Appends tallies to those that a version has already.
pub(super) fn write<T: Borrow<i64>, U: Borrow<Tally>>(
    connection: &Connection,
    version: i64,
    tallies: impl IntoIterator<Item = (T, U)>,
) -> rusqlite::Result<()> {
    let mut all: Vec<(i64, Tally)> = tallies
        .into_iter()
        .map(|(test, tally)| (*test.borrow(), *tally.borrow()))
        .collect();
    // In the order of the table, so that one page after the other is written.
    all.sort_unstable_by_key(|(test, _)| *test);
    let mut statement = connection.prepare_cached(
        "INSERT INTO history_tallies
             (version, test, passed, failed, errored, skipped, flips, runs, flaky, first, last)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET
             passed = passed + excluded.passed,
             failed = failed + excluded.failed,
             errored = errored + excluded.errored,
             skipped = skipped + excluded.skipped,
             flips = flips + excluded.flips
                 + (last IS NOT NULL AND excluded.first IS NOT NULL AND last <> excluded.first),
             runs = runs + excluded.runs,
             flaky = flaky + excluded.flaky,
             first = coalesce(first, excluded.first),
             last = coalesce(excluded.last, last)",
    )?;
    for (test, t) in all {
        statement.execute(params![
            version, test, t.passed, t.failed, t.errored, t.skipped, t.flips, t.runs, t.flaky,
            t.first, t.last
        ])?;
    }
    Ok(())
}
