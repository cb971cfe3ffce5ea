//! Shows how far an injection is, and keeps what is finished.

use std::collections::HashMap;

use flakelab_inject::{Journal, Stage, Watch};
use flakelab_lab::LabError;
use flakelab_store::{CampaignId, Store};

use crate::error::chain;
use crate::workbench::Bar;

pub(super) struct InjectWatch<'a>(pub(super) &'a Bar);

impl Watch for InjectWatch<'_> {
    fn stage(&mut self, stage: Stage, steps: usize) {
        self.0.step(0, steps);
        self.0.message(match stage {
            Stage::Select => "which tests are stable",
            Stage::Evaluate => "functions whose statements were deleted in turn",
        });
    }

    fn step(&mut self) {
        self.0.advance();
    }
}

/// Finished steps, in the campaign's results.
pub(super) struct StoreJournal<'a> {
    store: &'a Store,
    campaign: CampaignId,
    known: HashMap<String, String>,
}

impl<'a> StoreJournal<'a> {
    pub(super) fn new(store: &'a Store, campaign: CampaignId) -> Result<Self, LabError> {
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
