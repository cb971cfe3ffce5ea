//! Reruns of passing and failing orders (iPFlakies, section 4.2.1, step 1): a test that does not
//! repeat its outcome under one and the same prefix is non-deterministic.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use flakelab_lab::LabError;
use flakelab_model::{Order, Polarity, TestIndex};

use crate::evidence::{Purpose, Sighting};
use crate::finding::Tally;
use crate::session::{Session, Stage};

/// Attempts below this number belong to the search.
const FIRST_ATTEMPT: u32 = 10_000;

#[derive(Debug, Clone, Default)]
pub(crate) struct Verified {
    /// Outcomes in the reruns.
    pub(crate) reruns: Tally,
    /// A sighting whose prefix gave both outcomes.
    pub(crate) disagreement: Option<Sighting>,
}

pub(crate) fn verify(
    session: &mut Session<'_>,
    suspects: &[TestIndex],
) -> Result<BTreeMap<TestIndex, Verified>, LabError> {
    let chosen = choose(session, suspects);
    let mut batch = Vec::new();
    let mut rows = Vec::new();
    let mut attempts: HashMap<Order, u32> = HashMap::new();
    for (run, sightings) in &chosen {
        let cut = sightings
            .iter()
            .map(|(_, s)| s.at as usize)
            .max()
            .unwrap_or(0);
        let order = session.at(*run as usize).order.through(cut);
        // Two orders may be the same up to where they are cut; their reruns are not.
        let next = attempts.entry(order.clone()).or_insert(FIRST_ATTEMPT);
        for _ in 0..session.settings.reruns {
            batch.push((
                Purpose::Rerun,
                session.request(order.clone(), session.warm, *next),
            ));
            rows.push(sightings.clone());
            *next += 1;
        }
    }
    session.watch.stage(Stage::Verify, batch.len());
    let runs = session.run(Stage::Verify, batch)?;
    let mut verified: BTreeMap<TestIndex, Verified> = suspects
        .iter()
        .map(|test| (*test, Verified::default()))
        .collect();
    for (run, sightings) in runs.into_iter().zip(rows) {
        let Some(run) = run else { continue };
        for (test, sighting) in sightings {
            let before = session.evidence.outcome(sighting).polarity();
            let now = session.at(run).outcomes[sighting.at as usize].polarity();
            let entry = verified.entry(test).or_default();
            match now {
                Polarity::Pass => entry.reruns.passed += 1,
                Polarity::Fail => entry.reruns.failed += 1,
                Polarity::Neutral => continue,
            }
            if now != before {
                entry.disagreement.get_or_insert(sighting);
            }
        }
    }
    Ok(verified)
}

/// A few orders in which each suspect passed and a few in which it failed. Orders that serve many
/// suspects at once are taken first: a rerun is read for all of them.
fn choose(
    session: &Session<'_>,
    suspects: &[TestIndex],
) -> BTreeMap<u32, Vec<(TestIndex, Sighting)>> {
    let mut wanted: Vec<Want> = suspects
        .iter()
        .flat_map(|test| [Polarity::Pass, Polarity::Fail].map(|verdict| (*test, verdict)))
        .map(|(test, verdict)| Want {
            test,
            missing: session.settings.rerun_orders,
            sightings: session
                .evidence
                .with_polarity(test, verdict)
                .filter(|s| {
                    session.evidence.run(*s).isolation.is_pristine() == session.warm.is_pristine()
                })
                .map(|s| (s.run, s))
                .collect(),
        })
        .collect();
    let mut chosen: BTreeMap<u32, Vec<(TestIndex, Sighting)>> = BTreeMap::new();
    loop {
        let mut served: BTreeMap<u32, usize> = BTreeMap::new();
        for want in wanted.iter().filter(|want| want.missing > 0) {
            for run in want.sightings.keys() {
                *served.entry(*run).or_default() += 1;
            }
        }
        // Of equals the shorter one, and of those the earlier one.
        let best = served.into_iter().max_by_key(|(run, serves)| {
            (
                *serves,
                Reverse(session.at(*run as usize).order.0.len()),
                Reverse(*run),
            )
        });
        let Some((run, _)) = best else { break };
        for want in &mut wanted {
            if let Some(sighting) = want.sightings.remove(&run)
                && want.missing > 0
            {
                want.missing -= 1;
                chosen.entry(run).or_default().push((want.test, sighting));
            }
        }
    }
    chosen
}

/// Orders that are still to be found for one verdict of one test.
struct Want {
    test: TestIndex,
    missing: usize,
    sightings: BTreeMap<u32, Sighting>,
}
