//! Who matters for an injected test, found by the machinery of `explain`.

use flakelab_explain::{Mode, Settings, Stage, Target, Watch};
use flakelab_inject::{Cleaning, Explain};
use flakelab_lab::{BorrowedLab, LabError};
use flakelab_model::{Class, Order, TestIndex};

pub(super) struct Causes(Settings);

impl Causes {
    pub(super) fn new(settings: &flakelab_inject::Settings) -> Self {
        Self(Settings {
            seed: settings.seed,
            mode: Mode::Probe,
            all: false,
            // The deleted statement is known; the state it guarded is not asked for.
            state: false,
            confirmations: settings.confirmations,
            orders: settings.orders,
            budget: None,
            timeout: settings.timeout,
            impatient: settings.impatient,
            clock: false,
        })
    }
}

impl Explain for Causes {
    fn explain(
        &mut self,
        mut lab: BorrowedLab<'_>,
        test: TestIndex,
        victim: bool,
        orders: Vec<Order>,
    ) -> Result<flakelab_inject::Causes, LabError> {
        let target = Target {
            test,
            class: Some(if victim {
                Class::Victim
            } else {
                Class::Brittle
            }),
            orders,
        };
        let found = flakelab_explain::explain(&mut *lab, &self.0, &mut Nobody, vec![target])?;
        let suite = lab.suite();
        let ids = |tests: &[TestIndex]| -> Vec<String> {
            tests.iter().map(|t| suite.id(*t).to_string()).collect()
        };
        let mut causes = flakelab_inject::Causes::default();
        for explanation in &found {
            let steady = explanation.culprits.iter().filter(|c| c.rate.is_none());
            causes.culprits.extend(steady.map(|c| ids(&c.tests)));
            causes
                .cleaners
                .extend(explanation.cleanings.iter().map(|c| Cleaning {
                    polluters: ids(&c.polluters),
                    cleaners: ids(&c.cleaners),
                }));
        }
        Ok(causes)
    }
}

/// One entry is not worth a progress bar of its own.
struct Nobody;

impl Watch for Nobody {
    fn target(&mut self, _: TestIndex, _: usize, _: usize) {}
    fn stage(&mut self, _: Stage, _: usize) {}
    fn run_done(&mut self) {}
}
