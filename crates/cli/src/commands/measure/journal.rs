//! Keeps runs in the store as they finish, and shows how far it is.

use std::collections::HashMap;

use flakelab_lab::LabError;
use flakelab_measure::{Journal, Kept, Pool, Watch, decode, encode};
use flakelab_store::{Addition, CampaignId, Store};

use crate::error::chain;
use crate::workbench::Bar;

pub(in crate::commands) struct StoreJournal<'a> {
    store: &'a Store,
    campaign: CampaignId,
    known: HashMap<String, String>,
    /// Texts and snapshots that are in the store.
    saved: (usize, usize),
    /// Runs taken from the store.
    pub(in crate::commands) replayed: u64,
}

fn broken(error: &dyn std::error::Error) -> LabError {
    LabError::broken(chain(error))
}

impl<'a> StoreJournal<'a> {
    pub(in crate::commands) fn new(
        store: &'a Store,
        campaign: CampaignId,
    ) -> Result<Self, LabError> {
        let known = store.kept(campaign).map_err(|e| broken(&e))?;
        let replayed = known.len() as u64;
        Ok(Self {
            store,
            campaign,
            known: known.into_iter().collect(),
            saved: (0, 0),
            replayed,
        })
    }
}

impl Journal for StoreJournal<'_> {
    fn pool(&mut self) -> Result<Pool, LabError> {
        let mut pool = Pool::default();
        for text in self.store.texts(self.campaign).map_err(|e| broken(&e))? {
            pool.text(&text);
        }
        let snapshots = self
            .store
            .snapshots(self.campaign)
            .map_err(|e| broken(&e))?;
        for content in snapshots {
            let pairs = decode(&content)
                .ok_or_else(|| LabError::broken("a snapshot in the store makes no sense"))?;
            pool.snapshot(pairs);
        }
        self.saved = pool.size();
        Ok(pool)
    }

    fn get(&self, key: &str) -> Result<Option<Kept>, LabError> {
        let kept = self.known.get(key).map(|value| serde_json::from_str(value));
        kept.transpose()
            .map_err(|e| LabError::broken(format!("a run in the store makes no sense: {e}")))
    }

    fn put(&mut self, key: &str, run: &Kept, pool: &Pool) -> Result<(), LabError> {
        let value = serde_json::to_string(run).map_err(|e| LabError::broken(e.to_string()))?;
        let texts = pool.texts_from(self.saved.0);
        let contents = pool.contents_from(self.saved.1);
        let addition = Addition {
            key,
            value: &value,
            texts: (self.saved.0, texts.iter().map(AsRef::as_ref).collect()),
            snapshots: (self.saved.1, contents.iter().map(|c| encode(c)).collect()),
        };
        self.store
            .keep_with_snapshots(self.campaign, &addition)
            .map_err(|e| broken(&e))?;
        self.saved = pool.size();
        Ok(())
    }
}

pub(in crate::commands) struct MeasureWatch<'a>(pub(in crate::commands) &'a Bar);

impl Watch for MeasureWatch<'_> {
    fn begin(&mut self, runs: usize) {
        self.0.step(0, runs);
    }

    fn configuration(&mut self, name: &str) {
        self.0.say(format!("runs · {name}"));
    }

    fn step(&mut self) {
        self.0.advance();
    }
}
