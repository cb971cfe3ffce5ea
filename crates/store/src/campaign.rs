//! One command's campaign: what was asked, in which environment, and what came of it.

use std::io::{self, Read};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flakelab_model::{Suite, TestId};
use rusqlite::blob::ZeroBlob;
use rusqlite::{MAIN_DB, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::forget;
use crate::{Store, StoreError, StoreErrorKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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

/// Runs and executions of a campaign, and the CPU time they took.
#[derive(Debug, Clone, Copy)]
pub struct Totals {
    pub runs: u64,
    pub executions: u64,
    pub cpu: Duration,
}

#[derive(Debug)]
pub struct Campaign {
    pub id: CampaignId,
    pub seed: u64,
    pub configuration: String,
    pub environment: String,
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
                "SELECT id, seed, configuration, finished, environment FROM campaigns
                 WHERE verb = ? ORDER BY id DESC LIMIT 1",
                [verb],
                |row| {
                    Ok(Campaign {
                        id: CampaignId(row.get(0)?),
                        seed: row.get::<_, i64>(1)?.cast_unsigned(),
                        configuration: row.get(2)?,
                        finished: row.get::<_, Option<i64>>(3)?.is_some(),
                        environment: row.get(4)?,
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

    /// What the runs of a campaign came to, over all sessions it took.
    pub fn totals(&self, campaign: CampaignId) -> Result<Totals, StoreError> {
        let read = || -> rusqlite::Result<Totals> {
            let (runs, cpu): (i64, i64) = self.connection.query_row(
                "SELECT count(*), coalesce(sum(cpu_us), 0) FROM runs WHERE campaign = ?",
                [campaign.0],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            let executions: i64 = self.connection.query_row(
                "SELECT count(*) FROM executions e JOIN runs r ON r.id = e.run
                 WHERE r.campaign = ? AND e.outcome <> 'not_run'",
                [campaign.0],
                |row| row.get(0),
            )?;
            Ok(Totals {
                runs: runs.unsigned_abs(),
                executions: executions.unsigned_abs(),
                cpu: Duration::from_micros(cpu.unsigned_abs()),
            })
        };
        read().map_err(|e| self.failed("read", e))
    }

    pub fn finish(&self, campaign: CampaignId, document: &str) -> Result<(), StoreError> {
        let write = || -> rusqlite::Result<()> {
            let transaction =
                Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            self.end(campaign, document)?;
            transaction.commit()
        };
        write().map_err(|e| self.failed("write to", e))
    }

    /// The same, within whatever transaction is open.
    pub(crate) fn end(&self, campaign: CampaignId, document: &str) -> rusqlite::Result<()> {
        self.connection.execute(
            "UPDATE campaigns SET finished = ?, document = ? WHERE id = ?",
            params![now(), document, campaign.0],
        )?;
        forget::runs_before(&self.connection, campaign)
    }

    /// A document of so many bytes, which need not be in memory at once.
    pub fn finish_from(
        &self,
        campaign: CampaignId,
        mut document: impl Read,
        bytes: usize,
    ) -> Result<(), StoreError> {
        let mut write = || -> Result<(), StoreErrorKind> {
            let transaction =
                Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            transaction.execute(
                "UPDATE campaigns SET finished = ?, document = ? WHERE id = ?",
                params![now(), ZeroBlob(bytes as u64), campaign.0],
            )?;
            let mut blob =
                transaction.blob_open(MAIN_DB, "campaigns", "document", campaign.0, false)?;
            io::copy(&mut document, &mut blob)?;
            blob.close()?;
            forget::runs_before(&transaction, campaign)?;
            transaction.commit()?;
            Ok(())
        };
        write().map_err(|e| self.failed("write to", e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Location;

    #[test]
    fn a_document_that_came_in_pieces_is_read_like_any_other() {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Store::open(Location::given(dir.path())).expect("store");
        let begin = || {
            let campaign = NewCampaign {
                verb: "mutate",
                seed: 1,
                configuration: "{}",
                environment: "{}",
                suite: &Suite::default(),
            };
            store.begin(&campaign).expect("campaign")
        };
        // Longer than what is copied at once, and of characters that the pieces cut through.
        let long = "ü€".repeat(30_000);
        store
            .finish_from(begin(), long.as_bytes(), long.len())
            .expect("kept");
        store.finish(begin(), "short").expect("kept");
        let documents: Vec<String> = store
            .finished("mutate", 9)
            .expect("read")
            .into_iter()
            .map(|finished| finished.document)
            .collect();
        assert_eq!(documents, ["short", &long]);
        // Nothing is kept of one that is longer than was said.
        let unfinished = begin();
        store
            .finish_from(unfinished, long.as_bytes(), 10)
            .expect_err("too long");
        assert_eq!(store.finished("mutate", 9).expect("read").len(), 2);
    }
}
