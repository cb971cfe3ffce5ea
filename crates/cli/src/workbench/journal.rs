//! What a campaign has finished, kept in the store.

use std::cell::RefCell;

use flakelab_lab::{Journal, LabError};
use flakelab_store::{CampaignId, Store};

use crate::error::chain;

/// Finished steps, in the campaign's results.
pub(crate) struct StoreJournal<'a> {
    store: &'a Store,
    campaign: CampaignId,
    /// What could not be read, told by the next `put`: what is unknown is done again and kept.
    unread: RefCell<Option<LabError>>,
}

/// What earlier campaigns of a verb have kept: read only. Nothing at all, for a user who wants everything anew.
pub(crate) struct EarlierJournal<'a> {
    pub(crate) store: Option<&'a Store>,
    pub(crate) verb: &'a str,
}

impl Journal for EarlierJournal<'_> {
    fn get(&self, key: &str) -> Option<String> {
        self.store?.result_before(self.verb, key).ok()?
    }

    fn put(&mut self, _: &str, _: &str) -> Result<(), LabError> {
        Ok(())
    }

    fn put_all(&mut self, _: &[(&str, String)]) -> Result<(), LabError> {
        Ok(())
    }
}

impl<'a> StoreJournal<'a> {
    pub(crate) fn new(store: &'a Store, campaign: CampaignId) -> Self {
        Self {
            store,
            campaign,
            unread: RefCell::new(None),
        }
    }
}

impl Journal for StoreJournal<'_> {
    fn get(&self, key: &str) -> Option<String> {
        match self.store.result(self.campaign, key) {
            Ok(found) => found,
            Err(error) => {
                let error = LabError::broken(chain(&error));
                self.unread.borrow_mut().get_or_insert(error);
                None
            }
        }
    }

    fn put(&mut self, key: &str, value: &str) -> Result<(), LabError> {
        self.put_all(&[(key, value.to_owned())])
    }

    fn put_all(&mut self, entries: &[(&str, String)]) -> Result<(), LabError> {
        if let Some(error) = self.unread.take() {
            return Err(error);
        }
        self.store
            .keep_all(self.campaign, entries)
            .map_err(|e| LabError::broken(chain(&e)))
    }
}
