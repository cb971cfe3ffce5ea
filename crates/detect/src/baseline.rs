//! The suite as collected, in forks and in fresh interpreters.
//!
//! Tests that end the whole process whenever they run would hide every test behind them, so they are
//! set aside. Tests that behave differently in forks, whatever the order, make forks useless for them: where they are
//! few among many, only pristine interpreters are believed about them; else every run gets an interpreter of its own.

use flakelab_lab::LabError;
use flakelab_lab::orders::Kind;
use flakelab_model::{Ending, Isolation, Order, Polarity, TestIndex};

use crate::evidence::{Purpose, Run};
use crate::session::{Session, Stage};

/// A suite with more process killers than this is broken beyond what detection can say.
const MOST_SET_ASIDE: usize = 20;

/// Suites of fewer tests are searched in fresh interpreters as a whole: that takes little time, and finds more about those
/// that forks do not suit.
const SMALL: usize = 50;
/// So many tests that forks do not suit cost the others nothing, or so many of a hundred.
const FEW: usize = 3;
const FEW_OF_A_HUNDRED: usize = 2;

/// Runs of each kind before a difference is looked into, and after.
const FIRST_LOOK: u32 = 2;
const SECOND_LOOK: u32 = 5;
/// Attempts of the original order that are the baseline's.
pub(crate) const BASELINE_ATTEMPTS: u32 = SECOND_LOOK;

/// The tests the search can use.
pub(crate) fn establish(session: &mut Session<'_>) -> Result<Vec<TestIndex>, LabError> {
    let mut tests: Vec<TestIndex> = session.tests().collect();
    session
        .watch
        .stage(Stage::Baseline, 2 * FIRST_LOOK as usize);
    for _ in 0..=MOST_SET_ASIDE {
        let runs = look(session, &tests, 0..FIRST_LOOK)?;
        let killer = match killer(session, &runs) {
            Some(test) if ends_the_process_alone(session, test)? => test,
            // What forks survive may still end every fresh interpreter: look again without them.
            _ if compare(session, &tests, runs)? => continue,
            _ => break,
        };
        tests.retain(|test| *test != killer);
        let id = session.lab.suite().id(killer).clone();
        session.notes.push(format!(
            "set aside: `{id}` ends the whole process whenever it runs"
        ));
    }
    session.learn_patience();
    Ok(tests)
}

/// The original order in forks of the collected suite and in pristine interpreters.
fn look(
    session: &mut Session<'_>,
    tests: &[TestIndex],
    attempts: std::ops::Range<u32>,
) -> Result<Vec<usize>, LabError> {
    let order = Order(tests.to_vec());
    let mut batch = Vec::new();
    for pristine in [false, true] {
        if !pristine && session.warm.is_pristine() {
            continue;
        }
        for attempt in attempts.clone() {
            let isolation = match (pristine, attempt) {
                (false, _) => Isolation::Fork,
                (true, 0) => Isolation::Cold,
                (true, _) => Isolation::Fresh,
            };
            let purpose = if attempt == 0 && !pristine {
                Purpose::Order(Kind::Original)
            } else {
                Purpose::Baseline
            };
            batch.push((purpose, session.request(order.clone(), isolation, attempt)));
        }
    }
    session.run_within(Stage::Baseline, batch)
}

/// The test at which every run ended early, if there is one.
fn killer(session: &Session<'_>, runs: &[usize]) -> Option<TestIndex> {
    let mut killers = runs.iter().map(|run| {
        let run = session.at(*run);
        if matches!(run.ending, Ending::Completed | Ending::Lost(_)) {
            return None;
        }
        let ran = run
            .outcomes
            .iter()
            .take_while(|o| **o != flakelab_model::Outcome::NotRun)
            .count();
        run.order.0.get(ran.checked_sub(1)?).copied()
    });
    let first = killers.next()??;
    killers.all(|other| other == Some(first)).then_some(first)
}

fn ends_the_process_alone(session: &mut Session<'_>, test: TestIndex) -> Result<bool, LabError> {
    let request = session.request(Order(vec![test]), Isolation::Cold, 0);
    let run = session.run_undisturbed(Stage::Baseline, Purpose::Isolated, request)?;
    Ok(run.is_some_and(|run| {
        let run = session.at(run);
        run.ending != Ending::Completed
            || run.outcomes[0]
                .failure()
                .is_some_and(|f| f.message.contains("ended the session"))
    }))
}

/// Forks are trusted unless the same tests always differ from fresh interpreters. Returns whether that
/// trust has just been lost.
fn compare(
    session: &mut Session<'_>,
    tests: &[TestIndex],
    mut runs: Vec<usize>,
) -> Result<bool, LabError> {
    if let Some(why) = forks_lost(session, &runs) {
        distrust_forks(
            session,
            format!("forks of the collected suite give no outcome ({why})"),
        );
        return Ok(true);
    }
    if different(session, tests, &runs).is_empty() {
        return Ok(false);
    }
    runs.extend(look(session, tests, FIRST_LOOK..SECOND_LOOK)?);
    let different = different(session, tests, &runs);
    if let Some(example) = different.first() {
        let id = session.lab.suite().id(*example).clone();
        let behave = match different.len() {
            1 => "1 test behaves".to_owned(),
            many => format!("{many} tests behave"),
        };
        let why = format!("{behave} differently in forked processes, e.g. `{id}`");
        let few = FEW.max(tests.len() * FEW_OF_A_HUNDRED / 100);
        if tests.len() >= SMALL && different.len() <= few {
            session.notes.push(format!(
                "{why}: what is said of it comes from interpreters of its own, in fewer orders than of the others"
            ));
            session.evidence.set_apart(different);
            return Ok(false);
        }
        distrust_forks(session, why);
        return Ok(true);
    }
    Ok(false)
}

fn distrust_forks(session: &mut Session<'_>, why: String) {
    session.warm = Isolation::Fresh;
    let all = session.tests();
    session.evidence.set_apart(all);
    session.notes.push(format!(
        "{why}: every run gets an interpreter of its own, which is slower"
    ));
}

/// Why no fork came to an end although some pristine interpreter did.
fn forks_lost(session: &Session<'_>, runs: &[usize]) -> Option<String> {
    let (pristine, forks): (Vec<_>, Vec<_>) = runs
        .iter()
        .map(|run| session.at(*run))
        .partition(|run| run.isolation.is_pristine());
    let why = |run: &&Run| match &run.ending {
        Ending::Lost(why) => Some(why.clone()),
        _ => None,
    };
    let reasons: Option<Vec<String>> = forks.iter().map(why).collect();
    let first = reasons?.into_iter().next()?;
    pristine
        .iter()
        .any(|run| why(run).is_none())
        .then_some(first)
}

/// Tests with one verdict in all forks and the other one in all fresh interpreters.
fn different(session: &Session<'_>, tests: &[TestIndex], runs: &[usize]) -> Vec<TestIndex> {
    let verdict = |at: usize, pristine: bool| {
        let mut verdicts = runs
            .iter()
            .map(|run| session.at(*run))
            .filter(|run| run.isolation.is_pristine() == pristine)
            .map(|run| run.outcomes[at].polarity());
        let first = verdicts.next()?;
        (first != Polarity::Neutral && verdicts.all(|other| other == first)).then_some(first)
    };
    tests
        .iter()
        .enumerate()
        .filter(|(_, test)| !session.evidence.is_apart(**test))
        .filter(|(at, _)| match (verdict(*at, false), verdict(*at, true)) {
            (Some(forked), Some(pristine)) => forked != pristine,
            _ => false,
        })
        .map(|(_, test)| *test)
        .collect()
}

pub(crate) fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}
