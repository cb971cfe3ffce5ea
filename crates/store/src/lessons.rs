//! What `filter` has learned, version by version.

use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};

use crate::campaign::now;
use crate::{CampaignId, Store, StoreError};

/// What one version teaches; texts are JSON of `filter`'s own.
#[derive(Debug, Default)]
pub struct Lesson {
    pub version: String,
    /// (its number if it was known, identity, what it saw).
    pub assertions: Vec<(Option<i64>, String, String)>,
    /// (test, lesson).
    pub tests: Vec<(String, String)>,
    /// Assertions that are called something else now because their file was renamed: (number, identity).
    pub moved_assertions: Vec<(i64, String)>,
    /// (former id, present id).
    pub moved_tests: Vec<(String, String)>,
}

/// Everything that was learned.
#[derive(Debug, Default)]
pub struct Lessons {
    /// Names, the oldest first.
    pub versions: Vec<(i64, String)>,
    /// (number, identity).
    pub assertions: Vec<(i64, String)>,
    /// (assertion, version, what it saw).
    pub seen: Vec<(i64, i64, String)>,
    /// (test, version, lesson).
    pub tests: Vec<(String, i64, String)>,
}

/// What a person said of a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    pub test: String,
    pub assertion: String,
    pub label: String,
    pub version: String,
}

impl Store {
    /// All of it or nothing, and with it the campaign that taught it ends: nothing is taught twice. A version that was
    /// learned before keeps its place.
    pub fn learn(
        &self,
        campaign: CampaignId,
        document: &str,
        lesson: &Lesson,
    ) -> Result<(), StoreError> {
        let write = || -> rusqlite::Result<()> {
            // From the start: a reader that becomes a writer is not made to wait for another one, but refused.
            let transaction =
                Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            let known: Option<i64> = transaction
                .query_row(
                    "SELECT id FROM filter_versions WHERE name = ?",
                    [&lesson.version],
                    |row| row.get(0),
                )
                .optional()?;
            let version = match known {
                Some(version) => version,
                None => {
                    transaction.execute(
                        "INSERT INTO filter_versions (name, created) VALUES (?, ?)",
                        params![lesson.version, now()],
                    )?;
                    transaction.last_insert_rowid()
                }
            };
            // Two passes, because an identity may be another assertion's former one.
            let known = lesson
                .assertions
                .iter()
                .filter_map(|(number, _, _)| *number);
            let moved = lesson.moved_assertions.iter().map(|(number, _)| *number);
            for number in known.chain(moved) {
                transaction
                    .prepare_cached("UPDATE filter_assertions SET identity = id WHERE id = ?")?
                    .execute([number])?;
            }
            for (number, identity) in &lesson.moved_assertions {
                transaction
                    .prepare_cached("UPDATE filter_assertions SET identity = ? WHERE id = ?")?
                    .execute(params![identity, number])?;
            }
            for (former, present) in &lesson.moved_tests {
                for table in ["filter_tests", "filter_labels"] {
                    transaction.execute(
                        &format!("UPDATE OR REPLACE {table} SET test = ? WHERE test = ?"),
                        params![present, former],
                    )?;
                }
            }
            for (number, identity, seen) in &lesson.assertions {
                let number = match number {
                    Some(number) => {
                        transaction
                            .prepare_cached(
                                "UPDATE filter_assertions SET identity = ? WHERE id = ?",
                            )?
                            .execute(params![identity, number])?;
                        *number
                    }
                    None => {
                        transaction
                            .prepare_cached("INSERT INTO filter_assertions (identity) VALUES (?)")?
                            .execute([identity])?;
                        transaction.last_insert_rowid()
                    }
                };
                transaction
                    .prepare_cached(
                        "INSERT OR REPLACE INTO filter_seen (assertion, version, seen) VALUES (?, ?, ?)",
                    )?
                    .execute(params![number, version, seen])?;
            }
            for (test, lesson) in &lesson.tests {
                transaction
                    .prepare_cached(
                        "INSERT OR REPLACE INTO filter_tests (test, version, lesson) VALUES (?, ?, ?)",
                    )?
                    .execute(params![test, version, lesson])?;
            }
            self.end(campaign, document)?;
            transaction.commit()
        };
        write().map_err(|e| self.failed("write to", e))
    }

    pub fn lessons(&self) -> Result<Lessons, StoreError> {
        let read = || -> rusqlite::Result<Lessons> {
            let two = |query: &str| -> rusqlite::Result<Vec<(i64, String)>> {
                let mut statement = self.connection.prepare(query)?;
                let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
                rows.collect()
            };
            let mut seen = self
                .connection
                .prepare("SELECT assertion, version, seen FROM filter_seen")?;
            let mut tests = self
                .connection
                .prepare("SELECT test, version, lesson FROM filter_tests")?;
            Ok(Lessons {
                versions: two("SELECT id, name FROM filter_versions ORDER BY id")?,
                assertions: two("SELECT id, identity FROM filter_assertions ORDER BY id")?,
                seen: seen
                    .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
                    .collect::<rusqlite::Result<_>>()?,
                tests: tests
                    .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
                    .collect::<rusqlite::Result<_>>()?,
            })
        };
        read().map_err(|e| self.failed("read", e))
    }

    /// A later label of the same failure takes the place of an earlier one.
    pub fn label(&self, label: &Label) -> Result<(), StoreError> {
        self.connection
            .execute(
                "INSERT OR REPLACE INTO filter_labels (test, assertion, label, version, created)
                 VALUES (?, ?, ?, ?, ?)",
                params![
                    label.test,
                    label.assertion,
                    label.label,
                    label.version,
                    now()
                ],
            )
            .map_err(|e| self.failed("write to", e))?;
        Ok(())
    }

    pub fn labels(&self) -> Result<Vec<Label>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Label>> {
            let mut statement = self.connection.prepare(
                "SELECT test, assertion, label, version FROM filter_labels ORDER BY 1, 2",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(Label {
                    test: row.get(0)?,
                    assertion: row.get(1)?,
                    label: row.get(2)?,
                    version: row.get(3)?,
                })
            })?;
            rows.collect()
        };
        read().map_err(|e| self.failed("read", e))
    }
}

#[cfg(test)]
mod tests {
    use flakelab_model::Suite;

    use super::*;
    use crate::{Location, NewCampaign};

    #[test]
    fn lessons_add_up_and_identities_move_with_their_assertions() {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Store::open(Location::given(dir.path())).expect("store");
        let begun = || {
            let suite = Suite::new(Vec::new());
            let campaign = NewCampaign {
                verb: "filter learn",
                seed: 1,
                configuration: "{}",
                environment: "{}",
                suite: &suite,
            };
            store.begin(&campaign).expect("begun")
        };
        let ended = || {
            store
                .last("filter learn")
                .expect("read")
                .expect("one")
                .finished
        };
        let teach = |version: &str, assertions: &[(Option<i64>, &str)]| {
            let assertions = assertions
                .iter()
                .map(|(number, identity)| (*number, (*identity).to_owned(), "{}".to_owned()));
            let lesson = Lesson {
                version: version.into(),
                assertions: assertions.collect(),
                tests: vec![("t".into(), version.into())],
                ..Lesson::default()
            };
            let campaign = begun();
            assert!(!ended());
            store.learn(campaign, "{}", &lesson).expect("learned");
            assert!(ended());
        };
        teach("v1", &[(None, "a"), (None, "b")]);
        // The two have changed their names with each other.
        teach("v2", &[(Some(1), "b"), (Some(2), "a"), (None, "c")]);
        teach("v1", &[(Some(1), "b")]);
        let lessons = store.lessons().expect("read");
        let names: Vec<&str> = lessons
            .versions
            .iter()
            .map(|(_, name)| name.as_str())
            .collect();
        assert_eq!(names, ["v1", "v2"]);
        let identities: Vec<&str> = lessons.assertions.iter().map(|(_, i)| i.as_str()).collect();
        assert_eq!(identities, ["b", "a", "c"]);
        assert_eq!((lessons.seen.len(), lessons.tests.len()), (5, 2));

        let lesson = Lesson {
            version: "v3".into(),
            moved_assertions: vec![(3, "moved".into())],
            moved_tests: vec![("t".into(), "u".into())],
            ..Lesson::default()
        };
        store.learn(begun(), "{}", &lesson).expect("learned");
        let lessons = store.lessons().expect("read");
        assert_eq!(lessons.assertions[2], (3, "moved".into()));
        assert!(lessons.tests.iter().all(|(test, _, _)| test == "u"));
    }

    #[test]
    fn the_last_label_counts() {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Store::open(Location::given(dir.path())).expect("store");
        let mut label = Label {
            test: "t".into(),
            assertion: "assert x".into(),
            label: "bug".into(),
            version: "v1".into(),
        };
        store.label(&label).expect("kept");
        label.label = "update".into();
        store.label(&label).expect("kept");
        assert_eq!(store.labels().expect("read"), [label]);
    }
}
