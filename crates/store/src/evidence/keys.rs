//! Names as numbers: what has a name is found by it, or made.

use rusqlite::{Connection, OptionalExtension, ToSql};

pub(super) fn number(
    connection: &Connection,
    find: &str,
    insert: &str,
    wanted: &[&dyn ToSql],
    new: &[&dyn ToSql],
) -> rusqlite::Result<i64> {
    let found = connection
        .prepare_cached(find)?
        .query_row(wanted, |row| row.get(0))
        .optional()?;
    if let Some(id) = found {
        return Ok(id);
    }
    connection.prepare_cached(insert)?.execute(new)?;
    Ok(connection.last_insert_rowid())
}
