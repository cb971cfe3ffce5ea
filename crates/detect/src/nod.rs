//! Tests that differ under one and the same prefix, and whether the order plays a part all the same.
//!
//! Runs that decide here are made one at a time: a machine that is busy with other runs, or a port
//! that another run has taken, must not make a test look non-deterministic.

use flakelab_lab::LabError;
use flakelab_model::{Class, Isolation, Order, Polarity, TestIndex};
use flakelab_stats::fisher_two_sided;

use crate::classify::Suspect;
use crate::confirm::{self, ColdRuns, Question};
use crate::evidence::{Purpose, Sighting};
use crate::finding::{Command, Finding, Tally};
use crate::session::{Session, Stage};

/// Below this p-value two failure rates are said to differ.
const SIGNIFICANCE: f64 = 0.01;
/// Executions of each order for the comparison of rates: rates of 10 % and 60 % are told apart with
/// a probability of 80 %.
const SAMPLE: u32 = 20;
/// Rounds of undisturbed runs before a failure that was seen beside others counts as caused by them.
const QUIET_ROUNDS: u32 = 3;
/// Attempts of earlier stages stay below.
const FIRST_ATTEMPT: u32 = 30_000;

/// Passed and failed alone in fresh interpreters.
pub(crate) fn alone(session: &mut Session<'_>, suspect: &Suspect) -> Result<Finding, LabError> {
    let mut finding = suspect.finding(session);
    let seed = hash_seed(session, suspect)?;
    if seed.is_none() {
        // A rare failure may stay away for a while; only a long absence says that others caused it.
        let times = session.settings.isolated;
        let mut quiet = Tally::default();
        for round in 0..QUIET_ROUNDS {
            let question =
                Question::alone(suspect.test, times).again(FIRST_ATTEMPT + round * times);
            let answer = confirm::ask_undisturbed(session, Purpose::Confirm, &question)?;
            quiet.passed += answer.tally.passed;
            quiet.failed += answer.tally.failed;
            if quiet.failed > 0 || answer.tally.total() == 0 {
                break;
            }
        }
        if quiet.always_passed() {
            finding.why = format!(
                "failed {} of {} times alone beside other runs, but passed {} of {} times on its own",
                suspect.alone.tally.failed,
                suspect.alone.tally.total(),
                quiet.passed,
                quiet.total()
            );
            finding.confirmed = quiet;
            return Ok(finding);
        }
        finding.confirmed = quiet;
    }
    finding.class = Class::NonDeterministic;
    finding.why = match seed {
        Some(seed) => {
            format!("its outcome depends on the hash seed: it fails with PYTHONHASHSEED={seed}")
        }
        None => format!(
            "failed {} of {} times alone in fresh interpreters",
            suspect.alone.tally.failed,
            suspect.alone.tally.total()
        ),
    };
    finding.failure = suspect.alone.failure.clone().or(finding.failure);
    finding.reproduce = Some(Command {
        order: vec![suspect.test],
        hash_seed: seed,
        plain: suspect.alone.plain,
    });
    if seed.is_none() {
        finding.order_effect = order_effect(session, suspect.test)?;
    }
    Ok(finding)
}

/// Disagreed with itself under one prefix in forks. `None` if fresh interpreters agree with each other:
/// then the question is what the order does.
pub(crate) fn in_order(
    session: &mut Session<'_>,
    suspect: &Suspect,
    sighting: Sighting,
) -> Result<Option<Finding>, LabError> {
    let order = session
        .evidence
        .run(sighting)
        .order
        .through(sighting.at as usize)
        .0;
    let at = sighting.at as usize;
    let question = Question {
        order: order.clone(),
        at,
        times: session.settings.isolated,
        from: FIRST_ATTEMPT,
    };
    let answer = confirm::ask_undisturbed(session, Purpose::Confirm, &question)?;
    if answer.tally.mixed() {
        let mut finding = suspect.finding(session);
        finding.confirmed = answer.tally;
        after_order(session, suspect, order, at, answer, &mut finding)?;
        return Ok(Some(finding));
    }
    Ok(None)
}

/// Always the same alone, but not after an order: chance and order both play a part.
pub(crate) fn after_order(
    session: &mut Session<'_>,
    suspect: &Suspect,
    order: Vec<TestIndex>,
    at: usize,
    answer: ColdRuns,
    finding: &mut Finding,
) -> Result<(), LabError> {
    finding.class = Class::NonDeterministic;
    finding.why = format!(
        "failed {} of {} times after the same tests in fresh interpreters, and {} of {} times alone",
        answer.tally.failed,
        answer.tally.total(),
        suspect.alone.tally.failed,
        suspect.alone.tally.total()
    );
    finding.failure = answer.failure.or(finding.failure.take());
    finding.reproduce = Some(Command {
        plain: answer.plain && at + 1 == order.len(),
        order,
        hash_seed: None,
    });
    let p = compare(suspect.alone.tally, answer.tally);
    finding.order_effect = if p < SIGNIFICANCE {
        Some(p)
    } else {
        order_effect(session, suspect.test)?
    };
    Ok(())
}

fn compare(a: Tally, b: Tally) -> f64 {
    fisher_two_sided(a.failed, a.total(), b.failed, b.total())
}

/// A hash seed with which the test fails every time, if the seed decides: seeds it failed with fail
/// again, seeds it passed with pass again.
fn hash_seed(session: &mut Session<'_>, suspect: &Suspect) -> Result<Option<u32>, LabError> {
    let pick = |verdict: Polarity| -> Vec<u32> {
        suspect
            .alone
            .by_seed
            .iter()
            .filter(|(_, v)| *v == verdict)
            .map(|(seed, _)| *seed)
            .take(2)
            .collect()
    };
    let (failing, passing) = (pick(Polarity::Fail), pick(Polarity::Pass));
    for (seeds, fails) in [(&failing, true), (&passing, false)] {
        for seed in seeds {
            let tally = confirm::ask_with_seed(session, suspect.test, *seed, 3)?;
            let repeats = if fails {
                tally.always_failed()
            } else {
                tally.always_passed()
            };
            if !repeats {
                return Ok(None);
            }
        }
    }
    Ok(failing.first().copied())
}

/// The p-value of equal failure rates alone and after the order it failed in, if significant.
fn order_effect(session: &mut Session<'_>, test: TestIndex) -> Result<Option<f64>, LabError> {
    let Some(failing) = session
        .evidence
        .with_polarity(test, Polarity::Fail)
        .filter(|s| s.at > 0)
        .max_by_key(|s| (s.at, std::cmp::Reverse(s.run)))
    else {
        return Ok(None);
    };
    let order = session
        .evidence
        .run(failing)
        .order
        .through(failing.at as usize);
    let mut tallies = Vec::new();
    for (order, at) in [(Order(vec![test]), 0), (order, failing.at as usize)] {
        let mut tally = Tally::default();
        for attempt in 0..SAMPLE {
            let request = session.request(order.clone(), Isolation::Fresh, FIRST_ATTEMPT + attempt);
            let run = session.run_undisturbed(Stage::Confirm, Purpose::Confirm, request)?;
            if let Some(run) = run {
                tally.count(session.at(run).outcomes[at].polarity());
            }
        }
        tallies.push(tally);
    }
    let p = compare(tallies[0], tallies[1]);
    Ok((p < SIGNIFICANCE).then_some(p))
}
