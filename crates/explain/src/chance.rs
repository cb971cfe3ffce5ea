//! Culprits that do it only sometimes: every question is asked often enough to hear about it.
//!
//! A verdict that comes and goes proves nothing in one run. What is published here changed the verdict in
//! fresh interpreters, and does it often enough that the target, left alone as often, would have shown it.

use flakelab_lab::{LabError, delta};
use flakelab_model::TestIndex;

use crate::ask;
use crate::culprits::Case;
use crate::finding::{Culprits, Explanation, Rate};
use crate::session::{Session, before};

/// Runs that tell how often an order does it.
const RATE_RUNS: u32 = 40;
/// Of these, at least so many: at 5 of 40, a target that never does it alone in 40 runs would be a wonder
/// of 1 in 200 if the others had no part in it.
const LEAST: u64 = 5;
/// A candidate that does it as often as the whole order is passed over with this probability.
const OVERLOOKED: f64 = 1e-4;
/// Candidates that delta debugging may ask about.
const MOST_CANDIDATES: usize = 60;
/// Orders that are looked at.
const MOST_ORDERS: usize = 3;
/// Rounds of fresh interpreters, until one shows it.
const MOST_ROUNDS: u32 = 8;

/// What more runs made of a set of tests.
enum Trial {
    /// They do it now and then, and none of these can be left out.
    Sometimes(Vec<TestIndex>),
    /// They do it every time here, so it is fresh interpreters that differ.
    Always,
    Seldom,
}

/// `sets` changed the verdict before, but fresh interpreters did not all agree; if it is none of them, it
/// is somebody in the `prefixes` of orders that were seen to do it.
pub(crate) fn find(
    session: &mut Session<'_>,
    case: Case,
    sets: Vec<Vec<TestIndex>>,
    prefixes: Vec<Vec<TestIndex>>,
    explanation: &mut Explanation,
) -> Result<(), LabError> {
    if session.out_of_budget || (sets.is_empty() && prefixes.is_empty()) {
        return Ok(());
    }
    let alone = ask::rates(session, &[vec![case.target]], case.warm, RATE_RUNS)?[0];
    if alone.share_of(case.other()) > 0 {
        explanation.note("it varies alone as well: no other test is needed for that");
        return Ok(());
    }
    for set in sets {
        match reduce(session, case, set.clone())? {
            Trial::Sometimes(tests) => publish(session, case, tests, explanation)?,
            Trial::Always => settle(session, case, set, explanation)?,
            Trial::Seldom => {}
        }
    }
    for prefix in prefixes.into_iter().take(MOST_ORDERS) {
        if session.out_of_budget || !explanation.culprits.is_empty() {
            break;
        }
        if let Trial::Sometimes(tests) = reduce(session, case, prefix)? {
            publish(session, case, tests, explanation)?;
        }
    }
    Ok(())
}

fn names(session: &Session<'_>, tests: &[TestIndex]) -> String {
    let names: Vec<String> = tests
        .iter()
        .map(|test| format!("`{}`", session.lab.suite().id(*test)))
        .collect();
    names.join(", ")
}

fn reduce(session: &mut Session<'_>, case: Case, set: Vec<TestIndex>) -> Result<Trial, LabError> {
    let whole = [before(&set, case.target)];
    let rate = ask::rates(session, &whole, case.warm, RATE_RUNS)?[0];
    let hits = rate.share_of(case.other());
    if hits < LEAST {
        return Ok(Trial::Seldom);
    }
    if hits == rate.of {
        return Ok(Trial::Always);
    }
    let times = enough(hits as f64 / rate.of as f64);
    let tests = delta::minimise(set, MOST_CANDIDATES, &mut |candidates| {
        if session.out_of_budget {
            return Ok(Vec::new());
        }
        let orders: Vec<_> = candidates
            .iter()
            .map(|part| before(part, case.target))
            .collect();
        let rates = ask::rates(session, &orders, case.warm, times)?;
        let hit = |rate: Rate| rate.share_of(case.other()) > 0;
        Ok(rates.into_iter().map(hit).collect())
    })?;
    Ok(Trial::Sometimes(tests))
}

/// Runs after which something of this rate has most likely shown itself.
fn enough(rate: f64) -> u32 {
    let times = OVERLOOKED.ln() / (1.0 - rate).ln();
    (times.ceil().max(3.0) as u32).min(RATE_RUNS)
}

/// The rate among fresh interpreters, whose hash seeds differ, of what forks show every time.
fn settle(
    session: &mut Session<'_>,
    case: Case,
    tests: Vec<TestIndex>,
    explanation: &mut Explanation,
) -> Result<(), LabError> {
    let order = before(&tests, case.target);
    let mut rate = Rate::default();
    let mut plain = true;
    for round in 1..=MOST_ROUNDS {
        let answer = ask::again(session, &order, round)?;
        rate.failed += answer.failed;
        rate.of += answer.failed + answer.passed;
        plain &= answer.plain;
    }
    if rate.share_of(case.other()) > 0 {
        explanation.culprits.push(Culprits {
            tests,
            rate: Some(rate),
            plain,
        });
    } else if !session.out_of_budget {
        explanation.note(format!(
            "forks showed the change after {}, fresh interpreters did not: left out",
            names(session, &tests)
        ));
    }
    Ok(())
}

/// With its rate, if fresh interpreters show it too.
fn publish(
    session: &mut Session<'_>,
    case: Case,
    tests: Vec<TestIndex>,
    explanation: &mut Explanation,
) -> Result<(), LabError> {
    let order = before(&tests, case.target);
    let rate = ask::rates(session, std::slice::from_ref(&order), case.warm, RATE_RUNS)?[0];
    let hits = rate.share_of(case.other());
    let known = explanation.culprits.iter().any(|c| c.tests == tests);
    if hits < LEAST || known {
        return Ok(());
    }
    for round in 1..=MOST_ROUNDS {
        let answer = ask::again(session, &order, round)?;
        if answer.some(case.other()) {
            if let Some(failure) = &answer.failure {
                explanation.failure.get_or_insert_with(|| failure.clone());
            }
            let always = hits == rate.of && answer.all(case.other());
            explanation.culprits.push(Culprits {
                tests,
                rate: (!always).then_some(rate),
                plain: answer.plain,
            });
            return Ok(());
        }
        if session.out_of_budget {
            return Ok(());
        }
    }
    explanation.note(format!(
        "forks showed the change after {} now and then, fresh interpreters did not: left out",
        names(session, &tests)
    ));
    Ok(())
}
