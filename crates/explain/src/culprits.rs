//! Who changes the target's verdict: three ways to look, one way to be sure.

use flakelab_lab::orders::{self, Kind};
use flakelab_lab::{LabError, delta};
use flakelab_model::{Isolation, Order, Polarity, TestIndex};

use crate::ask;
use crate::finding::{Culprits, Explanation};
use crate::session::{Mode, Session, Stage, before};

/// Runs that delta debugging may use for one order.
const MOST_RUNS: usize = 400;
/// Sets of culprits that are confirmed for one test, unless all are asked for.
const MOST_SETS: usize = 3;
const MOST_SETS_OF_ALL: usize = 1_000;
/// Orders that are looked at for culprits of their own.
const MOST_ORDERS: usize = 2;
const MOST_ORDERS_OF_ALL: usize = 40;
/// Times that known culprits are left out to see who else does it.
const MOST_ROUNDS: u64 = 30;
/// Larger suites are not searched for sets that differ in one test, unless all are asked for.
const MOST_TESTS_FOR_SIBLINGS: usize = 200;
/// Longer orders are delta-debugged instead: a probe keeps a record for every prefix.
const MOST_PROBED: usize = 5_000;
/// Runs that must agree with the fresh interpreters: three throws of a coin are the same in one case of four.
const STEADY_RUNS: u32 = 8;

/// A test whose verdict alone is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    pub(crate) target: TestIndex,
    /// Its verdict alone.
    pub(crate) alone: Polarity,
    /// How searches are isolated: forks, or fresh interpreters where forks do not tell the truth.
    pub(crate) warm: Isolation,
}

impl Case {
    /// The verdict that culprits bring about.
    pub(crate) fn other(self) -> Polarity {
        match self.alone {
            Polarity::Pass => Polarity::Fail,
            _ => Polarity::Pass,
        }
    }
}

/// What the search came to, not yet confirmed.
#[derive(Debug, Default)]
pub(crate) struct Suspects {
    pub(crate) sets: Vec<Vec<TestIndex>>,
    /// Tests after which the verdict was as alone again, in an order that had changed it.
    pub(crate) cures: Vec<TestIndex>,
}

impl Suspects {
    /// The same tests in another order are the same set.
    fn add(&mut self, set: Vec<TestIndex>) {
        let same = |known: &Vec<TestIndex>| {
            known.len() == set.len() && known.iter().all(|test| set.contains(test))
        };
        if !set.is_empty() && !self.sets.iter().any(same) {
            self.sets.push(set);
        }
    }

    /// Whether a known set stands in this order, so that it needs no explanation of its own.
    fn covers(&self, prefix: &[TestIndex]) -> bool {
        self.sets
            .iter()
            .any(|set| set.iter().all(|test| prefix.contains(test)))
    }
}

/// What ran before the target that these orders end with, the least first.
pub(crate) fn prefixes(orders: &[Order]) -> Vec<Vec<TestIndex>> {
    let mut prefixes: Vec<Vec<TestIndex>> = orders
        .iter()
        .map(|order| order.0[..order.0.len().saturating_sub(1)].to_vec())
        .filter(|prefix| !prefix.is_empty())
        .collect();
    prefixes.sort_by_key(Vec::len);
    prefixes.dedup();
    prefixes
}

/// `orders` end with the target and were seen to show the other verdict.
pub(crate) fn suspect(
    session: &mut Session<'_>,
    case: Case,
    orders: &[Order],
) -> Result<Suspects, LabError> {
    let mut found = Suspects::default();
    let all = session.settings.all;
    let prefixes = prefixes(orders);
    if all || session.settings.mode == Mode::Pairs {
        pairs(session, case, &mut found)?;
    }
    // Sharing a prefix takes forks.
    let probing = session.settings.mode == Mode::Probe && case.warm == Isolation::Fork;
    if probing {
        // The shortest one is mostly the answer already; the next shows who else, and who cures.
        let most = if all { MOST_ORDERS_OF_ALL } else { MOST_ORDERS };
        let short = |prefix: &&Vec<TestIndex>| prefix.len() <= MOST_PROBED;
        for prefix in prefixes.iter().filter(short).take(most) {
            // Where every pair was tried already, only what no pair explains is worth it.
            if !all || !found.covers(prefix) {
                probe(session, case, prefix, &mut found)?;
            }
        }
    }
    let most = if all { MOST_ORDERS_OF_ALL } else { MOST_ORDERS };
    for prefix in prefixes.into_iter().take(most) {
        if found.covers(&prefix) || session.out_of_budget {
            continue;
        }
        if let Some(set) = reduce(session, case, prefix)? {
            found.add(set);
        }
    }
    if all {
        beyond(session, case, &mut found)?;
    }
    if all || session.lab.suite().len() <= MOST_TESTS_FOR_SIBLINGS {
        siblings(session, case, &mut found)?;
    }
    if found.sets.is_empty() && !session.out_of_budget && session.settings.mode != Mode::Pairs {
        pairs(session, case, &mut found)?;
    }
    Ok(found)
}

/// Every test before the target.
fn pairs(session: &mut Session<'_>, case: Case, found: &mut Suspects) -> Result<(), LabError> {
    let tests: Vec<TestIndex> = session
        .lab
        .suite()
        .indices()
        .filter(|test| *test != case.target)
        .collect();
    let orders = tests.iter().map(|test| vec![*test, case.target]).collect();
    let verdicts = session.verdicts(Stage::Culprits, orders, case.warm)?;
    for (test, verdict) in tests.into_iter().zip(verdicts) {
        if verdict == Some(case.other()) {
            found.add(vec![test]);
        }
    }
    Ok(())
}

/// The target after every test of an order, in one pass: where the verdict changes, somebody did it.
fn probe(
    session: &mut Session<'_>,
    case: Case,
    prefix: &[TestIndex],
    found: &mut Suspects,
) -> Result<(), LabError> {
    let orders = (1..=prefix.len())
        .map(|length| before(&prefix[..length], case.target))
        .collect();
    let verdicts = session.verdicts(Stage::Culprits, orders, Isolation::Shared)?;
    let mut last = case.alone;
    let mut changes = Vec::new();
    for (at, verdict) in verdicts.into_iter().enumerate() {
        let Some(verdict) = verdict.filter(|v| *v != Polarity::Neutral) else {
            continue;
        };
        if verdict == last {
            continue;
        }
        last = verdict;
        if verdict == case.other() {
            changes.push(at);
        } else if !found.cures.contains(&prefix[at]) {
            found.cures.push(prefix[at]);
        }
    }
    let singles = changes
        .iter()
        .map(|at| vec![prefix[*at], case.target])
        .collect();
    let verdicts = session.verdicts(Stage::Culprits, singles, case.warm)?;
    for (at, verdict) in changes.into_iter().zip(verdicts) {
        if verdict == Some(case.other()) {
            found.add(vec![prefix[at]]);
        } else if !found.covers(&prefix[..=at])
            && let Some(set) = reduce(session, case, prefix[..=at].to_vec())?
        {
            found.add(set);
        }
    }
    Ok(())
}

/// Sets that known ones hide: orders of the whole suite without them, as long as the verdict still changes.
fn beyond(session: &mut Session<'_>, case: Case, found: &mut Suspects) -> Result<(), LabError> {
    for round in 0..MOST_ROUNDS {
        let rest: Vec<TestIndex> = session
            .lab
            .suite()
            .indices()
            .filter(|test| *test != case.target)
            .filter(|test| !found.sets.iter().any(|set| set.last() == Some(test)))
            .collect();
        let seed = session.settings.seed.wrapping_add(round);
        let suite = session.lab.suite();
        let kinds = [(Kind::Original, 1), (Kind::Reverse, 1), (Kind::Global, 4)];
        let orders: Vec<Vec<TestIndex>> = kinds
            .into_iter()
            .flat_map(|(kind, count)| orders::generate(suite, &rest, kind, count, seed))
            .map(|order| order.0)
            .collect();
        let asked = orders
            .iter()
            .map(|order| before(order, case.target))
            .collect();
        let verdicts = session.verdicts(Stage::Culprits, asked, case.warm)?;
        let hit = verdicts
            .iter()
            .position(|verdict| *verdict == Some(case.other()));
        let Some(hit) = hit else {
            return Ok(());
        };
        let known = found.sets.len();
        if let Some(set) = reduce(session, case, orders[hit].clone())? {
            found.add(set);
        }
        if found.sets.len() == known || session.out_of_budget {
            return Ok(());
        }
    }
    Ok(())
}

/// Sets of several tests seldom come alone: another test does as well in place of one of them.
fn siblings(session: &mut Session<'_>, case: Case, found: &mut Suspects) -> Result<(), LabError> {
    let known: Vec<Vec<TestIndex>> = found
        .sets
        .iter()
        .filter(|set| set.len() > 1)
        .cloned()
        .collect();
    for set in known {
        for place in 0..set.len() {
            let others = session.lab.suite().indices().filter(|test| {
                // A test that does it on its own makes no set.
                *test != case.target && !set.contains(test) && !found.covers(&[*test])
            });
            let sets: Vec<Vec<TestIndex>> = others
                .map(|test| {
                    let mut sibling = set.clone();
                    sibling[place] = test;
                    sibling
                })
                .collect();
            let orders = sets.iter().map(|set| before(set, case.target)).collect();
            let verdicts = session.verdicts(Stage::Culprits, orders, case.warm)?;
            for (sibling, verdict) in sets.into_iter().zip(verdicts) {
                if verdict == Some(case.other())
                    && let Some(set) = reduce(session, case, sibling)?
                {
                    found.add(set);
                }
            }
        }
    }
    Ok(())
}

/// Delta debugging of a prefix; `None` if it does not show the verdict any more.
fn reduce(
    session: &mut Session<'_>,
    case: Case,
    prefix: Vec<TestIndex>,
) -> Result<Option<Vec<TestIndex>>, LabError> {
    let whole = vec![before(&prefix, case.target)];
    if session.verdicts(Stage::Culprits, whole, case.warm)?[0] != Some(case.other()) {
        return Ok(None);
    }
    delta::minimise(prefix, MOST_RUNS, &mut |candidates| {
        if session.out_of_budget {
            return Ok(Vec::new());
        }
        let orders = candidates
            .iter()
            .map(|part| before(part, case.target))
            .collect();
        let verdicts = session.verdicts(Stage::Culprits, orders, case.warm)?;
        Ok(verdicts
            .into_iter()
            .map(|verdict| verdict == Some(case.other()))
            .collect())
    })
    .map(Some)
}

/// Publishes what fresh interpreters confirm: that the set does it, and that no smaller one does. Returns
/// the sets that do not do it every time.
pub(crate) fn confirm(
    session: &mut Session<'_>,
    case: Case,
    sets: Vec<Vec<TestIndex>>,
    explanation: &mut Explanation,
) -> Result<Vec<Vec<TestIndex>>, LabError> {
    let most = if session.settings.all {
        MOST_SETS_OF_ALL
    } else {
        MOST_SETS
    };
    if sets.len() > most {
        let rest = sets.len() - most;
        explanation.note(format!(
            "{rest} more sets of tests do it as well; --all confirms and lists them"
        ));
    }
    let sets: Vec<_> = sets.into_iter().take(most).collect();
    let orders: Vec<_> = sets.iter().map(|set| before(set, case.target)).collect();
    let answers = ask::ask(session, &orders)?;
    let mut doubtful = Vec::new();
    for (set, answer) in sets.into_iter().zip(answers) {
        if let Some(failure) = &answer.failure {
            explanation.failure.get_or_insert_with(|| failure.clone());
        }
        if !answer.all(case.other()) || !steady(session, case, &set)? {
            doubtful.push(set);
            continue;
        }
        let tests = smaller(session, case, set)?;
        let same = |known: &Culprits| known.tests == tests;
        if !explanation.culprits.iter().any(same) {
            explanation.culprits.push(Culprits {
                tests,
                rate: None,
                plain: answer.plain,
            });
        }
    }
    Ok(doubtful)
}

/// Whether more runs say the same. What the budget cuts off is no reason to doubt.
fn steady(session: &mut Session<'_>, case: Case, set: &[TestIndex]) -> Result<bool, LabError> {
    let order = [before(set, case.target)];
    let rate = ask::rates(session, &order, case.warm, STEADY_RUNS)?[0];
    Ok(rate.of == 0 || rate.share_of(case.other()) == rate.of)
}

/// A part of the set with one test less that does it too in fresh interpreters, down to the smallest.
fn smaller(
    session: &mut Session<'_>,
    case: Case,
    set: Vec<TestIndex>,
) -> Result<Vec<TestIndex>, LabError> {
    if set.len() < 2 {
        return Ok(set);
    }
    let parts: Vec<Vec<TestIndex>> = (0..set.len())
        .map(|skip| {
            let mut part = set.clone();
            part.remove(skip);
            part
        })
        .collect();
    let orders: Vec<_> = parts.iter().map(|part| before(part, case.target)).collect();
    let answers = ask::ask(session, &orders)?;
    match answers.iter().position(|answer| answer.all(case.other())) {
        Some(at) => smaller(session, case, parts[at].clone()),
        None => Ok(set),
    }
}
