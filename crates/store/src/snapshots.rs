//! Texts and snapshots of a campaign, by number.

use rusqlite::params;

use crate::{CampaignId, Store, StoreError};

/// What a run adds.
#[derive(Debug)]
pub struct Addition<'a> {
    pub key: &'a str,
    pub value: &'a str,
    /// The number of the first text, and all new ones.
    pub texts: (usize, Vec<&'a str>),
    pub snapshots: (usize, Vec<Vec<u8>>),
}

impl Store {
    /// Keeps a result together with the texts and snapshots it speaks of: all of it or nothing.
    pub fn keep_with_snapshots(
        &self,
        campaign: CampaignId,
        addition: &Addition<'_>,
    ) -> Result<(), StoreError> {
        let write = || -> rusqlite::Result<()> {
            let transaction = self.connection.unchecked_transaction()?;
            {
                let mut text = transaction.prepare_cached(
                    "INSERT OR REPLACE INTO texts (campaign, number, text) VALUES (?, ?, ?)",
                )?;
                for (at, body) in addition.texts.1.iter().enumerate() {
                    text.execute(params![campaign.0, (addition.texts.0 + at) as i64, body])?;
                }
                let mut snapshot = transaction.prepare_cached(
                    "INSERT OR REPLACE INTO snapshots (campaign, number, content) VALUES (?, ?, ?)",
                )?;
                for (at, content) in addition.snapshots.1.iter().enumerate() {
                    snapshot.execute(params![
                        campaign.0,
                        (addition.snapshots.0 + at) as i64,
                        content
                    ])?;
                }
            }
            transaction
                .prepare_cached(
                    "INSERT INTO results (campaign, key, value) VALUES (?, ?, ?)
                     ON CONFLICT DO UPDATE SET value = excluded.value",
                )?
                .execute(params![campaign.0, addition.key, addition.value])?;
            transaction.commit()
        };
        write().map_err(|e| self.failed("write to", e))
    }

    /// In the order of their numbers.
    pub fn texts(&self, campaign: CampaignId) -> Result<Vec<String>, StoreError> {
        let query = "SELECT text FROM texts WHERE campaign = ? ORDER BY number";
        self.column(campaign, query)
    }

    /// In the order of their numbers.
    pub fn snapshots(&self, campaign: CampaignId) -> Result<Vec<Vec<u8>>, StoreError> {
        let query = "SELECT content FROM snapshots WHERE campaign = ? ORDER BY number";
        self.column(campaign, query)
    }

    fn column<T: rusqlite::types::FromSql>(
        &self,
        campaign: CampaignId,
        query: &str,
    ) -> Result<Vec<T>, StoreError> {
        let read = || -> rusqlite::Result<Vec<T>> {
            let mut statement = self.connection.prepare(query)?;
            let rows = statement.query_map([campaign.0], |row| row.get(0))?;
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
    fn snapshots_come_back_in_order_with_the_result_that_speaks_of_them() {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Store::open(Location::given(dir.path())).expect("store");
        let campaign = NewCampaign {
            verb: "measure",
            seed: 1,
            configuration: "{}",
            environment: "{}",
            suite: &Suite::default(),
        };
        let campaign = store.begin(&campaign).expect("campaign");
        for (key, first, texts) in [("a", 0, vec!["x", "y"]), ("b", 2, vec!["z"])] {
            let addition = Addition {
                key,
                value: "{}",
                snapshots: (first, texts.iter().map(|t| t.as_bytes().to_vec()).collect()),
                texts: (first, texts),
            };
            store
                .keep_with_snapshots(campaign, &addition)
                .expect("kept");
        }
        assert_eq!(store.texts(campaign).expect("texts"), ["x", "y", "z"]);
        assert_eq!(store.snapshots(campaign).expect("snapshots")[2], b"z");
        assert_eq!(store.kept(campaign).expect("results").len(), 2);
    }
}
