//! What the progress bar says of a search.

use flakelab_detect::{Stage, Watch};

use crate::workbench::Gauge;

#[derive(Debug)]
pub(super) struct SearchGauge {
    gauge: Gauge,
    suspects: usize,
}

impl SearchGauge {
    pub(super) fn new(gauge: Gauge) -> Self {
        Self { gauge, suspects: 0 }
    }

    fn besides(&self) -> String {
        match self.suspects {
            0 => String::new(),
            n => format!(", {n} suspects"),
        }
    }
}

impl Watch for SearchGauge {
    fn stage(&mut self, stage: Stage, runs: usize) {
        let what = match stage {
            Stage::Baseline => "baseline",
            Stage::Search => "orders",
            Stage::Verify => "rerunning",
            Stage::Shorten => "shortening",
            Stage::Confirm => "confirming",
        };
        let besides = self.besides();
        self.gauge.stage(what, runs, &besides);
    }

    fn run_done(&mut self, _: Stage) {
        let besides = self.besides();
        self.gauge.run_done(&besides);
    }

    fn suspects(&mut self, count: usize) {
        self.suspects = count;
    }
}
