//! The store of a project, and reports that go into it.

use std::path::Path;

use super::{Project, Run};

pub(crate) fn ingest(project: &Project, files: &[&str]) -> Run {
    let mut all = vec!["ingest", "--version", "1"];
    all.extend(files);
    let output = project.flakelab(&all).output().expect("flakelab runs");
    Run::of(output, Path::new("/nowhere"))
}

pub(crate) fn connection(project: &Project) -> rusqlite::Connection {
    let store = project.path().join(".flakelab/store.sqlite");
    rusqlite::Connection::open(store).expect("a database")
}

pub(crate) fn texts(project: &Project, query: &str) -> Vec<String> {
    let connection = connection(project);
    let mut statement = connection.prepare(query).expect("a query");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.map(|row| row.expect("text")).collect()
}

/// Rows of the store's results with keys of this kind.
pub(crate) fn results(project: &Project, like: &str) -> i64 {
    let store = project.path().join(".flakelab/store.sqlite");
    let count = || -> Option<i64> {
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let db = rusqlite::Connection::open_with_flags(&store, flags).ok()?;
        let query = "SELECT count(*) FROM results WHERE key LIKE ?";
        db.query_row(query, [format!("{like}%")], |row| row.get(0))
            .ok()
    };
    count().unwrap_or(0)
}
