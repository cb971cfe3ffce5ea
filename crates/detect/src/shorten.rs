//! From an order that shows a verdict to a few tests that suffice for it.
//!
//! First the likely culprits one by one, ranked by how well "ran before" predicts the verdict; then
//! delta debugging (Zeller and Hildebrandt) of the shortest prefix that shows it. Both are searches in
//! forks; what they find is confirmed elsewhere. A verdict that forks show with nothing before the test cannot be looked
//! for there: then it is one of the imports that forks have all made, or nothing.

use std::collections::HashMap;

use flakelab_lab::{LabError, delta};
use flakelab_model::{Isolation, Order, Polarity, TestIndex};

use crate::collection;
use crate::evidence::Purpose;
use crate::session::{Session, Stage};

/// How many single culprits are tried before delta debugging.
const GUESSES: usize = 12;
const GUESSES_AT_FIRST: usize = 3;
/// Runs that delta debugging may use for one test; a 1-minimal set of an order of 1,000 tests takes
/// a few dozen.
const MOST_RUNS: usize = 400;

/// One test and the verdict its short order must show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Goal {
    pub(crate) test: TestIndex,
    pub(crate) verdict: Polarity,
}

/// For each goal a short list of tests to run before the test, if any order showed the verdict.
pub(crate) fn shorten(
    session: &mut Session<'_>,
    goals: &[Goal],
) -> Result<Vec<Option<Vec<TestIndex>>>, LabError> {
    let mut found: Vec<Option<Vec<TestIndex>>> = vec![None; goals.len()];
    for (goal, found) in goals.iter().zip(&mut found) {
        if collection::forks_show_it_alone(session, *goal) {
            *found = without_forks(session, *goal)?;
        }
    }
    let guess = |goal: &Goal| match collection::forks_show_it_alone(session, *goal) {
        true => Vec::new(),
        false => rank(session, *goal),
    };
    let guesses: Vec<Vec<TestIndex>> = goals.iter().map(guess).collect();
    // The best few first: they are mostly right.
    for round in [0..GUESSES_AT_FIRST, GUESSES_AT_FIRST..GUESSES] {
        let tried: Vec<(usize, TestIndex)> = guesses
            .iter()
            .enumerate()
            .filter(|(at, _)| found[*at].is_none())
            .flat_map(|(at, guesses)| {
                let last = round.end.min(guesses.len());
                guesses[round.start.min(last)..last]
                    .iter()
                    .map(move |guess| (at, *guess))
            })
            .collect();
        let batch: Vec<_> = tried
            .iter()
            .map(|(at, guess)| {
                let test = goals[*at].test;
                let order = Order(vec![*guess, test]);
                let request = session.request(order, session.warm_for(test), 0);
                (Purpose::Shorten, request)
            })
            .collect();
        session.watch.stage(Stage::Shorten, batch.len());
        let runs = session.run(Stage::Shorten, batch)?;
        for ((at, guess), run) in tried.into_iter().zip(runs) {
            if found[at].is_none() && run.is_some_and(|run| shows(session, run, goals[at])) {
                found[at] = Some(vec![guess]);
            }
        }
    }
    for (goal, found) in goals.iter().zip(&mut found) {
        if found.is_none()
            && !collection::forks_show_it_alone(session, *goal)
            && let Some(prefix) = shortest_prefix(session, *goal, |_| true)
        {
            *found = Some(minimise(
                session,
                *goal,
                prefix,
                session.warm_for(goal.test),
            )?);
        }
    }
    Ok(found)
}

/// The same in pristine interpreters, which import only the files of their order.
fn without_forks(
    session: &mut Session<'_>,
    goal: Goal,
) -> Result<Option<Vec<TestIndex>>, LabError> {
    let passes = |test: &TestIndex| {
        let mut passes = session.evidence.with_polarity(*test, Polarity::Pass);
        passes.next().is_some()
    };
    let among: Vec<TestIndex> = session.tests().filter(passes).collect();
    if let Some(few) = collection::few_files(session, &among, goal)? {
        return Ok(Some(few));
    }
    match shortest_prefix(session, goal, Isolation::is_pristine) {
        Some(prefix) => minimise(session, goal, prefix, Isolation::Fresh).map(Some),
        None => Ok(None),
    }
}

fn shows(session: &Session<'_>, run: usize, goal: Goal) -> bool {
    let run = session.at(run);
    run.outcomes.last().map(|o| o.polarity()) == Some(goal.verdict)
}

fn shortest_prefix(
    session: &Session<'_>,
    goal: Goal,
    counts: impl Fn(Isolation) -> bool,
) -> Option<Vec<TestIndex>> {
    let sighting = session
        .evidence
        .with_polarity(goal.test, goal.verdict)
        .filter(|s| s.at > 0 && counts(session.evidence.run(*s).isolation))
        .min_by_key(|s| (s.at, s.run))?;
    Some(session.evidence.run(sighting).order.0[..sighting.at as usize].to_vec())
}

/// Tests that ran before whenever the verdict came, and seldom when it did not; the one right before
/// first, because what it left is freshest.
fn rank(session: &Session<'_>, goal: Goal) -> Vec<TestIndex> {
    let evidence = &session.evidence;
    let mut scores: HashMap<TestIndex, (i64, u32)> = HashMap::new();
    for sighting in evidence.sightings(goal.test) {
        let weight = match evidence.outcome(*sighting).polarity() {
            Polarity::Neutral => continue,
            verdict if verdict == goal.verdict => 1,
            _ => -1,
        };
        let prefix = &evidence.run(*sighting).order.0[..sighting.at as usize];
        for test in prefix {
            scores.entry(*test).or_default().0 += weight;
        }
        if weight > 0
            && let Some(last) = prefix.last()
        {
            scores.entry(*last).or_default().1 += 1;
        }
    }
    scores.remove(&goal.test);
    let mut by_score: Vec<_> = scores.iter().collect();
    by_score.sort_by_key(|(test, (score, _))| (-score, **test));
    let mut by_nearness: Vec<_> = scores.iter().filter(|(_, (_, near))| *near > 0).collect();
    by_nearness.sort_by_key(|(test, (score, near))| (-i64::from(*near), -score, **test));
    let mut ranked: Vec<TestIndex> = Vec::new();
    for (a, b) in by_score
        .iter()
        .zip(by_nearness.iter().map(Some).chain(std::iter::repeat(None)))
    {
        for (test, _) in std::iter::once(a).chain(b) {
            if !ranked.contains(test) {
                ranked.push(**test);
            }
        }
        if ranked.len() >= GUESSES {
            break;
        }
    }
    ranked
}

/// A 1-minimal part of the prefix, in its order.
fn minimise(
    session: &mut Session<'_>,
    goal: Goal,
    prefix: Vec<TestIndex>,
    isolation: Isolation,
) -> Result<Vec<TestIndex>, LabError> {
    delta::minimise(prefix, MOST_RUNS, &mut |candidates| {
        if session.spent {
            return Ok(Vec::new());
        }
        let batch: Vec<_> = candidates
            .iter()
            .map(|part| {
                let order = Order(part.iter().copied().chain([goal.test]).collect());
                (Purpose::Shorten, session.request(order, isolation, 0))
            })
            .collect();
        let runs = session.run(Stage::Shorten, batch)?;
        Ok(runs
            .into_iter()
            .map(|run| run.is_some_and(|run| shows(session, run, goal)))
            .collect())
    })
}
