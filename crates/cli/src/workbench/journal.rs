//! What a campaign has finished, kept in the store.

use std::collections::HashMap;

use flakelab_lab::{Journal, LabError};
use flakelab_store::{CampaignId, Store};

use crate::error::chain;

/// Finished steps, in the campaign's results.
pub(crate) struct StoreJournal<'a> {
    store: &'a Store,
    campaign: CampaignId,
    known: HashMap<String, String>,
}

impl<'a> StoreJournal<'a> {
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
