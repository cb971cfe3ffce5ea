//! Results that a campaign has finished, one by one.

use rusqlite::{OptionalExtension, params};

use crate::{CampaignId, Store, StoreError};

impl Store {
    /// Keeps one result; a second one of the same key takes its place.
    pub fn keep(&self, campaign: CampaignId, key: &str, value: &str) -> Result<(), StoreError> {
        self.keep_all(campaign, &[(key, value)])
    }

    /// Keeps them all or, should something come in between, none.
    pub fn keep_all<V: rusqlite::ToSql>(
        &self,
        campaign: CampaignId,
        results: &[(&str, V)],
    ) -> Result<(), StoreError> {
        let write = || -> rusqlite::Result<()> {
            let transaction = self.connection.unchecked_transaction()?;
            for (key, value) in results {
                transaction
                    .prepare_cached(
                        "INSERT INTO results (campaign, key, value) VALUES (?, ?, ?)
                         ON CONFLICT DO UPDATE SET value = excluded.value",
                    )?
                    .execute(params![campaign.0, key, value])?;
            }
            transaction.commit()
        };
        write().map_err(|e| self.failed("write to", e))
    }

    /// (key, value) of everything kept, by key.
    pub fn kept(&self, campaign: CampaignId) -> Result<Vec<(String, String)>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(String, String)>> {
            let mut statement = self
                .connection
                .prepare("SELECT key, value FROM results WHERE campaign = ? ORDER BY key")?;
            let rows = statement.query_map([campaign.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        };
        read().map_err(|e| self.failed("read", e))
    }

    /// What a campaign has kept under a key.
    pub fn result(&self, campaign: CampaignId, key: &str) -> Result<Option<String>, StoreError> {
        self.connection
            .prepare_cached("SELECT value FROM results WHERE campaign = ? AND key = ?")
            .and_then(|mut statement| {
                let found = statement.query_row(params![campaign.0, key], |row| row.get(0));
                found.optional()
            })
            .map_err(|e| self.failed("read", e))
    }

    /// The newest value that campaigns of a verb have kept under a key.
    pub fn result_before(&self, verb: &str, key: &str) -> Result<Option<String>, StoreError> {
        self.connection
            .prepare_cached(
                "SELECT value FROM campaigns CROSS JOIN results
                 ON results.campaign = campaigns.id AND results.key = ?
                 WHERE verb = ? ORDER BY campaigns.id DESC LIMIT 1",
            )
            .and_then(|mut statement| {
                let found = statement.query_row(params![key, verb], |row| row.get(0));
                found.optional()
            })
            .map_err(|e| self.failed("read", e))
    }
}

#[cfg(test)]
mod tests {
    use flakelab_model::Suite;

    use super::*;
    use crate::{Location, NewCampaign};

    #[test]
    fn results_stay_by_campaign_and_key() {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Store::open(Location::given(dir.path())).expect("store");
        let begin = || {
            let campaign = NewCampaign {
                verb: "fix",
                seed: 1,
                configuration: "{}",
                environment: "{}",
                suite: &Suite::default(),
            };
            store.begin(&campaign).expect("campaign")
        };
        let (a, b) = (begin(), begin());
        for (campaign, key, value) in [(a, "y", "1"), (a, "x", "2"), (b, "y", "3"), (a, "y", "4")] {
            store.keep(campaign, key, value).expect("kept");
        }
        let kept = store.kept(a).expect("read");
        assert_eq!(kept, [("x".into(), "2".into()), ("y".into(), "4".into())]);
        let of = |campaign, key| store.result(campaign, key).expect("read");
        assert_eq!((of(a, "y"), of(b, "x")), (Some("4".into()), None));
        let before = |verb, key| store.result_before(verb, key).expect("read");
        assert_eq!(before("fix", "y"), Some("3".into()), "the newest");
        assert_eq!(before("fix", "x"), Some("2".into()));
        assert_eq!((before("inject", "x"), before("fix", "z")), (None, None));
    }
}
