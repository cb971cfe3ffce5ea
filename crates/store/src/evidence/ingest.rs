//! Reports come in: names become numbers, rows are packed, tallies kept until a batch is written.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use flakelab_model::{Reported, Sequel, Tally};
use rusqlite::params;

use super::keys::number;
use super::pack::Packer;
use super::report::{Begun, File, FileTotals, NOWHERE, Slot};
use super::tallies;
use crate::campaign::now;
use crate::{Store, StoreError};

/// Rows and time of one transaction: what a kill can cost, and what upserts of tallies are spread over.
const BATCH_ROWS: u64 = 500_000;
const BATCH_TIME: Duration = Duration::from_secs(2);
/// Rows held in memory until they are packed: 4 MB. A retry further away than this is not linked.
const HELD: usize = 1 << 20;
/// Bytes of names, with what a table entry costs, that are kept in memory.
const NAMES: usize = 64 << 20;
const NAME_OVERHEAD: usize = 96;

/// Writes reports of one version. Dropped without [`Ingest::commit`], the last batch is not written.
#[derive(Debug)]
pub struct Ingest<'s> {
    store: &'s Store,
    version: String,
    names: HashMap<Box<str>, u32>,
    name_bytes: usize,
    most_name_bytes: usize,
    slots: Vec<Slot>,
    /// Slot and outcome of each row.
    held: Vec<u32>,
    packer: Packer,
    file: Option<File>,
    /// Tallies of the reports of this batch, by test.
    pending: HashMap<i64, Tally>,
    pending_version: i64,
    batch: Option<(Instant, u64)>,
}

impl Store {
    pub fn ingest(&self, version: &str) -> Ingest<'_> {
        Ingest {
            store: self,
            version: version.to_owned(),
            names: HashMap::new(),
            name_bytes: 0,
            most_name_bytes: NAMES,
            slots: Vec::new(),
            held: Vec::new(),
            packer: Packer::default(),
            file: None,
            pending: HashMap::new(),
            pending_version: 0,
            batch: None,
        }
    }
}

impl Ingest<'_> {
    /// A report begins; if it is new, [`Ingest::end_file`] or [`Ingest::abandon_file`] must follow.
    pub fn begin_file(&mut self, run: &str, digest: &[u8]) -> Result<Begun, StoreError> {
        self.try_begin(run, digest).map_err(|e| self.wrong(e))
    }

    fn try_begin(&mut self, run: &str, digest: &[u8]) -> rusqlite::Result<Begun> {
        // Of files that are in already or broken there may be many: others are to write in between.
        self.commit_if_late()?;
        let connection = &self.store.connection;
        let is_known = || -> rusqlite::Result<bool> {
            connection
                .prepare_cached(
                    "SELECT f.id FROM history_files f JOIN history_runs r ON r.id = f.run
                     JOIN history_versions v ON v.id = r.version
                     WHERE v.name = ? AND r.name = ? AND f.digest = ?",
                )?
                .exists(params![self.version, run, digest])
        };
        if is_known()? {
            return Ok(Begun::Known);
        }
        if self.batch.is_none() {
            connection.execute_batch("BEGIN IMMEDIATE")?;
            self.batch = Some((Instant::now(), 0));
            // Another flakelab may have taken it in while this one waited.
            if is_known()? {
                return Ok(Begun::Known);
            }
        }
        connection.execute_batch("SAVEPOINT report")?;
        let version = number(
            connection,
            "SELECT id FROM history_versions WHERE name = ?1",
            "INSERT INTO history_versions (name, created) VALUES (?1, ?2)",
            params![self.version],
            params![self.version, now()],
        )?;
        let run = number(
            connection,
            "SELECT id FROM history_runs WHERE version = ?1 AND name = ?2",
            "INSERT INTO history_runs (version, name) VALUES (?1, ?2)",
            params![version, run],
            params![version, run],
        )?;
        connection
            .prepare_cached(
                "INSERT INTO history_files (run, digest, executions, ingested) VALUES (?, ?, 0, ?)",
            )?
            .execute(params![run, digest, now()])?;
        self.file = Some(File {
            id: connection.last_insert_rowid(),
            version,
            parts: 0,
            totals: FileTotals::default(),
            touched: Vec::new(),
            spilled: false,
        });
        Ok(Begun::New)
    }

    /// One row of the report. Rows with the same `suite` belong to one suite of it.
    pub fn execution(
        &mut self,
        name: &str,
        outcome: Reported,
        suite: u32,
        sequel: Sequel,
    ) -> Result<(), StoreError> {
        let number = match self.names.get(name) {
            Some(number) => *number,
            None => self.intern(name).map_err(|e| self.wrong(e))?,
        };
        let slot = &mut self.slots[number as usize];
        if slot.suite == suite && slot.last != NOWHERE {
            let held = &mut self.held[slot.last as usize];
            match sequel.after(Reported::from_code(*held as u8)) {
                Some(earlier) => *held = packed(number, earlier),
                None => return Ok(()),
            }
        }
        slot.last = self.held.len() as u32;
        slot.suite = suite;
        self.held.push(packed(number, outcome));
        if self.held.len() >= HELD {
            self.flush().map_err(|e| self.wrong(e))?;
        }
        Ok(())
    }

    fn intern(&mut self, name: &str) -> rusqlite::Result<u32> {
        if self.name_bytes > self.most_name_bytes {
            self.spill()?;
        }
        let test = number(
            &self.store.connection,
            "SELECT id FROM history_tests WHERE name = ?1",
            "INSERT INTO history_tests (name) VALUES (?1)",
            params![name],
            params![name],
        )?;
        let number = self.slots.len() as u32;
        self.slots.push(Slot {
            test,
            last: NOWHERE,
            suite: 0,
            tally: Tally::default(),
        });
        self.names.insert(name.into(), number);
        self.name_bytes += name.len() + NAME_OVERHEAD;
        Ok(number)
    }

    /// Adds up and writes the rows held.
    fn flush(&mut self) -> rusqlite::Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        for row in &self.held {
            let (number, outcome) = (row >> 2, Reported::from_code(*row as u8));
            let slot = &mut self.slots[number as usize];
            if slot.tally == Tally::default() {
                file.touched.push(number);
            }
            slot.tally.add(outcome);
            slot.last = NOWHERE;
            self.packer.push(slot.test, outcome);
        }
        if !self.held.is_empty() {
            self.store
                .connection
                .prepare_cached("INSERT INTO history_rows (file, part, content) VALUES (?, ?, ?)")?
                .execute(params![file.id, file.parts, self.packer.take()])?;
        }
        file.parts += 1;
        file.totals.executions += self.held.len() as u64;
        self.held.clear();
        Ok(())
    }

    /// Forgets all names, in the middle of a report; tallies that depend on them are written.
    fn spill(&mut self) -> rusqlite::Result<()> {
        self.flush()?;
        if let Some(file) = &mut self.file {
            if !file.spilled {
                // Kept as well: should the report turn out broken, all this is undone.
                tallies::write(&self.store.connection, file.version, &self.pending)?;
                file.spilled = true;
            }
            let tallies = file.take(&mut self.slots);
            tallies::write(&self.store.connection, file.version, tallies)?;
        }
        self.forget_names();
        Ok(())
    }

    fn forget_names(&mut self) {
        self.names.clear();
        self.slots.clear();
        self.name_bytes = 0;
    }

    /// The report was read to its end.
    pub fn end_file(&mut self) -> Result<FileTotals, StoreError> {
        self.try_end().map_err(|e| self.wrong(e))
    }

    fn try_end(&mut self) -> rusqlite::Result<FileTotals> {
        self.flush()?;
        let Some(mut file) = self.file.take() else {
            return Ok(FileTotals::default());
        };
        let connection = &self.store.connection;
        let tallies = file.take(&mut self.slots);
        if file.spilled {
            tallies::write(connection, file.version, tallies)?;
            self.pending.clear();
        } else {
            self.pending_version = file.version;
            for (test, tally) in tallies {
                self.pending.entry(test).or_default().append(&tally);
            }
        }
        connection
            .prepare_cached("UPDATE history_files SET executions = ? WHERE id = ?")?
            .execute(params![file.totals.executions.cast_signed(), file.id])?;
        connection.execute_batch("RELEASE report")?;
        if let Some((_, rows)) = &mut self.batch {
            *rows += file.totals.executions;
        }
        self.commit_if_late()?;
        Ok(file.totals)
    }

    fn commit_if_late(&mut self) -> rusqlite::Result<()> {
        match self.batch {
            Some((since, rows)) if rows >= BATCH_ROWS || since.elapsed() >= BATCH_TIME => {
                self.try_commit()
            }
            _ => Ok(()),
        }
    }

    /// The report is broken: nothing of it stays.
    pub fn abandon_file(&mut self) -> Result<(), StoreError> {
        self.held.clear();
        self.file = None;
        // Names that only this report has are undone, too.
        self.forget_names();
        self.store
            .connection
            .execute_batch("ROLLBACK TO report; RELEASE report")
            .map_err(|e| self.wrong(e))?;
        self.commit_if_late().map_err(|e| self.wrong(e))
    }

    /// Writes what is complete.
    pub fn commit(&mut self) -> Result<(), StoreError> {
        self.try_commit().map_err(|e| self.wrong(e))
    }

    fn try_commit(&mut self) -> rusqlite::Result<()> {
        if self.batch.is_some() {
            let connection = &self.store.connection;
            tallies::write(connection, self.pending_version, &self.pending)?;
            connection.execute_batch("COMMIT")?;
            self.pending.clear();
            self.batch = None;
        }
        Ok(())
    }

    fn wrong(&self, error: rusqlite::Error) -> StoreError {
        self.store.failed("write to", error)
    }
}

impl Drop for Ingest<'_> {
    fn drop(&mut self) {
        if self.batch.is_some() {
            // It fails only where the transaction has ended already.
            let _ = self.store.connection.execute_batch("ROLLBACK");
        }
    }
}

fn packed(slot: u32, outcome: Reported) -> u32 {
    (slot << 2) | u32::from(outcome.code())
}

#[cfg(test)]
mod tests;
