//! What is in the history.

use std::collections::BTreeMap;

use flakelab_model::{Reported, Tally};
use rusqlite::Row;

use super::pack::unpack;
use crate::{Store, StoreError, StoreErrorKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryTotals {
    pub versions: u64,
    pub runs: u64,
    pub files: u64,
    pub tests: u64,
    pub executions: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    pub id: i64,
    pub name: String,
    pub created: i64,
}

/// What one report says of one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRows {
    pub version: i64,
    pub run: String,
    pub outcomes: Vec<Reported>,
}

const COLUMNS: &str =
    "version, test, passed, failed, errored, skipped, flips, runs, flaky, first, last";

fn tally(row: &Row<'_>) -> rusqlite::Result<(i64, i64, Tally)> {
    let tally = Tally {
        passed: row.get(2)?,
        failed: row.get(3)?,
        errored: row.get(4)?,
        skipped: row.get(5)?,
        flips: row.get(6)?,
        runs: row.get(7)?,
        flaky: row.get(8)?,
        first: row.get(9)?,
        last: row.get(10)?,
    };
    Ok((row.get(0)?, row.get(1)?, tally))
}

impl Store {
    pub fn history_totals(&self) -> Result<HistoryTotals, StoreError> {
        let query =
            "SELECT (SELECT count(*) FROM history_versions), (SELECT count(*) FROM history_runs),
             (SELECT count(*) FROM history_files), (SELECT count(*) FROM history_tests),
             (SELECT coalesce(sum(executions), 0) FROM history_files)";
        let read = |row: &Row<'_>| {
            let number = |at: usize| row.get::<_, i64>(at).map(i64::unsigned_abs);
            Ok(HistoryTotals {
                versions: number(0)?,
                runs: number(1)?,
                files: number(2)?,
                tests: number(3)?,
                executions: number(4)?,
            })
        };
        let totals = self.connection.query_row(query, [], read);
        totals.map_err(|e| self.failed("read", e))
    }

    /// In the order in which they came in.
    pub fn history_versions(&self) -> Result<Vec<Version>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Version>> {
            let mut statement = self
                .connection
                .prepare("SELECT id, name, created FROM history_versions ORDER BY id")?;
            let rows = statement.query_map([], |row| {
                Ok(Version {
                    id: row.get(0)?,
                    name: row.get(1)?,
                    created: row.get(2)?,
                })
            })?;
            rows.collect()
        };
        read().map_err(|e| self.failed("read", e))
    }

    /// Every (version, test, tally), versions in their order.
    pub fn history_tallies(&self, mut each: impl FnMut(i64, i64, Tally)) -> Result<(), StoreError> {
        let mut read = || -> rusqlite::Result<()> {
            let query = format!("SELECT {COLUMNS} FROM history_tallies ORDER BY version, test");
            let mut statement = self.connection.prepare(&query)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let (version, test, tally) = tally(row)?;
                each(version, test, tally);
            }
            Ok(())
        };
        read().map_err(|e| self.failed("read", e))
    }

    /// The tallies of one test, by version.
    pub fn history_of(&self, test: i64) -> Result<BTreeMap<i64, Tally>, StoreError> {
        let read = || -> rusqlite::Result<BTreeMap<i64, Tally>> {
            // One look-up for each version: the table is ordered by version first.
            let mut statement = self.connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM history_versions v CROSS JOIN history_tallies t
                 WHERE t.version = v.id AND t.test = ?"
            ))?;
            let rows = statement.query_map([test], |row| {
                let (version, _, tally) = tally(row)?;
                Ok((version, tally))
            })?;
            rows.collect()
        };
        read().map_err(|e| self.failed("read", e))
    }

    pub fn history_test_name(&self, test: i64) -> Result<String, StoreError> {
        self.connection
            .prepare_cached("SELECT name FROM history_tests WHERE id = ?")
            .and_then(|mut statement| statement.query_row([test], |row| row.get(0)))
            .map_err(|e| self.failed("read", e))
    }

    /// Number and name of every test.
    pub fn history_tests(&self, mut each: impl FnMut(i64, &str)) -> Result<(), StoreError> {
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self
                .connection
                .prepare("SELECT id, name FROM history_tests")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let name = row.get_ref(1)?.as_str().unwrap_or_default();
                each(row.get(0)?, name);
            }
            Ok(())
        };
        read().map_err(|e| self.failed("read", e))
    }

    /// The rows of some tests, report by report in their order; reports without any of them are left out.
    pub fn history_rows(&self, tests: &[i64]) -> Result<BTreeMap<i64, Vec<RunRows>>, StoreError> {
        let mut found: BTreeMap<i64, Vec<RunRows>> = BTreeMap::new();
        let mut sane = true;
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare(
                "SELECT r.version, r.name, p.content FROM history_files f
                 JOIN history_runs r ON r.id = f.run JOIN history_rows p ON p.file = f.id
                 ORDER BY r.version, f.id, p.part",
            )?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let (version, content) = (row.get(0)?, row.get_ref(2)?);
                let mut here: BTreeMap<i64, Vec<Reported>> = BTreeMap::new();
                let unpacked = unpack(content.as_blob().unwrap_or_default(), |test, outcome| {
                    if tests.contains(&test) {
                        here.entry(test).or_default().push(outcome);
                    }
                });
                sane &= unpacked.is_some();
                for (test, outcomes) in here {
                    found.entry(test).or_default().push(RunRows {
                        version,
                        run: row.get(1)?,
                        outcomes,
                    });
                }
            }
            Ok(())
        };
        read().map_err(|e| self.failed("read", e))?;
        if !sane {
            let why = StoreErrorKind::Corrupt("rows of the history cannot be unpacked".into());
            return Err(self.failed("read", why));
        }
        Ok(found)
    }
}
