//! Coverage runs: the instrumented suite, again and again, together or each test on its own (section 3.1).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use flakelab_lab::{Lab, LabError};
use flakelab_model::{
    Isolation, Order, Outcome, Place, Polarity, RunRecord, RunRequest, Suite, TestIndex,
};

use crate::control::likeness;
use crate::coverage::{Coverage, Covered};
use crate::settings::{Collecting, Settings, Stage, Watch};

/// Tests run on their own that are asked for at once.
const AT_ONCE: usize = 200;

struct Collector<'a> {
    suite: Suite,
    settings: &'a Settings,
    coverage: Coverage,
    /// Never passed nor failed: skipped.
    neutral: BTreeSet<TestIndex>,
}

/// A test that fails in any of the runs is set aside, and never keeps others from being covered.
pub(crate) fn collect(
    lab: &mut dyn Lab,
    settings: &Settings,
    watch: &mut dyn Watch,
) -> Result<Coverage, LabError> {
    let suite = lab.suite().clone();
    let files = files(&suite);
    let rounds = 1 + settings.coverage_reruns;
    watch.stage(Stage::Coverage, rounds as usize * suite.len() + files.len());
    let mut collector = Collector {
        coverage: Coverage {
            tests: vec![Covered::default(); suite.len()],
            ..Coverage::default()
        },
        suite,
        settings,
        neutral: BTreeSet::new(),
    };
    for round in 0..rounds {
        collector.round(lab, round, watch)?;
    }
    collector.imports(lab, &files, watch)?;
    collector.settle();
    Ok(collector.coverage)
}

/// For each file the first of its tests.
fn files(suite: &Suite) -> BTreeMap<String, Vec<TestIndex>> {
    let mut files: BTreeMap<String, Vec<TestIndex>> = BTreeMap::new();
    for test in suite.indices() {
        let id = suite.id(test).to_string();
        let file = Place::of(&id).map_or(id, |place| place.file);
        files.entry(file).or_default().push(test);
    }
    files
}

impl Collector<'_> {
    fn round(
        &mut self,
        lab: &mut dyn Lab,
        round: u32,
        watch: &mut dyn Watch,
    ) -> Result<(), LabError> {
        let mut waiting: Vec<TestIndex> = self
            .suite
            .indices()
            .filter(|test| self.coverage.tests[test.at()].set_aside.is_none())
            .collect();
        while !waiting.is_empty() {
            let orders: Vec<Vec<TestIndex>> = match self.settings.collecting {
                Collecting::Together => vec![waiting.clone()],
                Collecting::Isolated => waiting.iter().take(AT_ONCE).map(|t| vec![*t]).collect(),
            };
            let asked: BTreeSet<TestIndex> = orders.iter().flatten().copied().collect();
            let batch: Vec<RunRequest> = orders
                .into_iter()
                .map(|order| RunRequest {
                    attempt: round,
                    ..RunRequest::new(Order(order), Isolation::Fork, self.settings.timeout)
                })
                .collect();
            let mut done = BTreeSet::new();
            let mut lost = None;
            lab.run(&batch, &mut |record| {
                if let flakelab_model::Ending::Lost(why) = &record.ending {
                    lost = Some(why.clone());
                }
                self.take(&record, round, &mut done, watch);
                ControlFlow::Continue(())
            })?;
            let why = lost.unwrap_or_else(|| "it was not executed".into());
            let left: Vec<TestIndex> = asked.difference(&done).copied().collect();
            let hopeless = match self.settings.collecting {
                Collecting::Isolated => &left[..],
                // A test that ended the process is set aside; those behind it get their turn.
                Collecting::Together if done.is_empty() => &left[..1],
                Collecting::Together => &[],
            };
            for test in hopeless {
                done.insert(*test);
                self.coverage.tests[test.at()].set_aside = Some(format!("cannot be run: {why}"));
            }
            waiting.retain(|test| !done.contains(test));
        }
        Ok(())
    }

    fn take(
        &mut self,
        record: &RunRecord,
        round: u32,
        done: &mut BTreeSet<TestIndex>,
        watch: &mut dyn Watch,
    ) {
        let reached = record.reached.as_deref();
        if let Some(reached) = reached
            && self.coverage.import.is_empty()
        {
            self.coverage.import.clone_from(&reached.import);
        }
        for (at, execution) in record.executions.iter().enumerate() {
            if execution.outcome == Outcome::NotRun {
                continue;
            }
            done.insert(execution.test);
            watch.step();
            let covered = &mut self.coverage.tests[execution.test.at()];
            match execution.outcome.polarity() {
                Polarity::Pass => {
                    let ranges = reached.and_then(|reached| reached.tests.get(at));
                    covered.runs.push(ranges.cloned().unwrap_or_default());
                    covered.micros = match covered.micros {
                        0 => execution.micros.max(1),
                        known => known.min(execution.micros.max(1)),
                    };
                }
                Polarity::Fail => {
                    let how = execution.outcome.failure().map_or_else(
                        || execution.outcome.word().to_owned(),
                        |failure| failure.signature(),
                    );
                    covered.set_aside = Some(if round == 0 && covered.runs.is_empty() {
                        format!("fails without a mutant: {how}")
                    } else {
                        format!("fails in coverage run {}: {how}", round + 1)
                    });
                }
                Polarity::Neutral => {
                    self.neutral.insert(execution.test);
                }
            }
        }
    }

    /// What importing each file of tests reaches, in an interpreter that has imported nothing else, and how its first test
    /// fails there although it passes with the others.
    fn imports(
        &mut self,
        lab: &mut dyn Lab,
        files: &BTreeMap<String, Vec<TestIndex>>,
        watch: &mut dyn Watch,
    ) -> Result<(), LabError> {
        let names: Vec<&String> = files.keys().collect();
        let batch: Vec<RunRequest> = names
            .iter()
            .map(|name| {
                let order = Order(vec![files[*name][0]]);
                RunRequest::new(order, Isolation::Fresh, self.settings.timeout)
            })
            .collect();
        lab.run(&batch, &mut |record| {
            watch.step();
            if let Some(reached) = &record.reached {
                let name = names[record.request].clone();
                self.coverage.by_file.insert(name, reached.import.clone());
            }
            for execution in &record.executions {
                if execution.outcome.polarity() == Polarity::Fail {
                    let covered = &mut self.coverage.tests[execution.test.at()];
                    covered.apart = Some(likeness(&execution.outcome));
                }
            }
            ControlFlow::Continue(())
        })
    }

    fn settle(&mut self) {
        for test in &self.neutral {
            let covered = &mut self.coverage.tests[test.at()];
            if covered.set_aside.is_none() {
                covered.set_aside = Some("is skipped".into());
            }
        }
    }
}
