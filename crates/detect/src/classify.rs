//! From suspects to verdicts (iPFlakies, section 4.2.1, step 2): alone in fresh interpreters a victim
//! always passes and a brittle always fails; whatever does neither is non-deterministic.
//!
//! The order of questions matters: what follows a test first, then chance, then what precedes it.

use std::collections::BTreeMap;
use std::sync::Arc;

use flakelab_lab::{Lab, LabError};
use flakelab_model::{Class, Ending, Failure, Outcome, Polarity, TestIndex};

use crate::baseline;
use crate::collection;
use crate::confirm::{self, ColdRuns, Question};
use crate::evidence::Purpose;
use crate::finding::{Command, Detection, Finding, Tally};
use crate::nod;
use crate::position;
use crate::search;
use crate::session::{Session, Settings, Watch};
use crate::shorten::{self, Goal};
use crate::verify::{self, Verified};

/// Tests that fail in every run are asked alone once, to tell "always failing" from "fails with this
/// suite around it"; at most so many, because a broken environment makes whole suites fail.
const MOST_FAILING_ASKED: usize = 50;

/// Runs the whole campaign.
pub fn detect(
    lab: &mut dyn Lab,
    settings: &Settings,
    watch: &mut dyn Watch,
) -> Result<Detection, LabError> {
    let mut session = Session::new(lab, settings, watch);
    let tests = baseline::establish(&mut session)?;
    let mut suspects = search::search(&mut session, &tests)?;
    let mut findings = BTreeMap::new();

    let passing_alone = ask_failing(&mut session, &suspects.failing, &mut findings)?;
    suspects.varying.extend(passing_alone);
    suspects.varying.sort();
    classify_varying(&mut session, &suspects.varying, &mut findings)?;
    classify_masked(&mut session, &suspects.masked, &mut findings)?;
    classify_repeating(&mut session, &suspects.repeating, &mut findings)?;
    account_for_the_rest(&session, &tests, &mut findings);

    if let (number, Some(why)) = session.evidence.lost() {
        let note = format!("{} gave no outcome: {why}", baseline::count(number, "run"));
        session.notes.push(note);
    }
    if session.spent {
        let open = findings
            .values()
            .filter(|f| f.class == Class::Unconfirmed)
            .count();
        if open > 0 {
            session.notes.push(format!(
                "the budget ended before {} could be confirmed",
                baseline::count(open, "test")
            ));
        }
    }
    Ok(Detection {
        rates: session
            .tests()
            .map(|test| session.evidence.rate(test))
            .collect(),
        orders: session.evidence.orders_by_kind(),
        runs: session.evidence.runs.len() as u64,
        notes: session.notes.clone(),
        out_of_budget: session.out_of_budget,
        elapsed: session.elapsed(),
        findings: findings.into_values().collect(),
    })
}

/// A finding with what the search knows; the caller fills in the verdict.
pub(crate) fn draft(session: &Session<'_>, test: TestIndex) -> Finding {
    let failure = session
        .evidence
        .with_polarity(test, Polarity::Fail)
        .find_map(|s| session.evidence.outcome(s).failure().cloned());
    Finding {
        test,
        class: Class::Unconfirmed,
        also: Vec::new(),
        order_effect: None,
        rate: session.evidence.rate(test),
        failure,
        reproduce: None,
        passing_order: None,
        reruns: Tally::default(),
        isolated: Tally::default(),
        confirmed: Tally::default(),
        why: String::new(),
    }
}

/// Settles the always failing; returns those that pass alone in a fresh interpreter.
fn ask_failing(
    session: &mut Session<'_>,
    failing: &[TestIndex],
    findings: &mut BTreeMap<TestIndex, Finding>,
) -> Result<Vec<TestIndex>, LabError> {
    let asked = &failing[..failing.len().min(MOST_FAILING_ASKED)];
    let questions: Vec<_> = asked.iter().map(|test| Question::alone(*test, 1)).collect();
    let answers = confirm::ask(session, Purpose::Isolated, &questions)?;
    let mut passing = Vec::new();
    for (at, test) in failing.iter().enumerate() {
        let answer = answers.get(at).cloned().unwrap_or_default();
        if answer.tally.passed > 0 {
            passing.push(*test);
            continue;
        }
        let tally = session.evidence.tally(*test);
        let mut finding = draft(session, *test);
        finding.class = Class::AlwaysFailing;
        finding.isolated = answer.tally;
        finding.why = format!(
            "failed in all {} runs that reached it",
            tally.failed + answer.tally.failed
        );
        if answer.tally.failed > 0 {
            finding.reproduce = Some(alone_command(*test, &answer));
        }
        if let Some(failure) = answer.failure {
            finding.failure = Some(failure);
        }
        findings.insert(*test, finding);
    }
    Ok(passing)
}

fn alone_command(test: TestIndex, answer: &ColdRuns) -> Command {
    Command {
        order: vec![test],
        hash_seed: None,
        plain: answer.plain,
    }
}

/// What is known of a varying test before its class is.
pub(crate) struct Suspect {
    pub(crate) test: TestIndex,
    pub(crate) verified: Verified,
    pub(crate) alone: ColdRuns,
}

impl Suspect {
    pub(crate) fn finding(&self, session: &Session<'_>) -> Finding {
        let mut finding = draft(session, self.test);
        finding.reruns = self.verified.reruns;
        finding.isolated = self.alone.tally;
        finding
    }
}

fn classify_varying(
    session: &mut Session<'_>,
    varying: &[TestIndex],
    findings: &mut BTreeMap<TestIndex, Finding>,
) -> Result<(), LabError> {
    let mut verified = verify::verify(session, varying)?;
    let questions: Vec<_> = varying
        .iter()
        .map(|test| Question::alone(*test, session.settings.isolated))
        .collect();
    let alone = confirm::ask(session, Purpose::Isolated, &questions)?;
    let mut ordered = Vec::new();
    for (test, alone) in varying.iter().zip(alone) {
        let suspect = Suspect {
            test: *test,
            verified: verified.remove(test).unwrap_or_default(),
            alone,
        };
        let tally = suspect.alone.tally;
        let finding = if tally.total() == 0 {
            no_verdict_alone(session, &suspect)
        } else if tally.mixed() {
            nod::alone(session, &suspect)?
        } else if let Some(finding) = by_position(session, &suspect)? {
            finding
        } else if let Some(sighting) = suspect.verified.disagreement {
            match nod::in_order(session, &suspect, sighting)? {
                Some(finding) => finding,
                None => {
                    ordered.push(suspect);
                    continue;
                }
            }
        } else {
            ordered.push(suspect);
            continue;
        };
        findings.insert(*test, finding);
    }
    for finding in by_order(session, &ordered)? {
        findings.insert(finding.test, finding);
    }
    Ok(())
}

fn no_verdict_alone(session: &Session<'_>, suspect: &Suspect) -> Finding {
    let mut finding = suspect.finding(session);
    if let Some(why) = &suspect.alone.lost {
        if why.ends_with(Ending::NOT_COLLECTED) {
            finding.class = Class::UnstableParametrisation;
        }
        finding.why = why.clone();
    } else if suspect.alone.words.contains(&"skipped") {
        finding.why =
            "passes in some orders and fails in others, but is skipped when run alone".into();
    } else {
        finding.why =
            "passes in some orders and fails in others; the budget ended before it was run alone"
                .into();
    }
    finding
}

/// Alone and with another test after it, both with nothing before it: if that decides about a teardown
/// error, neither polluters nor state-setters are to be looked for.
fn by_position(session: &mut Session<'_>, suspect: &Suspect) -> Result<Option<Finding>, LabError> {
    let fails_alone = suspect.alone.tally.always_failed();
    let Some((order, expected)) = position::question(session, suspect.test, fails_alone) else {
        return Ok(None);
    };
    let question = Question {
        order: order.clone(),
        at: 0,
        times: session.settings.confirmations,
        from: 0,
    };
    let answer = confirm::ask(session, Purpose::Confirm, &[question])?.remove(0);
    let goal = Goal {
        test: suspect.test,
        verdict: expected,
    };
    if !agrees(goal, answer.tally) {
        return Ok(None);
    }
    let mut finding = suspect.finding(session);
    finding.class = Class::PositionDependent;
    finding.confirmed = answer.tally;
    finding.why =
        "the teardown of its class, module or session fails, and is reported on whichever test runs last".into();
    let failing = if fails_alone { &suspect.alone } else { &answer };
    finding.failure = failing.failure.clone().or(finding.failure);
    finding.reproduce = Some(Command {
        order: if fails_alone {
            vec![suspect.test]
        } else {
            order
        },
        hash_seed: None,
        plain: failing.plain,
    });
    Ok(Some(finding))
}

/// Victims and brittles: one verdict alone, the other after a short order.
fn by_order(session: &mut Session<'_>, suspects: &[Suspect]) -> Result<Vec<Finding>, LabError> {
    let goals: Vec<Goal> = suspects
        .iter()
        .map(|suspect| Goal {
            test: suspect.test,
            verdict: if suspect.alone.tally.failed > 0 {
                Polarity::Pass
            } else {
                Polarity::Fail
            },
        })
        .collect();
    let prefixes = shorten::shorten(session, &goals)?;
    let times = session.settings.confirmations;
    let questions: Vec<Question> = goals
        .iter()
        .zip(&prefixes)
        .map(|(goal, prefix)| {
            let order = prefix
                .iter()
                .flatten()
                .copied()
                .chain([goal.test])
                .collect();
            Question::last(order, if prefix.is_some() { times } else { 0 })
        })
        .collect();
    let answers = confirm::ask(session, Purpose::Confirm, &questions)?;
    let mut findings = Vec::new();
    for (((suspect, goal), question), answer) in
        suspects.iter().zip(goals).zip(questions).zip(answers)
    {
        let (question, answer) = if agrees(goal, answer.tally) {
            (question, answer)
        } else {
            longer(session, goal, question, answer)?
        };
        findings.push(settle(
            session,
            suspect,
            goal,
            question.order,
            question.at,
            answer,
        )?);
    }
    Ok(findings)
}

fn agrees(goal: Goal, tally: Tally) -> bool {
    match goal.verdict {
        Polarity::Fail => tally.always_failed(),
        _ => tally.always_passed(),
    }
}

/// The short order did not convince fresh interpreters: ask about the orders it came from.
fn longer(
    session: &mut Session<'_>,
    goal: Goal,
    question: Question,
    answer: ColdRuns,
) -> Result<(Question, ColdRuns), LabError> {
    // First in its order nothing came before it.
    let mut sightings: Vec<_> = session
        .evidence
        .with_polarity(goal.test, goal.verdict)
        .filter(|s| s.at > 0)
        .collect();
    sightings.sort_by_key(|s| (s.at, s.run));
    let times = session.settings.confirmations;
    let mut best = (question, answer);
    for sighting in sightings.into_iter().take(2) {
        let order = &session.evidence.run(sighting).order;
        let at = sighting.at as usize;
        for order in [order.through(at).0, order.0.clone()] {
            let question = Question {
                order,
                at,
                times,
                from: 0,
            };
            let answer =
                confirm::ask(session, Purpose::Confirm, std::slice::from_ref(&question))?.remove(0);
            if agrees(goal, answer.tally) {
                return Ok((question, answer));
            }
            if answer.tally.mixed() {
                best = (question, answer);
            }
        }
    }
    Ok(best)
}

fn settle(
    session: &mut Session<'_>,
    suspect: &Suspect,
    goal: Goal,
    order: Vec<TestIndex>,
    at: usize,
    answer: ColdRuns,
) -> Result<Finding, LabError> {
    let mut finding = suspect.finding(session);
    finding.confirmed = answer.tally;
    let victim = goal.verdict == Polarity::Fail;
    if agrees(goal, answer.tally) {
        let alone = suspect.alone.tally.total();
        let before = at;
        if victim {
            finding.class = Class::Victim;
            finding.why = format!(
                "passed {alone} of {alone} times alone, failed {0} of {0} times after {1}",
                answer.tally.failed,
                baseline::count(before, "other test")
            );
            let (mut failed, mut plain) = (answer.tally.failed, answer.plain);
            let mut order = order;
            finding.failure = answer.failure.or(finding.failure);
            if collection::holds_in_any_order(session, &order, at, goal.verdict)? {
                finding.class = Class::CollectionDependent;
                if let Some((few, answer)) = collection::other_files(session, &order, at)? {
                    (failed, plain) = (answer.tally.failed, answer.plain);
                    order = few;
                }
                finding.why = format!(
                    "passed {alone} of {alone} times alone, failed {failed} of {failed} times with {} collected, before or after it",
                    match order.as_slice() {
                        [other, _] => format!("`{}`", session.lab.suite().id(*other)),
                        order => baseline::count(order.len() - 1, "other test"),
                    }
                );
            }
            finding.reproduce = Some(Command {
                plain: plain && order.last() == Some(&suspect.test),
                order,
                hash_seed: None,
            });
        } else {
            finding.class = Class::Brittle;
            let imports = collection::holds_in_any_order(session, &order, at, goal.verdict)?;
            finding.why = format!(
                "failed {alone} of {alone} times alone, passed {0} of {0} times {1}",
                answer.tally.passed,
                match order.as_slice() {
                    [other, _] if imports => format!(
                        "with `{}` collected, before or after it",
                        session.lab.suite().id(*other)
                    ),
                    _ if imports => format!(
                        "with {} collected, before or after it",
                        baseline::count(before, "other test")
                    ),
                    _ => format!("after {}", baseline::count(before, "other test")),
                }
            );
            finding.failure = suspect.alone.failure.clone().or(finding.failure);
            finding.passing_order = Some(order);
            finding.reproduce = Some(alone_command(suspect.test, &suspect.alone));
        }
    } else if answer.tally.mixed() {
        nod::after_order(session, suspect, order, at, answer, &mut finding)?;
    } else {
        finding.why = if answer.tally.total() == 0 {
            "varies with the order in forks; not yet confirmed in fresh interpreters".into()
        } else {
            format!(
                "varies with the order in forks, but fresh interpreters did not show it ({} runs)",
                answer.tally.total()
            )
        };
    }
    Ok(finding)
}

/// Tests that never fail but are not always reported alike.
fn classify_masked(
    session: &mut Session<'_>,
    masked: &[TestIndex],
    findings: &mut BTreeMap<TestIndex, Finding>,
) -> Result<(), LabError> {
    let mut questions = Vec::new();
    for test in masked {
        let mut seen: BTreeMap<&'static str, Question> = BTreeMap::new();
        for sighting in session.evidence.sightings(*test) {
            let word = session.evidence.outcome(*sighting).word();
            let order = session
                .evidence
                .run(*sighting)
                .order
                .through(sighting.at as usize);
            let question = Question {
                order: order.0,
                at: sighting.at as usize,
                times: session.settings.confirmations,
                from: 0,
            };
            let shorter = seen
                .get(word)
                .is_none_or(|known| question.order.len() < known.order.len());
            if shorter {
                seen.insert(word, question);
            }
        }
        questions.push(seen);
    }
    for (test, seen) in masked.iter().zip(questions) {
        let asked: Vec<Question> = seen.into_values().collect();
        let answers = confirm::ask(session, Purpose::Confirm, &asked)?;
        let mut words: Vec<&str> = answers
            .iter()
            .flat_map(|a| a.words.iter().copied())
            .collect();
        words.sort_unstable();
        words.dedup();
        let mut finding = draft(session, *test);
        for answer in &answers {
            finding.confirmed.passed += answer.tally.passed;
            finding.confirmed.failed += answer.tally.failed;
        }
        if words.len() > 1 {
            finding.class = Class::Masked;
            finding.why = format!(
                "{}was {} depending on the run",
                if finding.confirmed.failed == 0 {
                    "never failed, but "
                } else {
                    ""
                },
                words.join(" or ")
            );
        } else {
            finding.why =
                "was not always reported alike in forks; fresh interpreters did not show it".into();
        }
        findings.insert(*test, finding);
    }
    Ok(())
}

/// Tests that fail when run a second time in one process.
fn classify_repeating(
    session: &mut Session<'_>,
    repeating: &[TestIndex],
    findings: &mut BTreeMap<TestIndex, Finding>,
) -> Result<(), LabError> {
    let candidates: Vec<TestIndex> = repeating
        .iter()
        .copied()
        .filter(|test| {
            findings.get(test).is_none_or(|f| {
                !matches!(
                    f.class,
                    Class::NonDeterministic | Class::Unconfirmed | Class::AlwaysFailing
                )
            })
        })
        .collect();
    let times = session.settings.confirmations;
    let question = |test: &TestIndex, at| Question {
        order: vec![*test, *test],
        at,
        times,
        from: 0,
    };
    let first: Vec<_> = candidates.iter().map(|test| question(test, 0)).collect();
    let second: Vec<_> = candidates.iter().map(|test| question(test, 1)).collect();
    // The same runs, read at both positions.
    let before = confirm::ask(session, Purpose::Confirm, &first)?;
    let after = confirm::ask(session, Purpose::Confirm, &second)?;
    for ((test, before), after) in candidates.iter().zip(before).zip(after) {
        if !(before.tally.always_passed() && after.tally.always_failed()) {
            continue;
        }
        if let Some(known) = findings.get_mut(test) {
            known.also.push(Class::NonIdempotent);
            continue;
        }
        let mut finding = draft(session, *test);
        finding.class = Class::NonIdempotent;
        finding.confirmed = after.tally;
        finding.why = format!(
            "passed, then failed when run again in the same process, {} of {} times",
            after.tally.failed,
            after.tally.total()
        );
        finding.failure = after.failure;
        finding.reproduce = Some(Command {
            order: vec![*test, *test],
            hash_seed: None,
            plain: after.plain,
        });
        findings.insert(*test, finding);
    }
    Ok(())
}

/// Tests set aside fail always; tests no run reached are said to be so.
fn account_for_the_rest(
    session: &Session<'_>,
    tests: &[TestIndex],
    findings: &mut BTreeMap<TestIndex, Finding>,
) {
    for test in session.tests() {
        if findings.contains_key(&test) {
            continue;
        }
        let set_aside = tests.binary_search(&test).is_err();
        let seen = !session.evidence.sightings(test).is_empty();
        if !set_aside && seen {
            continue;
        }
        let mut finding = draft(session, test);
        if set_aside {
            finding.class = Class::AlwaysFailing;
            finding.why = "ends the whole process whenever it runs".into();
            finding.failure = finding.failure.or_else(|| last_words(session, test));
            finding.reproduce = Some(Command {
                order: vec![test],
                hash_seed: None,
                plain: true,
            });
        } else {
            finding.class = Class::NotRun;
            finding.why = "no run reached it".into();
        }
        findings.insert(test, finding);
    }
}

fn last_words(session: &Session<'_>, test: TestIndex) -> Option<Arc<Failure>> {
    session
        .evidence
        .runs
        .iter()
        .filter(|run| run.order.0 == [test])
        .find_map(|run| run.outcomes.first().and_then(Outcome::failure).cloned())
}
