//! What a campaign has finished, kept in the store.

use std::collections::HashMap;

use flakelab_lab::{Journal, LabError};
use flakelab_store::{CampaignId, Store, StoreError};

use crate::error::chain;

/// Finished steps, in the campaign's results.
pub(crate) struct StoreJournal<'a> {
    store: &'a Store,
    campaign: CampaignId,
    known: HashMap<String, String>,
}

/// What the last finished campaigns of a verb have kept: read only.
pub(crate) struct EarlierJournal(HashMap<String, String>);

impl Journal for EarlierJournal {
    fn get(&self, key: &str) -> Option<String> {
        self.0.get(key).cloned()
    }

    fn put(&mut self, _: &str, _: &str) -> Result<(), LabError> {
        Ok(())
    }
}

impl<'a> StoreJournal<'a> {
    /// Nothing at all, for a user who wants everything anew.
    pub(crate) fn earlier(
        store: &Store,
        verb: &str,
        nothing: bool,
    ) -> Result<EarlierJournal, StoreError> {
        if nothing {
            return Ok(EarlierJournal(HashMap::new()));
        }
        let known = store.kept_before(verb, "verdict/")?;
        Ok(EarlierJournal(known.into_iter().collect()))
    }

    pub(crate) fn new(store: &'a Store, campaign: CampaignId) -> Result<Self, LabError> {
        let known = store
            .kept(campaign)
            .map_err(|e| LabError::broken(chain(&e)))?;
        Ok(Self {
            store,
            campaign,
            known: known.into_iter().collect(),
        })
    }
}

impl Journal for StoreJournal<'_> {
    fn get(&self, key: &str) -> Option<String> {
        self.known.get(key).cloned()
    }

    fn put(&mut self, key: &str, value: &str) -> Result<(), LabError> {
        self.store
            .keep(self.campaign, key, value)
            .map_err(|e| LabError::broken(chain(&e)))
    }
}
