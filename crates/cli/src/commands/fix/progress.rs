//! Shows how far a fix is, and keeps what is finished.

use flakelab_fix::{Fix, Patch, Watch};
use flakelab_lab::LabError;
use flakelab_store::{CampaignId, Store};

use super::broken;
use crate::printer::{Printer, Volume};
use crate::workbench::Bar;

/// Lines shown of a patch that does not hold.
const MOST_LINES: usize = 40;

pub(super) struct FixWatch<'a> {
    bar: &'a Bar,
    store: &'a Store,
    campaign: CampaignId,
    printer: Printer,
    test: String,
    /// Whether a candidate did not hold.
    pub(super) has_dropped: bool,
}

impl<'a> FixWatch<'a> {
    pub(super) fn new(
        bar: &'a Bar,
        store: &'a Store,
        campaign: CampaignId,
        printer: Printer,
    ) -> Self {
        Self {
            bar,
            store,
            campaign,
            printer,
            test: String::new(),
            has_dropped: false,
        }
    }
}

impl Watch for FixWatch<'_> {
    fn test(&mut self, test: &str, number: usize, of: usize) {
        self.test = test.to_owned();
        self.bar.step(number, of);
        self.bar.say(format!("patches for {test}"));
    }

    fn candidate(&mut self, number: usize, of: usize) {
        let test = &self.test;
        self.bar
            .say(format!("candidate {} of {of} for {test}", number + 1));
    }

    fn dropped(&mut self, patch: &Patch, why: &str) {
        self.has_dropped = true;
        if self.printer.volume != Volume::Verbose {
            return;
        }
        let files: Vec<&str> = patch.changes.iter().map(|c| c.path.as_str()).collect();
        let text = format!(
            "dropped: {} at the {} in {}: {why}\n{}",
            patch.strategy.word(),
            patch.site.word(),
            files.join(", "),
            excerpt(&patch.diff())
        );
        self.bar.suspend(|| self.printer.detail(&text));
    }

    fn fixed(&mut self, fix: &Fix) -> Result<(), LabError> {
        let value = serde_json::to_string(fix).map_err(broken)?;
        self.store
            .keep(self.campaign, &fix.test, &value)
            .map_err(broken)
    }
}

/// Enough of a patch to see what was tried.
fn excerpt(diff: &str) -> String {
    let mut lines = diff.lines();
    let mut text: Vec<String> = lines
        .by_ref()
        .take(MOST_LINES)
        .map(|line| format!("  {line}"))
        .collect();
    let more = lines.count();
    if more > 0 {
        text.push(format!("  … {more} more lines"));
    }
    text.join("\n")
}
