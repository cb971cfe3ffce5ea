//! The database file and its migrations.

use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use crate::{Location, StoreError, StoreErrorKind};

/// One script for each schema version; a database is brought up step by step, in one transaction.
const MIGRATIONS: [&str; 6] = [
    include_str!("migrations/1.sql"),
    include_str!("migrations/2.sql"),
    include_str!("migrations/3.sql"),
    include_str!("migrations/4.sql"),
    include_str!("migrations/5.sql"),
    include_str!("migrations/6.sql"),
];

#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    location: Location,
}

impl Store {
    pub fn open(location: Location) -> Result<Self, StoreError> {
        let path = location.file().to_owned();
        let failed = |kind: StoreErrorKind| StoreError {
            path: path.clone(),
            action: "open",
            kind,
        };
        location.prepare().map_err(|e| failed(e.into()))?;
        let mut connection = Connection::open(location.file()).map_err(|e| failed(e.into()))?;
        prepare(&mut connection).map_err(failed)?;
        Ok(Self {
            connection,
            location,
        })
    }

    pub fn location(&self) -> &Location {
        &self.location
    }

    pub(crate) fn failed(
        &self,
        action: &'static str,
        kind: impl Into<StoreErrorKind>,
    ) -> StoreError {
        StoreError {
            path: self.location.file().to_owned(),
            action,
            kind: kind.into(),
        }
    }
}

fn prepare(connection: &mut Connection) -> Result<(), StoreErrorKind> {
    connection.busy_timeout(Duration::from_secs(10))?;
    // Before anything is written to it.
    if is_foreign(connection)? {
        return Err(StoreErrorKind::Foreign);
    }
    // One sync a checkpoint instead of one a run; a crash of flakelab loses nothing either way.
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    let known = MIGRATIONS.len() as i64;
    let found = version(connection)?;
    if found > known {
        return Err(StoreErrorKind::Newer { found, known });
    }
    if found == known {
        return Ok(());
    }
    // Another flakelab may be at it: whoever gets the lock first does it, and the other one finds it done.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for (at, script) in MIGRATIONS
        .iter()
        .enumerate()
        .skip(version(&transaction)?.max(0) as usize)
    {
        transaction.execute_batch(script)?;
        transaction.pragma_update(None, "user_version", at as i64 + 1)?;
    }
    transaction.commit()?;
    Ok(())
}

fn is_foreign(connection: &Connection) -> Result<bool, StoreErrorKind> {
    let ours = "SELECT count(*) > 0 AND sum(name = 'campaigns') = 0 FROM sqlite_master WHERE type = 'table'";
    let foreign: Option<bool> = connection.query_row(ours, [], |row| row.get(0))?;
    Ok(foreign.unwrap_or(false))
}

fn version(connection: &Connection) -> Result<i64, StoreErrorKind> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_of_another_program_is_left_as_it_is() {
        let dir = tempfile::tempdir().expect("tempdir");
        let file = dir.path().join("theirs.db");
        let theirs = Connection::open(&file).expect("new");
        theirs
            .execute_batch("CREATE TABLE runs (id INTEGER); PRAGMA user_version = 3;")
            .expect("written");
        drop(theirs);
        let before = std::fs::read(&file).expect("read");
        let error = Store::open(Location::given(&file)).expect_err("foreign");
        assert!(matches!(error.kind, StoreErrorKind::Foreign), "{error:?}");
        assert_eq!(std::fs::read(&file).expect("read"), before);
    }

    #[test]
    fn a_store_of_a_newer_flakelab_is_refused() {
        let dir = tempfile::tempdir().expect("tempdir");
        let location = Location::given(dir.path());
        let store = Store::open(location.clone()).expect("new store");
        store
            .connection
            .pragma_update(None, "user_version", 99)
            .expect("pragma");
        drop(store);
        let error = Store::open(location).expect_err("newer");
        assert!(matches!(
            error.kind,
            StoreErrorKind::Newer {
                found: 99,
                known: 6
            }
        ));
    }

    #[test]
    fn a_file_that_is_no_database_is_refused() {
        let dir = tempfile::tempdir().expect("tempdir");
        let file = dir.path().join("notes.txt");
        std::fs::write(
            &file,
            "not a database, but long enough to have a header of its own ".repeat(20),
        )
        .expect("write");
        let error = Store::open(Location::given(&file)).expect_err("no database");
        assert!(matches!(error.kind, StoreErrorKind::Sqlite(_)));
    }

    #[test]
    fn the_directory_ignores_itself() {
        let dir = tempfile::tempdir().expect("tempdir");
        Store::open(Location::in_project(dir.path())).expect("store");
        let ignore =
            std::fs::read_to_string(dir.path().join(".flakelab/.gitignore")).expect("ignore");
        assert!(ignore.lines().any(|line| line == "*"));
    }
}
