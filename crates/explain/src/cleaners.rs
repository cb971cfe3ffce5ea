//! Who undoes what the polluters did.

use flakelab_lab::{LabError, delta};
use flakelab_model::{Isolation, TestIndex};

use crate::ask;
use crate::culprits::Case;
use crate::finding::{Cleaning, Explanation};
use crate::session::{Session, Stage};

/// Cleaners that are confirmed for one set of polluters, unless all are asked for.
const MOST_CLEANERS: usize = 3;
/// Suites beyond this are not searched test by test for a cleaner, unless all are asked for.
const MOST_TESTS: usize = 2_000;
/// Runs that delta debugging may use for one set of cleaners.
const MOST_RUNS: usize = 300;

/// `cures` are tests that an order has shown to help.
pub(crate) fn find(
    session: &mut Session<'_>,
    case: Case,
    cures: &[TestIndex],
    explanation: &mut Explanation,
) -> Result<(), LabError> {
    let sets: Vec<Vec<TestIndex>> = explanation
        .culprits
        .iter()
        .filter(|culprits| culprits.rate.is_none())
        .map(|culprits| culprits.tests.clone())
        .collect();
    for polluters in sets {
        if session.out_of_budget {
            return Ok(());
        }
        let likely: Vec<TestIndex> = cures
            .iter()
            .copied()
            .filter(|test| !polluters.contains(test))
            .collect();
        let mut found = Vec::new();
        let everybody = everybody_else(session, case, &polluters);
        let small = everybody.len() <= MOST_TESTS;
        if !session.settings.all {
            found = singles(session, case, &polluters, &likely)?;
        }
        if found.is_empty() && (small || session.settings.all) {
            found = singles(session, case, &polluters, &everybody)?;
        }
        if !session.settings.all {
            found.truncate(MOST_CLEANERS);
        }
        let mut sets: Vec<Vec<TestIndex>> = found.into_iter().map(|test| vec![test]).collect();
        if sets.is_empty() && (small || session.settings.all) {
            sets.extend(several(session, case, &polluters, everybody)?);
        }
        confirm(session, case, &polluters, sets, explanation)?;
    }
    Ok(())
}

fn everybody_else(session: &Session<'_>, case: Case, polluters: &[TestIndex]) -> Vec<TestIndex> {
    session
        .lab
        .suite()
        .indices()
        .filter(|test| *test != case.target && !polluters.contains(test))
        .collect()
}

fn between(polluters: &[TestIndex], cleaners: &[TestIndex], target: TestIndex) -> Vec<TestIndex> {
    let both = polluters.iter().chain(cleaners);
    both.copied().chain([target]).collect()
}

/// Single tests that cure, out of these.
fn singles(
    session: &mut Session<'_>,
    case: Case,
    polluters: &[TestIndex],
    tests: &[TestIndex],
) -> Result<Vec<TestIndex>, LabError> {
    let orders = tests
        .iter()
        .map(|test| between(polluters, &[*test], case.target))
        .collect();
    let isolation = match case.warm {
        // The polluters run once.
        Isolation::Fork => Isolation::Shared,
        other => other,
    };
    let verdicts = session.verdicts(Stage::Cleaners, orders, isolation)?;
    Ok(tests
        .iter()
        .zip(verdicts)
        .filter(|(_, verdict)| *verdict == Some(case.alone))
        .map(|(test, _)| *test)
        .collect())
}

/// Several tests that cure together, if all others together do.
fn several(
    session: &mut Session<'_>,
    case: Case,
    polluters: &[TestIndex],
    everybody: Vec<TestIndex>,
) -> Result<Option<Vec<TestIndex>>, LabError> {
    let backwards: Vec<TestIndex> = everybody.iter().rev().copied().collect();
    let candidates = [everybody, backwards];
    let orders = candidates
        .iter()
        .map(|tests| between(polluters, tests, case.target))
        .collect();
    let verdicts = session.verdicts(Stage::Cleaners, orders, case.warm)?;
    let hit = verdicts
        .iter()
        .position(|verdict| *verdict == Some(case.alone));
    let Some(hit) = hit else {
        return Ok(None);
    };
    let [forwards, backwards] = candidates;
    let tests = if hit == 0 { forwards } else { backwards };
    delta::minimise(tests, MOST_RUNS, &mut |parts| {
        if session.out_of_budget {
            return Ok(Vec::new());
        }
        let orders = parts
            .iter()
            .map(|part| between(polluters, part, case.target))
            .collect();
        let verdicts = session.verdicts(Stage::Cleaners, orders, case.warm)?;
        Ok(verdicts
            .into_iter()
            .map(|verdict| verdict == Some(case.alone))
            .collect())
    })
    .map(Some)
}

fn confirm(
    session: &mut Session<'_>,
    case: Case,
    polluters: &[TestIndex],
    sets: Vec<Vec<TestIndex>>,
    explanation: &mut Explanation,
) -> Result<(), LabError> {
    let orders: Vec<_> = sets
        .iter()
        .map(|set| between(polluters, set, case.target))
        .collect();
    let answers = ask::ask(session, &orders)?;
    for (cleaners, answer) in sets.into_iter().zip(answers) {
        if answer.all(case.alone) {
            explanation.cleanings.push(Cleaning {
                polluters: polluters.to_vec(),
                cleaners,
            });
        }
    }
    Ok(())
}
