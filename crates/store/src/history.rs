//! What earlier campaigns found: documents, and the orders that showed a verdict.

use std::collections::HashSet;

use flakelab_model::{Outcome, Polarity};
use rusqlite::OptionalExtension;

use crate::{CampaignId, Store, StoreError, StoreErrorKind};

/// A campaign that came to its end.
#[derive(Debug)]
pub struct Finished {
    pub id: CampaignId,
    pub seed: u64,
    /// JSON: what was asked for.
    pub configuration: String,
    /// Seconds since 1970.
    pub ended: i64,
    /// JSON: the result.
    pub document: String,
    /// Test ids in their original order; orders are made of numbers into it.
    pub suite: Vec<String>,
}

/// A test in an order, as far as it ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// The number of the test in the campaign's suite.
    pub test: u32,
    /// The order up to and including the test.
    pub order: Vec<u32>,
    pub verdict: Polarity,
}

impl Store {
    /// The newest finished campaign of a verb.
    pub fn last_finished(&self, verb: &str) -> Result<Option<Finished>, StoreError> {
        Ok(self.finished(verb, 1)?.into_iter().next())
    }

    /// Finished campaigns of a verb, the newest first.
    pub fn finished(&self, verb: &str, most: u32) -> Result<Vec<Finished>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(Finished, String)>> {
            let mut statement = self.connection.prepare(
                "SELECT id, CAST(document AS TEXT), suite, seed, configuration, finished FROM campaigns
                 WHERE verb = ? AND finished IS NOT NULL AND document IS NOT NULL
                 ORDER BY id DESC LIMIT ?",
            )?;
            let rows = statement.query_map((verb, most), |row| {
                let finished = Finished {
                    id: CampaignId(row.get(0)?),
                    seed: row.get::<_, i64>(3)?.cast_unsigned(),
                    configuration: row.get(4)?,
                    ended: row.get(5)?,
                    document: row.get(1)?,
                    suite: Vec::new(),
                };
                Ok((finished, row.get(2)?))
            })?;
            rows.collect()
        };
        let found = read().map_err(|e| self.failed("read", e))?;
        found
            .into_iter()
            .map(|(campaign, suite)| {
                let suite = serde_json::from_str(&suite).map_err(|e| {
                    let why = format!("the suite of campaign {} is unreadable: {e}", campaign.id.0);
                    self.failed("read", StoreErrorKind::Corrupt(why))
                })?;
                Ok(Finished { suite, ..campaign })
            })
            .collect()
    }

    /// Where these tests stood in the orders of a campaign, and what came of them; shortest first, at
    /// most `most` of either verdict for each test.
    pub fn sightings(
        &self,
        campaign: CampaignId,
        tests: &[u32],
        most: usize,
    ) -> Result<Vec<Sighting>, StoreError> {
        self.read_sightings(campaign, tests, most)
            .map_err(|e| self.failed("read", e))
    }

    fn read_sightings(
        &self,
        campaign: CampaignId,
        tests: &[u32],
        most: usize,
    ) -> rusqlite::Result<Vec<Sighting>> {
        let mut runs = self.connection.prepare(
            "SELECT id, tests FROM runs WHERE campaign = ? AND special IS NULL AND length(tests) > 4",
        )?;
        let mut outcome = self
            .connection
            .prepare("SELECT outcome FROM executions WHERE run = ? AND position = ?")?;
        // Only where they are: all orders of a long campaign would not fit into memory.
        let mut found: Vec<(u32, Polarity, usize, i64)> = Vec::new();
        let mut rows = runs.query([campaign.0])?;
        while let Some(row) = rows.next()? {
            let (run, blob): (i64, Vec<u8>) = (row.get(0)?, row.get(1)?);
            let mut wanted: HashSet<u32> = tests.iter().copied().collect();
            for (at, test) in numbers(&blob).enumerate() {
                if !wanted.remove(&test) {
                    continue;
                }
                let word: Option<String> = outcome
                    .query_row((run, at as i64), |row| row.get(0))
                    .optional()?;
                let verdict = word.as_deref().map_or(Polarity::Neutral, polarity);
                if verdict != Polarity::Neutral {
                    found.push((test, verdict, at, run));
                }
            }
        }
        found.sort_unstable();
        let mut order = self
            .connection
            .prepare("SELECT tests FROM runs WHERE id = ?")?;
        let mut kept = Vec::new();
        for same in found.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            for (test, verdict, at, run) in same.iter().take(most).copied() {
                let blob: Vec<u8> = order.query_row([run], |row| row.get(0))?;
                kept.push(Sighting {
                    test,
                    order: numbers(&blob).take(at + 1).collect(),
                    verdict,
                });
            }
        }
        Ok(kept)
    }
}

/// The tests of a run, as they are kept.
fn numbers(blob: &[u8]) -> impl Iterator<Item = u32> {
    blob.chunks_exact(4)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

fn polarity(word: &str) -> Polarity {
    match word {
        "failed" | "errored" | "timed_out" | "crashed" => Polarity::Fail,
        word => Outcome::from_word(word, None).map_or(Polarity::Neutral, |o| o.polarity()),
    }
}
