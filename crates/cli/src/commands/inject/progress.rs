//! Shows how far an injection is.

use flakelab_inject::{Stage, Watch};

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
