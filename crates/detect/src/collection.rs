//! Tests whose verdict is that of what was collected with them: that another file is imported is enough, whether
//! its tests run before or after.

use std::collections::BTreeMap;

use flakelab_lab::{LabError, delta};
use flakelab_model::{Isolation, Order, Polarity, TestIndex};

use crate::confirm::{self, ColdRuns, Question};
use crate::evidence::Purpose;
use crate::finding::Tally;
use crate::session::{Session, Stage};
use crate::shorten::Goal;

/// Whether forks show the verdict with nothing before the test. There everything is imported; only a verdict that
/// comes like this can be brought about by imports, and no fork can tell by which.
pub(crate) fn forks_show_it_alone(session: &Session<'_>, goal: Goal) -> bool {
    let evidence = &session.evidence;
    evidence
        .with_polarity(goal.test, goal.verdict)
        .any(|s| s.at == 0 && !evidence.run(s).isolation.is_pristine())
}

/// Whether a test also comes to its verdict before the tests it comes to it after: then it is not what they do, but that
/// they are imported.
pub(crate) fn holds_in_any_order(
    session: &mut Session<'_>,
    order: &[TestIndex],
    at: usize,
    verdict: Polarity,
) -> Result<bool, LabError> {
    let test = order[at];
    if !forks_show_it_alone(session, Goal { test, verdict }) {
        return Ok(false);
    }
    let question = Question {
        order: [test]
            .into_iter()
            .chain(order.iter().copied().filter(|other| *other != test))
            .collect(),
        at: 0,
        times: session.settings.confirmations,
        from: 0,
    };
    let answer = confirm::ask(session, Purpose::Confirm, &[question])?.remove(0);
    Ok(always(answer.tally, verdict))
}

fn always(tally: Tally, verdict: Polarity) -> bool {
    match verdict {
        Polarity::Fail => tally.always_failed(),
        _ => tally.always_passed(),
    }
}

/// Runs that the search for those files may use: halving a thousand files takes two dozen.
const MOST_RUNS: usize = 60;

/// Of these tests one of each other file, as few as are enough before the test for its verdict; `None` if all of them
/// are not.
pub(crate) fn few_files(
    session: &mut Session<'_>,
    among: &[TestIndex],
    goal: Goal,
) -> Result<Option<Vec<TestIndex>>, LabError> {
    let suite = session.lab.suite();
    let mut files: BTreeMap<&str, TestIndex> = BTreeMap::new();
    for other in among {
        files.entry(suite.id(*other).module()).or_insert(*other);
    }
    files.remove(suite.id(goal.test).module());
    let all: Vec<TestIndex> = files.into_values().collect();
    if all.is_empty() || !show(session, std::slice::from_ref(&all), goal)?[0] {
        return Ok(None);
    }
    delta::minimise(all, MOST_RUNS, &mut |parts| {
        if session.spent {
            return Ok(Vec::new());
        }
        show(session, parts, goal)
    })
    .map(Some)
}

/// Whether the test comes to its verdict after each of these, where nothing else is imported.
fn show(
    session: &mut Session<'_>,
    parts: &[Vec<TestIndex>],
    goal: Goal,
) -> Result<Vec<bool>, LabError> {
    let batch = parts
        .iter()
        .map(|part| {
            let order = Order(part.iter().copied().chain([goal.test]).collect());
            // The hash seed of a template that every baseline has started.
            (
                Purpose::Shorten,
                session.request(order, Isolation::Fresh, 1),
            )
        })
        .collect();
    let runs = session.run(Stage::Shorten, batch)?;
    let shows = |run: usize| {
        let last = session.at(run).outcomes.last();
        last.is_some_and(|outcome| outcome.polarity() == goal.verdict)
    };
    Ok(runs.into_iter().map(|run| run.is_some_and(shows)).collect())
}

/// Tests of other files, one of each, that are enough before the test or after it for it to fail, followed by the test; and
/// what that order came to.
pub(crate) fn other_files(
    session: &mut Session<'_>,
    order: &[TestIndex],
    at: usize,
) -> Result<Option<(Vec<TestIndex>, ColdRuns)>, LabError> {
    let goal = Goal {
        test: order[at],
        verdict: Polarity::Fail,
    };
    let Some(few) = few_files(session, order, goal)? else {
        return Ok(None);
    };
    let order: Vec<TestIndex> = few.into_iter().chain([goal.test]).collect();
    let question = Question::last(order.clone(), session.settings.confirmations);
    let answer = confirm::ask(session, Purpose::Confirm, &[question])?.remove(0);
    let holds = answer.tally.always_failed()
        && holds_in_any_order(session, &order, order.len() - 1, Polarity::Fail)?;
    Ok(holds.then_some((order, answer)))
}
