//! A lab without processes: tests with planted truth, for the tests of algorithms.
//!
//! Each test has a rule over what ran before it in the same run. The lab obeys the same contract as a
//! real one (order, isolation, attempts), so an algorithm cannot tell the difference.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use flakelab_model::{
    Ending, Execution, Experiment, Failure, Isolation, Leak, Observation, Order, Outcome, Phase,
    RunRecord, RunRequest, Suite, TestIndex,
};

use crate::orders::Stream;
use crate::{Lab, LabError, Sink};

/// What a planted test does.
#[derive(Debug, Clone, Default)]
pub enum Rule {
    #[default]
    Passes,
    Fails,
    Skips,
    /// Fails once all of one of these sets have run and no cleaner ran since.
    Victim {
        polluters: Vec<Vec<u32>>,
        cleaners: Vec<u32>,
    },
    /// Fails after the polluter until all of the cleaners have run since.
    CleanedTogether {
        polluter: u32,
        cleaners: Vec<u32>,
    },
    /// Passes where a test of that file is collected: in every fork, and with one in the order.
    PassesWith {
        file: String,
    },
    /// Passes once all of one of these sets have run.
    Brittle {
        setters: Vec<Vec<u32>>,
    },
    /// Fails with a probability, whatever ran before.
    Flaky {
        percent: u64,
    },
    /// Fails with one probability, and with another after the given test.
    FlakyAfter {
        polluter: u32,
        percent: u64,
        otherwise: u64,
    },
    /// Fails when it has run before in the same process.
    Once,
    /// Ends the process when it has run before in it.
    CrashesAgain,
    /// Its scope's teardown fails on whichever of its tests runs last in a row.
    BadTeardown,
    /// Is skipped after the given test.
    SkippedAfter {
        test: u32,
    },
    /// Fails in forks only: what a lab that is no interpreter of its own may show.
    FailsInForks,
    /// A victim in forks only; fresh interpreters never show it.
    VictimInForks {
        polluter: u32,
    },
    /// A victim in every fork, also of interpreters that only loaded the test runner.
    VictimUnlessCold {
        polluter: u32,
    },
}

#[derive(Debug)]
pub struct FakeLab {
    suite: Suite,
    rules: Vec<Rule>,
    stream: Stream,
    /// Tests whose leak cannot be put back, which only shows when it is tried.
    pub stuck: Vec<u32>,
    pub runs: u64,
    pub executions: u64,
}

impl FakeLab {
    pub fn new(rules: Vec<Rule>, seed: u64) -> Self {
        let ids = (0..rules.len()).map(|at| format!("m{}.py::test_{at}", at / 10));
        Self {
            suite: Suite::new(ids),
            rules,
            stream: Stream::new(seed, "fake"),
            stuck: Vec::new(),
            runs: 0,
            executions: 0,
        }
    }

    fn execute(&mut self, request: &RunRequest) -> Vec<Execution> {
        let order = &request.order.0;
        let mut last: HashMap<u32, usize> = HashMap::new();
        let mut executions = Vec::with_capacity(order.len());
        for (at, test) in order.iter().enumerate() {
            let next = order.get(at + 1);
            if at + 1 == order.len()
                && let Some(experiment) = &request.experiment
            {
                last.retain(|test, _| {
                    self.stuck.contains(test) || !experiment.restore.contains(&leak(*test).id)
                });
            }
            let outcome = self.outcome(*test, next.copied(), &last, request);
            last.insert(test.0, at);
            let crashed = matches!(outcome, Outcome::Crashed(_));
            executions.push(Execution {
                test: *test,
                outcome,
                micros: 1_000,
            });
            if crashed {
                executions.extend(order[at + 1..].iter().map(|test| Execution {
                    test: *test,
                    outcome: Outcome::NotRun,
                    micros: 0,
                }));
                break;
            }
        }
        self.runs += 1;
        self.executions += executions.len() as u64;
        executions
    }

    fn outcome(
        &mut self,
        test: TestIndex,
        next: Option<TestIndex>,
        last: &HashMap<u32, usize>,
        request: &RunRequest,
    ) -> Outcome {
        let isolation = request.isolation;
        let complete = |set: &[u32]| set.iter().map(|t| last.get(t)).collect::<Option<Vec<_>>>();
        let fails = match &self.rules[test.at()] {
            Rule::Passes => false,
            Rule::Fails => true,
            Rule::Skips => return Outcome::Skipped,
            Rule::SkippedAfter { test } if last.contains_key(test) => return Outcome::Skipped,
            Rule::SkippedAfter { .. } => false,
            Rule::Victim {
                polluters,
                cleaners,
            } => polluters.iter().any(|set| {
                complete(set).is_some_and(|places| {
                    let polluted = places.into_iter().max();
                    let cleaned = cleaners.iter().filter_map(|c| last.get(c)).max();
                    cleaned < polluted
                })
            }),
            Rule::CleanedTogether { polluter, cleaners } => last.get(polluter).is_some_and(|at| {
                !cleaners
                    .iter()
                    .all(|c| last.get(c).is_some_and(|since| since > at))
            }),
            Rule::PassesWith { file } => {
                let collected = |other: &TestIndex| self.suite.id(*other).module() == file;
                isolation.is_pristine() && !request.order.0.iter().any(collected)
            }
            Rule::Brittle { setters } => !setters.iter().any(|set| complete(set).is_some()),
            Rule::Flaky { percent } => self.stream.below(100) < *percent,
            Rule::FlakyAfter {
                polluter,
                percent,
                otherwise,
            } => {
                let percent = if last.contains_key(polluter) {
                    *percent
                } else {
                    *otherwise
                };
                self.stream.below(100) < percent
            }
            Rule::Once => last.contains_key(&test.0),
            Rule::CrashesAgain if last.contains_key(&test.0) => {
                return Outcome::Crashed(failure(Phase::Call));
            }
            Rule::CrashesAgain => false,
            Rule::BadTeardown => {
                let scope = self.suite.id(test).module();
                if next.is_none_or(|n| self.suite.id(n).module() != scope) {
                    return Outcome::Errored(failure(Phase::Teardown));
                }
                false
            }
            Rule::FailsInForks => !isolation.is_pristine(),
            Rule::VictimUnlessCold { polluter } => {
                isolation != Isolation::Cold && last.contains_key(polluter)
            }
            Rule::VictimInForks { polluter } => {
                !isolation.is_pristine() && last.contains_key(polluter)
            }
        };
        if fails {
            Outcome::Failed(failure(Phase::Call))
        } else {
            Outcome::Passed
        }
    }
}

/// What a planted test leaves behind: undone, it is as if it had not run.
pub fn leak(test: u32) -> Leak {
    Leak {
        id: format!("global:fake.ran[{test}]"),
        kind: "global".into(),
        name: format!("fake.ran[{test}]"),
        before: "False".into(),
        after: "True".into(),
        at: None,
        restorable: true,
        module: None,
    }
}

fn observe(order: &Order, experiment: &Experiment, stuck: &[u32]) -> Observation {
    let before = &order.0[..order.0.len().saturating_sub(1)];
    let leaks = before.iter().map(|test| {
        let mut leak = leak(test.0);
        leak.restorable = !(stuck.contains(&test.0) && experiment.restore.contains(&leak.id));
        leak.at = experiment
            .trace
            .contains(&leak.id)
            .then(|| format!("fake.py:{}", test.0));
        leak
    });
    Observation {
        leaks: leaks.collect(),
        ..Observation::default()
    }
}

fn failure(phase: Phase) -> Arc<Failure> {
    Arc::new(Failure {
        phase,
        message: "planted".into(),
        at: "fake.py:1".into(),
    })
}

impl Lab for FakeLab {
    fn suite(&self) -> &Suite {
        &self.suite
    }

    fn run(&mut self, batch: &[RunRequest], sink: &mut Sink<'_>) -> Result<(), LabError> {
        for (number, request) in batch.iter().enumerate() {
            let executions = self.execute(request);
            let crashed = executions
                .iter()
                .any(|e| matches!(e.outcome, Outcome::Crashed(_)));
            let record = RunRecord {
                request: number,
                executions,
                hash_seed: request.hash_seed.unwrap_or(0),
                ending: if crashed {
                    Ending::Crashed
                } else {
                    Ending::Completed
                },
                cpu: Duration::from_millis(1),
                wall: Duration::from_millis(1),
                plain: request.isolation.is_pristine(),
                trace: None,
                pursued: Vec::new(),
                reached: None,
                observation: request
                    .experiment
                    .as_ref()
                    .map(|experiment| observe(&request.order, experiment, &self.stuck)),
            };
            if let ControlFlow::Break(()) = sink(record) {
                break;
            }
        }
        Ok(())
    }
}
