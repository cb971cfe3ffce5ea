//! What the progress bar says while causes are looked for.

use flakelab_explain::{Stage, Watch};
use flakelab_model::TestIndex;

use crate::workbench::Gauge;

#[derive(Debug)]
pub(super) struct CauseGauge {
    gauge: Gauge,
    besides: String,
}

impl CauseGauge {
    pub(super) fn new(gauge: Gauge) -> Self {
        Self {
            gauge,
            besides: String::new(),
        }
    }
}

impl Watch for CauseGauge {
    fn target(&mut self, _: TestIndex, number: usize, of: usize) {
        self.besides = format!(", test {} of {of}", number + 1);
    }

    fn stage(&mut self, stage: Stage, runs: usize) {
        let what = match stage {
            Stage::Orders => "orders",
            Stage::Culprits => "who causes it",
            Stage::Cleaners => "who cures it",
            Stage::State => "what leaks",
            Stage::Factors => "surroundings",
            Stage::Confirm => "confirming",
        };
        self.gauge.stage(what, runs, &self.besides);
    }

    fn run_done(&mut self) {
        self.gauge.run_done(&self.besides);
    }
}
