//! Runs mutants, some at a time: each round asks what all of them need next.

use std::ops::ControlFlow;
use std::sync::Arc;

use flakelab_lab::{Lab, LabError, Spent};
use flakelab_model::{Isolation, Mutation, Order, Pursuit, RunRecord, RunRequest, TestIndex};

use crate::chase::{Ask, Chase, Purpose};
use crate::control::{Controls, controls};
use crate::pair::Rung;
use crate::settings::Settings;

/// A timeout must show again, in so much more time, or with so many more executions than without the change.
const MORE_TIME: u32 = 2;
const MORE_HITS: u64 = 100;
/// Executions that are nothing special.
pub(crate) const FEW_HITS: u64 = 10_000;

/// Whom a request is for.
enum For {
    Control(TestIndex, Isolation),
    Mutant(usize, Ask),
}

pub(crate) struct Executor<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) controls: Controls,
    pub(crate) spent: Spent,
}

impl Executor<'_> {
    /// Brings every one of them to a verdict.
    pub(crate) fn run(
        &mut self,
        lab: &mut dyn Lab,
        chases: &mut [Chase<'_>],
    ) -> Result<(), LabError> {
        loop {
            let (batch, whom) = self.round(chases);
            if batch.is_empty() {
                return Ok(());
            }
            let mut records: Vec<RunRecord> = Vec::with_capacity(batch.len());
            lab.run(&batch, &mut |record| {
                records.push(record);
                ControlFlow::Continue(())
            })?;
            // As asked, not as finished: verdicts must not depend on who was faster. Controls were asked first.
            records.sort_by_key(|record| record.request);
            for record in &records {
                self.spent.add(record);
                match &whom[record.request] {
                    For::Control(test, isolation) => {
                        for execution in &record.executions {
                            self.controls.note(*test, &execution.outcome, *isolation);
                        }
                    }
                    For::Mutant(at, ask) => {
                        let controls = &mut self.controls;
                        chases[*at].take(ask, record, &self.settings.reruns, controls);
                    }
                }
            }
        }
    }

    fn round(&mut self, chases: &mut [Chase<'_>]) -> (Vec<RunRequest>, Vec<For>) {
        let mut controlled = Vec::new();
        let mut wanted = Vec::new();
        for (at, chase) in chases.iter_mut().enumerate() {
            for ask in chase.next(&self.settings.reruns) {
                let request = self.request(chase, &ask);
                // As it is when it kills: in a process of the same kind.
                let kind = request.isolation;
                if ask.purpose.may_kill() && self.controls.ask(ask.tests[0], kind) {
                    controlled.push((ask.tests[0], kind));
                }
                wanted.push((request, For::Mutant(at, ask)));
            }
        }
        let timeout = self.settings.timeout;
        let times = controls(1 + self.settings.coverage_reruns);
        let controls = controlled.into_iter().flat_map(|(test, isolation)| {
            (0..times).map(move |attempt| {
                let order = Order(vec![test]);
                let request = RunRequest {
                    attempt,
                    ..RunRequest::new(order, isolation, timeout)
                };
                (request, For::Control(test, isolation))
            })
        });
        controls.chain(wanted).unzip()
    }

    fn request(&self, chase: &Chase<'_>, ask: &Ask) -> RunRequest {
        let settings = self.settings;
        let (code, isolation) = match ask.purpose {
            Purpose::Count => chase.subject.counted(ask.rung),
            _ => chase.subject.placed(ask.rung),
        };
        let mut timeout = chase.subject.timeout(settings);
        let mut most_hits = settings.most_hits;
        match ask.purpose {
            Purpose::Count => most_hits = u64::MAX,
            Purpose::Timeout => {
                timeout.test = timeout.test.saturating_mul(MORE_TIME);
                let normal = chase.normal_hits(ask.tests[0]).unwrap_or(most_hits);
                most_hits = normal.saturating_mul(MORE_HITS).max(FEW_HITS);
            }
            _ => {}
        }
        let reruns = match ask.purpose {
            Purpose::Climb | Purpose::Count => 0,
            _ => settings.reruns.of(Rung::SameProcess),
        };
        let mutation = Mutation {
            code,
            most_hits,
            pursuit: Pursuit {
                reruns,
                immediate: settings.immediate,
                first_kill: !settings.matrix,
            },
        };
        RunRequest {
            attempt: ask.attempt,
            mutation: Some(Arc::new(mutation)),
            ..RunRequest::new(Order(ask.tests.clone()), isolation, timeout)
        }
    }
}

#[cfg(test)]
mod tests;
