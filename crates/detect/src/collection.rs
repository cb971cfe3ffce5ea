//! Tests that fail because of what was collected with them: that another file is imported is enough, whether
//! its tests run before or after.

use std::collections::BTreeMap;

use flakelab_lab::{LabError, delta};
use flakelab_model::{Polarity, TestIndex};

use crate::confirm::{self, ColdRuns, Question};
use crate::evidence::Purpose;
use crate::session::Session;

/// Whether a test also fails before the tests it fails after: then it is not what they do, but that they
/// are imported.
pub(crate) fn fails_in_any_order(
    session: &mut Session<'_>,
    order: &[TestIndex],
    at: usize,
) -> Result<bool, LabError> {
    let test = order[at];
    // In a fork everything is imported: only a test that fails alone there can be of this kind.
    let evidence = &session.evidence;
    let fails_alone = evidence
        .with_polarity(test, Polarity::Fail)
        .any(|s| evidence.run(s).purpose == Purpose::Alone);
    if !fails_alone {
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
    Ok(answer.tally.always_failed())
}

/// Runs that the search for those files may use: halving a thousand files takes two dozen.
const MOST_RUNS: usize = 60;

/// Tests of other files, one of each, that are enough before the test or after it, followed by the test; and what that order
/// came to.
pub(crate) fn other_files(
    session: &mut Session<'_>,
    order: &[TestIndex],
    at: usize,
) -> Result<Option<(Vec<TestIndex>, ColdRuns)>, LabError> {
    let test = order[at];
    let suite = session.lab.suite();
    let mut files: BTreeMap<&str, TestIndex> = BTreeMap::new();
    for other in order {
        files.entry(suite.id(*other).module()).or_insert(*other);
    }
    files.remove(suite.id(test).module());
    let all: Vec<TestIndex> = files.into_values().collect();
    let with = |part: &[TestIndex], times| {
        let order = part.iter().copied().chain([test]).collect();
        Question::last(order, times)
    };
    let answer = confirm::ask(session, Purpose::Confirm, &[with(&all, 1)])?.remove(0);
    if !answer.tally.always_failed() {
        return Ok(None);
    }
    let few = delta::minimise(all, MOST_RUNS, &mut |parts| {
        if session.spent {
            return Ok(Vec::new());
        }
        let questions: Vec<Question> = parts.iter().map(|part| with(part, 1)).collect();
        let answers = confirm::ask(session, Purpose::Confirm, &questions)?;
        Ok(answers.iter().map(|a| a.tally.always_failed()).collect())
    })?;
    let question = with(&few, session.settings.confirmations);
    let order = question.order.clone();
    let answer = confirm::ask(session, Purpose::Confirm, &[question])?.remove(0);
    let holds =
        answer.tally.always_failed() && fails_in_any_order(session, &order, order.len() - 1)?;
    Ok(holds.then_some((order, answer)))
}
