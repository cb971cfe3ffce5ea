//! One command's campaign: what was asked, in which environment, and what came of it.

use std::time::{SystemTime, UNIX_EPOCH};

use flakelab_model::{Suite, TestId};
use rusqlite::{OptionalExtension, params};

use crate::{Store, StoreError, StoreErrorKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CampaignId(pub i64);

/// What is written down before the first run.
#[derive(Debug)]
pub struct NewCampaign<'a> {
    pub verb: &'a str,
    pub seed: u64,
    /// JSON.
    pub configuration: &'a str,
    /// JSON.
    pub environment: &'a str,
    pub suite: &'a Suite,
}

#[derive(Debug)]
pub struct Campaign {
    pub id: CampaignId,
    pub seed: u64,
    pub configuration: String,
    pub finished: bool,
}

pub(crate) fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| {
            i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
        })
}

fn suite_text(suite: &Suite) -> String {
    let ids: Vec<&str> = suite.ids().iter().map(TestId::as_str).collect();
    serde_json::to_string(&ids).unwrap_or_default()
}

impl Store {
    pub fn begin(&self, campaign: &NewCampaign<'_>) -> Result<CampaignId, StoreError> {
        self.connection
            .execute(
                "INSERT INTO campaigns (verb, created, seed, configuration, environment, suite)
                 VALUES (?, ?, ?, ?, ?, ?)",
                params![
                    campaign.verb,
                    now(),
                    campaign.seed.cast_signed(),
                    campaign.configuration,
                    campaign.environment,
                    suite_text(campaign.suite),
                ],
            )
            .map_err(|e| self.failed("write to", e))?;
        Ok(CampaignId(self.connection.last_insert_rowid()))
    }

    /// The newest campaign of a verb.
    pub fn last(&self, verb: &str) -> Result<Option<Campaign>, StoreError> {
        self.connection
            .query_row(
                "SELECT id, seed, configuration, finished FROM campaigns
                 WHERE verb = ? ORDER BY id DESC LIMIT 1",
                [verb],
                |row| {
                    Ok(Campaign {
                        id: CampaignId(row.get(0)?),
                        seed: row.get::<_, i64>(1)?.cast_unsigned(),
                        configuration: row.get(2)?,
                        finished: row.get::<_, Option<i64>>(3)?.is_some(),
                    })
                },
            )
            .optional()
            .map_err(|e| self.failed("read", e))
    }

    /// Refuses to go on with a campaign whose tests are not the ones collected now.
    pub fn check_suite(&self, campaign: CampaignId, suite: &Suite) -> Result<(), StoreError> {
        let stored: String = self
            .connection
            .query_row(
                "SELECT suite FROM campaigns WHERE id = ?",
                [campaign.0],
                |row| row.get(0),
            )
            .map_err(|e| self.failed("read", e))?;
        if stored == suite_text(suite) {
            Ok(())
        } else {
            Err(self.failed("resume from", StoreErrorKind::SuiteChanged))
        }
    }

    pub fn finish(&self, campaign: CampaignId, document: &str) -> Result<(), StoreError> {
        self.connection
            .execute(
                "UPDATE campaigns SET finished = ?, document = ? WHERE id = ?",
                params![now(), document, campaign.0],
            )
            .map_err(|e| self.failed("write to", e))?;
        Ok(())
    }
}
