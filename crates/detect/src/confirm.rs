//! Pristine interpreters, with hash seeds that vary: the last word on every class.
//!
//! The first run of every question gets an interpreter started for it, exactly as a user's command line
//! would; the others are forks of interpreters that have loaded pytest and nothing of the project.

use std::cell::RefCell;
use std::sync::Arc;

use flakelab_lab::pristine::Nth;
use flakelab_lab::{LabError, pristine};
use flakelab_model::{Failure, Isolation, Order, Outcome, Polarity, TestIndex};

use crate::evidence::Purpose;
use crate::finding::Tally;
use crate::session::{Session, Stage};

/// What cold runs of one order said of the test at its end.
#[derive(Debug, Clone, Default)]
pub(crate) struct ColdRuns {
    pub(crate) tally: Tally,
    /// The hash seed and verdict of each run.
    pub(crate) by_seed: Vec<(u32, Polarity)>,
    pub(crate) words: Vec<&'static str>,
    pub(crate) failure: Option<Arc<Failure>>,
    /// Whether each of them was just what the plain command line does.
    pub(crate) plain: bool,
    /// Why a run gave no verdict, e.g. because the id was not collected again.
    pub(crate) lost: Option<String>,
}

/// One question to fresh interpreters: this order, the outcome of the test at position `at`.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) order: Vec<TestIndex>,
    pub(crate) at: usize,
    pub(crate) times: u32,
    /// Where the numbering of attempts starts, so that later questions are new runs.
    pub(crate) from: u32,
}

impl Question {
    pub(crate) fn alone(test: TestIndex, times: u32) -> Self {
        Self {
            order: vec![test],
            at: 0,
            times,
            from: 0,
        }
    }

    pub(crate) fn last(order: Vec<TestIndex>, times: u32) -> Self {
        Self {
            at: order.len().saturating_sub(1),
            order,
            times,
            from: 0,
        }
    }

    pub(crate) fn again(mut self, from: u32) -> Self {
        self.from = from;
        self
    }
}

pub(crate) fn ask(
    session: &mut Session<'_>,
    purpose: Purpose,
    questions: &[Question],
) -> Result<Vec<ColdRuns>, LabError> {
    let times: Vec<u32> = questions.iter().map(|question| question.times).collect();
    session
        .watch
        .stage(Stage::Confirm, times.iter().sum::<u32>() as usize);
    let session = RefCell::new(session);
    let mut run = |nths: &[Nth]| {
        let mut session = session.borrow_mut();
        let request = |nth: &Nth| {
            let question = &questions[nth.question];
            let order = Order(question.order.clone());
            session.request(order, nth.isolation, question.from + nth.nth)
        };
        let batch = nths.iter().map(|nth| (purpose, request(nth))).collect();
        session.run(Stage::Confirm, batch)
    };
    let verdict = |question: usize, run: &usize| {
        let session = session.borrow();
        session.at(*run).outcomes[questions[question].at].polarity()
    };
    let answers = pristine::ask(&times, &mut run, verdict)?;
    let session = session.borrow();
    Ok(questions
        .iter()
        .zip(answers)
        .map(|(question, runs)| {
            let runs: Vec<usize> = runs.into_iter().flatten().collect();
            read(&session, &runs, question.at)
        })
        .collect())
}

/// The same, one run at a time: for verdicts that a busy machine or a taken port could have made.
pub(crate) fn ask_undisturbed(
    session: &mut Session<'_>,
    purpose: Purpose,
    question: &Question,
) -> Result<ColdRuns, LabError> {
    session.watch.stage(Stage::Confirm, question.times as usize);
    let mut runs = Vec::new();
    for attempt in 0..question.times {
        let order = Order(question.order.clone());
        let attempt = question.from + attempt;
        let request = session.request(order, pristine::isolation(attempt - question.from), attempt);
        runs.extend(session.run_undisturbed(Stage::Confirm, purpose, request)?);
    }
    Ok(read(session, &runs, question.at))
}

/// Runs under a hash seed of our choice.
pub(crate) fn ask_with_seed(
    session: &mut Session<'_>,
    test: TestIndex,
    seed: u32,
    times: u32,
) -> Result<Tally, LabError> {
    let batch = (0..times)
        .map(|attempt| {
            let mut request =
                session.request(Order(vec![test]), Isolation::Fresh, 50_000 + attempt);
            request.hash_seed = Some(seed);
            (Purpose::Confirm, request)
        })
        .collect();
    let runs = session.run_within(Stage::Confirm, batch)?;
    Ok(read(session, &runs, 0).tally)
}

fn read(session: &Session<'_>, runs: &[usize], at: usize) -> ColdRuns {
    let mut said = ColdRuns {
        plain: !runs.is_empty(),
        ..ColdRuns::default()
    };
    for run in runs {
        let run = session.at(*run);
        said.plain &= run.plain;
        if let flakelab_model::Ending::Lost(why) = &run.ending {
            said.lost.get_or_insert_with(|| why.clone());
        }
        let outcome = &run.outcomes[at];
        if *outcome != Outcome::NotRun {
            said.words.push(outcome.word());
        }
        match outcome.polarity() {
            Polarity::Pass => said.tally.passed += 1,
            Polarity::Fail => said.tally.failed += 1,
            Polarity::Neutral => continue,
        }
        said.by_seed.push((run.hash_seed, outcome.polarity()));
        if let Some(failure) = outcome.failure() {
            said.failure.get_or_insert_with(|| Arc::clone(failure));
        }
    }
    said
}
