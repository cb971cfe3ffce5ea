//! Fresh interpreters: the last word on everything that is published.

use std::sync::Arc;

use flakelab_lab::pristine::Nth;
use flakelab_lab::{LabError, pristine};
use flakelab_model::{Experiment, Failure, Isolation, Polarity, RunRecord, TestIndex};

use crate::finding::Rate;
use crate::session::{Session, Stage, verdict};

/// What fresh interpreters said of the last test of an order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    asked: u64,
    pub(crate) failure: Option<Arc<Failure>>,
    /// Whether each run was just what the plain command line does.
    pub(crate) plain: bool,
}

impl Answer {
    /// All of them ran to this verdict.
    pub(crate) fn all(&self, verdict: Polarity) -> bool {
        let count = match verdict {
            Polarity::Pass => self.passed,
            Polarity::Fail => self.failed,
            Polarity::Neutral => 0,
        };
        self.asked > 0 && count == self.asked
    }

    pub(crate) fn some(&self, verdict: Polarity) -> bool {
        match verdict {
            Polarity::Pass => self.passed > 0,
            Polarity::Fail => self.failed > 0,
            Polarity::Neutral => false,
        }
    }

    fn of(runs: &[Option<RunRecord>]) -> Self {
        let mut answer = Self {
            plain: true,
            ..Self::default()
        };
        for run in runs {
            answer.add(run.as_ref());
        }
        answer
    }

    fn add(&mut self, record: Option<&RunRecord>) {
        self.asked += 1;
        let Some(record) = record else {
            return;
        };
        self.plain &= record.plain;
        match verdict(record) {
            Polarity::Pass => self.passed += 1,
            Polarity::Fail => self.failed += 1,
            Polarity::Neutral => {}
        }
        if self.failure.is_none() {
            self.failure = record
                .executions
                .last()
                .and_then(|last| last.outcome.failure().cloned());
        }
    }
}

/// Asks as many fresh interpreters as the settings say, for each order.
pub(crate) fn ask(
    session: &mut Session<'_>,
    orders: &[Vec<TestIndex>],
) -> Result<Vec<Answer>, LabError> {
    ask_with(session, orders, None)
}

/// The same with something put back before the last test.
pub(crate) fn ask_with(
    session: &mut Session<'_>,
    orders: &[Vec<TestIndex>],
    experiment: Option<&Experiment>,
) -> Result<Vec<Answer>, LabError> {
    let answers = confirm(session, Stage::Confirm, orders, 0, experiment, verdict)?;
    Ok(answers.iter().map(|runs| Answer::of(runs)).collect())
}

/// The runs of each order that publishing takes, from attempt `from` on; `verdict` is what counts of each.
pub(crate) fn confirm(
    session: &mut Session<'_>,
    stage: Stage,
    orders: &[Vec<TestIndex>],
    from: u32,
    experiment: Option<&Experiment>,
    verdict: impl Fn(&RunRecord) -> Polarity,
) -> Result<Vec<Vec<Option<RunRecord>>>, LabError> {
    let times = vec![session.settings.confirmations; orders.len()];
    let mut run = |nths: &[Nth]| {
        let request = |nth: &Nth| {
            let order = orders[nth.question].clone();
            let mut request = session.pristine(order, nth.isolation, from + nth.nth);
            request.experiment = experiment.cloned();
            request
        };
        let batch = nths.iter().map(request).collect();
        session.run(stage, batch)
    };
    pristine::ask(&times, &mut run, |_, record| verdict(record))
}

/// The same question to as many other interpreters, in every round from 1 on.
pub(crate) fn again(
    session: &mut Session<'_>,
    order: &[TestIndex],
    round: u32,
) -> Result<Answer, LabError> {
    let from = round * session.settings.confirmations;
    let orders = [order.to_vec()];
    let answers = confirm(session, Stage::Confirm, &orders, from, None, verdict)?;
    Ok(answers
        .first()
        .map(|runs| Answer::of(runs))
        .unwrap_or_default())
}

/// How often each order fails, in so many runs.
pub(crate) fn rates(
    session: &mut Session<'_>,
    orders: &[Vec<TestIndex>],
    isolation: Isolation,
    times: u32,
) -> Result<Vec<Rate>, LabError> {
    let batch = orders
        .iter()
        .flat_map(|order| (0..times).map(move |attempt| (order, attempt)))
        .map(|(order, attempt)| {
            let mut request = session.request(order.clone(), isolation);
            // Apart from the attempts of every search.
            request.attempt = 1_000 + attempt;
            request
        })
        .collect();
    let records = session.run(Stage::Confirm, batch)?;
    let rate = |runs: &[Option<RunRecord>]| {
        let mut rate = Rate::default();
        for record in runs.iter().flatten() {
            match verdict(record) {
                Polarity::Pass => rate.of += 1,
                Polarity::Fail => {
                    rate.failed += 1;
                    rate.of += 1;
                }
                Polarity::Neutral => {}
            }
        }
        rate
    };
    Ok(records.chunks(times.max(1) as usize).map(rate).collect())
}
