//! Shows how far a campaign is.

use flakelab_mutate::{Stage, Watch};

use crate::workbench::Bar;

pub(super) struct MutateWatch<'a>(pub(super) &'a Bar);

impl Watch for MutateWatch<'_> {
    fn stage(&mut self, stage: Stage, steps: usize) {
        self.0.step(0, steps);
        self.0.message(match stage {
            Stage::Coverage => "which test reaches what",
            Stage::Mutants => "mutants",
        });
    }

    fn step(&mut self) {
        self.0.advance();
    }

    fn tally(&mut self, killed: u64, of: u64) {
        self.0.say(format!("mutants, {killed} of {of} killed"));
    }
}
