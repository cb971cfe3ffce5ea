//! From targets to explanations.

use std::collections::{BTreeMap, HashMap};

use flakelab_lab::orders::{self, Kind};
use flakelab_lab::{Lab, LabError};
use flakelab_model::{Class, Isolation, Order, Polarity, RunRecord, RunRequest, TestIndex};

use crate::ask::{self, Answer};
use crate::chance;
use crate::cleaners;
use crate::culprits::{self, Case};
use crate::factors;
use crate::finding::{Culprits, Explanation, Target};
use crate::leaks;
use crate::session::{Mode, Session, Settings, Stage, Watch, before};

/// Orders run at once while a target still lacks one that shows the other verdict.
const CHUNK: usize = 10;

/// Explains every target, in the order given.
pub fn explain(
    lab: &mut dyn Lab,
    settings: &Settings,
    watch: &mut dyn Watch,
    targets: Vec<Target>,
) -> Result<Vec<Explanation>, LabError> {
    let mut session = Session::new(lab, settings, watch);
    let mut targets = targets;
    let lonely: Vec<_> = targets.iter().map(|target| vec![target.test]).collect();
    let alone = ask::ask(&mut session, &lonely)?;
    // Where every pair is tried, orders are only needed if none of them explains it.
    if !tries_pairs(settings) {
        find_orders(&mut session, &mut targets, &alone)?;
    }
    let count = targets.len();
    let mut explanations = Vec::with_capacity(count);
    for (number, (mut target, alone)) in targets.into_iter().zip(alone).enumerate() {
        session.watch.target(target.test, number, count);
        let mut explanation = explain_one(&mut session, &mut target, &alone)?;
        if session.out_of_budget {
            explanation.unfinished = true;
            explanation.note("the budget ended before everything was looked at");
        }
        explanations.push(explanation);
    }
    Ok(explanations)
}

fn tries_pairs(settings: &Settings) -> bool {
    settings.all || settings.mode == Mode::Pairs
}

fn explain_one(
    session: &mut Session<'_>,
    target: &mut Target,
    alone: &Answer,
) -> Result<Explanation, LabError> {
    let class = match target.class {
        // What fresh interpreters say now counts more than what an earlier campaign found.
        Some(class) if session.out_of_budget && class_of(alone) == Class::Unconfirmed => class,
        None | Some(Class::Victim | Class::Brittle | Class::CollectionDependent) => class_of(alone),
        Some(Class::Masked | Class::PositionDependent) if !target.orders.is_empty() => {
            class_of(alone)
        }
        Some(Class::Masked) if alone.some(Polarity::Fail) => class_of(alone),
        Some(class) => class,
    };
    let mut explanation = Explanation::new(target.test, class);
    match class {
        Class::Victim | Class::Brittle => {
            explain_order(session, target, alone, &mut explanation)?;
        }
        Class::NonIdempotent => explain_repetition(session, target, &mut explanation)?,
        Class::NonDeterministic => explain_chance(session, target, alone, &mut explanation)?,
        Class::Unconfirmed if session.out_of_budget => {}
        Class::Unconfirmed => explanation.note("fresh interpreters gave no verdict on it alone"),
        Class::PositionDependent => explanation.note(
            "the teardown of its class, module or session fails, on whichever test runs last: no test before it decides that",
        ),
        Class::Masked => explanation.note(
            "what decides whether it passes, is skipped or is expected to fail is not looked for",
        ),
        other => explanation.note(format!(
            "{} tests have no polluters or state-setters to look for",
            other.words()
        )),
    }
    Ok(explanation)
}

fn class_of(alone: &Answer) -> Class {
    if alone.all(Polarity::Pass) {
        Class::Victim
    } else if alone.all(Polarity::Fail) {
        Class::Brittle
    } else if alone.some(Polarity::Pass) && alone.some(Polarity::Fail) {
        Class::NonDeterministic
    } else {
        Class::Unconfirmed
    }
}

fn explain_order(
    session: &mut Session<'_>,
    target: &mut Target,
    alone: &Answer,
    explanation: &mut Explanation,
) -> Result<(), LabError> {
    let verdict_alone = match explanation.class {
        Class::Victim => Polarity::Pass,
        _ => Polarity::Fail,
    };
    let forked = session.verdicts(Stage::Culprits, vec![vec![target.test]], Isolation::Fork)?;
    let case = Case {
        target: target.test,
        alone: verdict_alone,
        warm: if forked[0] == Some(verdict_alone) {
            Isolation::Fork
        } else {
            Isolation::Fresh
        },
    };
    let mut suspects = culprits::suspect(session, case, &target.orders)?;
    if suspects.sets.is_empty() && target.orders.is_empty() && tries_pairs(session.settings) {
        find_orders(
            session,
            std::slice::from_mut(target),
            std::slice::from_ref(alone),
        )?;
        suspects = culprits::suspect(session, case, &target.orders)?;
    }
    let doubtful = culprits::confirm(session, case, suspects.sets, explanation)?;
    let unexplained = if explanation.culprits.is_empty() {
        culprits::prefixes(&target.orders)
    } else {
        Vec::new()
    };
    chance::find(session, case, doubtful, unexplained, explanation)?;
    if explanation.culprits.is_empty() {
        explanation.failure.clone_from(&alone.failure);
        if session.out_of_budget {
            // What was found out before stands.
            explanation.class = target.class.unwrap_or(Class::Unconfirmed);
            explanation.note("the budget ended before a test was found that changes its verdict");
            return Ok(());
        }
        // Alone it is what it always was; nothing says that the order matters.
        explanation.class = match explanation.class {
            Class::Brittle => Class::AlwaysFailing,
            _ => Class::Stable,
        };
        explanation.note("no test before it was found to change its verdict");
        return explain_constant(session, alone, explanation);
    }
    explanation
        .culprits
        .sort_by_key(|c| (c.rate.is_some(), c.tests.len()));
    if explanation.class == Class::Victim {
        let imported = by_import(session, case, explanation)?;
        let certain = explanation.culprits.iter().filter(|c| c.rate.is_none());
        if !imported.is_empty() && imported.len() == certain.count() {
            explanation.class = Class::CollectionDependent;
            explanation.note(
                "it fails before them as well: what counts is that their files are imported, not that they run",
            );
            reproduce_after_culprits(explanation);
            return Ok(());
        }
        for tests in imported {
            let ids: Vec<&str> = tests
                .iter()
                .map(|test| session.lab.suite().id(*test).as_str())
                .collect();
            explanation.note(format!(
                "it fails before {} as well: of that, what counts is what is imported, not what runs",
                ids.join(" and ")
            ));
        }
        cleaners::find(session, case, &suspects.cures, explanation)?;
        reproduce_after_culprits(explanation);
    } else {
        explanation.failure.clone_from(&alone.failure);
        explanation.reproduce = Some((vec![target.test], alone.plain));
        let imported = by_import(session, case, explanation)?;
        let certain = explanation.culprits.iter().filter(|c| c.rate.is_none());
        if !imported.is_empty() && imported.len() == certain.count() {
            explanation.note(
                "it passes before them as well: what counts is that their files are imported, not that they run",
            );
            // What an import leaves is there before the first test: no snapshot between tests can show it.
            return Ok(());
        }
    }
    if session.settings.state {
        leaks::find(session, case, explanation)?;
    }
    if explanation.culprits.iter().all(|c| c.rate.is_some()) {
        // As `detect` calls it.
        explanation.class = Class::NonDeterministic;
    }
    Ok(())
}

/// Culprits after which the test comes to the verdict that it comes to before them: then it is not what they do, but that
/// they are imported. In a fork everything is, so only a test that comes to it alone there can be of this kind.
fn by_import(
    session: &mut Session<'_>,
    case: Case,
    explanation: &Explanation,
) -> Result<Vec<Vec<TestIndex>>, LabError> {
    let mut found = Vec::new();
    if case.warm != Isolation::Fresh {
        return Ok(found);
    }
    let first = |record: &RunRecord| {
        let first = record.executions.first();
        first.map_or(Polarity::Neutral, |first| first.outcome.polarity())
    };
    let same = |record: &Option<RunRecord>| record.as_ref().map(first) == Some(case.other());
    for culprits in explanation.culprits.iter().filter(|c| c.rate.is_none()) {
        let mut order = vec![case.target];
        order.extend(&culprits.tests);
        let answers = ask::confirm(session, Stage::Culprits, &[order], 0, None, first)?;
        let records = answers.into_iter().next().unwrap_or_default();
        if !records.is_empty() && records.iter().all(same) {
            found.push(culprits.tests.clone());
        }
    }
    Ok(found)
}

fn reproduce_after_culprits(explanation: &mut Explanation) {
    let shortest = &explanation.culprits[0];
    let order = before(&shortest.tests, explanation.test);
    explanation.reproduce = Some((order, shortest.plain));
}

/// A test that varies: after certain tests only, or by what surrounds it.
fn explain_chance(
    session: &mut Session<'_>,
    target: &Target,
    alone: &Answer,
    explanation: &mut Explanation,
) -> Result<(), LabError> {
    if alone.all(Polarity::Pass) {
        let case = Case {
            target: target.test,
            alone: Polarity::Pass,
            warm: Isolation::Fork,
        };
        let seen = culprits::prefixes(&target.orders);
        chance::find(session, case, Vec::new(), seen, explanation)?;
        if !explanation.culprits.is_empty() {
            reproduce_after_culprits(explanation);
            return Ok(());
        }
    }
    explanation.failure.clone_from(&alone.failure);
    explanation.reproduce = Some((vec![target.test], alone.plain));
    factors::vary(session, target.test, explanation)?;
    if !session.out_of_budget && !decided(explanation) {
        let mut levels = explanation.factors.iter().flat_map(|f| &f.levels);
        let failed = alone.some(Polarity::Fail) || levels.any(|(_, rate)| rate.failed > 0);
        explanation.note(if failed {
            "none of the surroundings that were varied decides it: threads, the network, other processes or the exact time may"
        } else {
            "it did not fail while its surroundings were varied, so none of them can be ruled out: it fails too seldom for that"
        });
    }
    Ok(())
}

/// Whether something around the test was found to decide it.
fn decided(explanation: &Explanation) -> bool {
    explanation.factors.iter().any(|found| found.decides)
}

/// A test that says the same in every order: elsewhere it may say something else.
fn explain_constant(
    session: &mut Session<'_>,
    alone: &Answer,
    explanation: &mut Explanation,
) -> Result<(), LabError> {
    factors::vary(session, explanation.test, explanation)?;
    if decided(explanation) {
        explanation.class = Class::NonDeterministic;
        let shows = alone.all(Polarity::Fail)
            || explanation.hash_seed.is_some()
            || explanation.timezone.is_some();
        explanation.reproduce = shows.then(|| (vec![explanation.test], alone.plain));
    }
    Ok(())
}

/// A test that fails the second time is its own polluter.
fn explain_repetition(
    session: &mut Session<'_>,
    target: &Target,
    explanation: &mut Explanation,
) -> Result<(), LabError> {
    let order = vec![target.test, target.test];
    let answer = ask::ask(session, std::slice::from_ref(&order))?.remove(0);
    explanation.failure.clone_from(&answer.failure);
    if !answer.all(Polarity::Fail) {
        explanation.note("fresh interpreters did not confirm that it fails the second time");
        return Ok(());
    }
    explanation.reproduce = Some((order, answer.plain));
    explanation.culprits.push(Culprits {
        tests: vec![target.test],
        rate: None,
        plain: answer.plain,
    });
    let case = Case {
        target: target.test,
        alone: Polarity::Pass,
        warm: Isolation::Fork,
    };
    if session.settings.state {
        leaks::find(session, case, explanation)?;
    }
    Ok(())
}

/// Orders that come more than once, each time as a run of its own.
#[derive(Default)]
struct Repeats(HashMap<Order, u32>);

impl Repeats {
    fn number(&mut self, request: RunRequest) -> RunRequest {
        let seen = self.0.entry(request.order.clone()).or_default();
        let attempt = request.attempt + *seen;
        *seen += 1;
        RunRequest { attempt, ..request }
    }
}

/// The tests that fail in one of these orders and pass alone, with the order as far as it matters; and whether the
/// budget cut that short.
pub fn failing_in(
    lab: &mut dyn Lab,
    settings: &Settings,
    watch: &mut dyn Watch,
    orders: &[Order],
) -> Result<(Vec<Target>, bool), LabError> {
    let mut session = Session::new(lab, settings, watch);
    let mut repeats = Repeats::default();
    let batch = orders
        .iter()
        .map(|order| repeats.number(session.request(order.0.clone(), Isolation::Fork)))
        .collect();
    let records = session.run(Stage::Orders, batch)?;
    let mut targets: BTreeMap<TestIndex, Target> = BTreeMap::new();
    for (order, record) in orders.iter().zip(records) {
        for (at, execution) in record.iter().flat_map(|r| r.executions.iter().enumerate()) {
            if execution.outcome.polarity() == Polarity::Fail && at > 0 {
                targets
                    .entry(execution.test)
                    .or_insert_with(|| Target {
                        test: execution.test,
                        class: None,
                        orders: Vec::new(),
                    })
                    .orders
                    .push(Order(order.0[..=at].to_vec()));
            }
        }
    }
    let lonely: Vec<_> = targets.keys().map(|test| vec![*test]).collect();
    let mut alone = session.verdicts(Stage::Orders, lonely.clone(), Isolation::Fork)?;
    // In a fork all files are imported, which may be what makes a test fail.
    let doubtful: Vec<usize> = (0..alone.len())
        .filter(|at| alone[*at] == Some(Polarity::Fail))
        .collect();
    let again = doubtful.iter().map(|at| lonely[*at].clone()).collect();
    let again = session.verdicts(Stage::Orders, again, Isolation::Fresh)?;
    for (at, verdict) in doubtful.into_iter().zip(again) {
        alone[at] = verdict;
    }
    let found = targets
        .into_values()
        .zip(alone)
        .filter(|(_, verdict)| *verdict == Some(Polarity::Pass))
        .map(|(target, _)| target);
    Ok((found.collect(), session.out_of_budget))
}

/// Runs orders until every target that needs one has an order that shows the other verdict.
fn find_orders(
    session: &mut Session<'_>,
    targets: &mut [Target],
    alone: &[Answer],
) -> Result<(), LabError> {
    let lacks = |target: &Target, alone: &Answer| {
        target.orders.is_empty()
            && match target.class {
                None | Some(Class::Victim | Class::Brittle) => {
                    matches!(class_of(alone), Class::Victim | Class::Brittle)
                }
                Some(_) => false,
            }
    };
    if !targets.iter().zip(alone).any(|(t, a)| lacks(t, a)) {
        return Ok(());
    }
    let tests: Vec<TestIndex> = session.lab.suite().indices().collect();
    let seed = session.settings.seed;
    let make = |kind, count| orders::generate(session.lab.suite(), &tests, kind, count, seed);
    let half = session.settings.orders.div_ceil(2);
    let mut all = make(Kind::Original, 1);
    all.extend(make(Kind::Reverse, 1));
    for (a, b) in make(Kind::Global, half)
        .into_iter()
        .zip(make(Kind::Nested, half))
    {
        all.extend([a, b]);
    }
    all.truncate(session.settings.orders.max(2));
    let mut repeats = Repeats::default();
    for chunk in all.chunks(CHUNK) {
        if session.out_of_budget || !targets.iter().zip(alone).any(|(t, a)| lacks(t, a)) {
            break;
        }
        let batch = chunk
            .iter()
            .map(|order| repeats.number(session.request(order.0.clone(), Isolation::Fork)))
            .collect();
        let records = session.run(Stage::Orders, batch)?;
        for (order, record) in chunk.iter().zip(records) {
            let Some(record) = record else { continue };
            for (target, alone) in targets.iter_mut().zip(alone) {
                let Some(at) = order.position(target.test) else {
                    continue;
                };
                let here = record.executions[at].outcome.polarity();
                let differs = match class_of(alone) {
                    Class::Victim => here == Polarity::Fail,
                    Class::Brittle => here == Polarity::Pass,
                    _ => false,
                };
                if differs {
                    target.orders.push(Order(order.0[..=at].to_vec()));
                }
            }
        }
    }
    Ok(())
}
