//! Reruns of passing and failing orders (iPFlakies, section 4.2.1, step 1): a test that does not
//! repeat its outcome under one and the same prefix is non-deterministic.

use std::collections::BTreeMap;

use flakelab_lab::LabError;
use flakelab_model::{Polarity, TestIndex};

use crate::evidence::{Purpose, Sighting};
use crate::finding::Tally;
use crate::session::{Session, Stage};

/// Attempts below this number belong to the search.
const FIRST_ATTEMPT: u32 = 100;

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
    let mut chosen: BTreeMap<u32, Vec<(TestIndex, Sighting)>> = BTreeMap::new();
    for test in suspects {
        for polarity in [Polarity::Pass, Polarity::Fail] {
            for sighting in choose(session, *test, polarity) {
                chosen.entry(sighting.run).or_default().push((*test, sighting));
            }
        }
    }
    let mut batch = Vec::new();
    let mut rows = Vec::new();
    for (run, sightings) in &chosen {
        let cut = sightings.iter().map(|(_, s)| s.at as usize).max().unwrap_or(0);
        let order = session.at(*run as usize).order.through(cut);
        for attempt in 0..session.settings.reruns {
            let request = session.request(order.clone(), session.warm, FIRST_ATTEMPT + attempt);
            batch.push((Purpose::Rerun, request));
            rows.push(sightings.clone());
        }
    }
    session.watch.stage(Stage::Verify, batch.len());
    let runs = session.run(Stage::Verify, batch)?;
    let mut verified: BTreeMap<TestIndex, Verified> =
        suspects.iter().map(|test| (*test, Verified::default())).collect();
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

/// A few orders in which the test had this verdict; short prefixes first, because they cost less.
fn choose(session: &Session<'_>, test: TestIndex, polarity: Polarity) -> Vec<Sighting> {
    let mut sightings: Vec<Sighting> = session
        .evidence
        .with_polarity(test, polarity)
        .filter(|s| !session.evidence.run(*s).cold || session.warm == flakelab_model::Isolation::Cold)
        .collect();
    sightings.sort_by_key(|s| (s.at, s.run));
    // Among orders with equal prefixes one says it all.
    let mut prefixes: Vec<&[TestIndex]> = Vec::new();
    sightings.retain(|s| {
        let prefix = &session.evidence.run(*s).order.0[..s.at as usize];
        let new = !prefixes.contains(&prefix);
        if new && prefixes.len() < session.settings.rerun_orders {
            prefixes.push(prefix);
            return true;
        }
        false
    });
    sightings
}
