//! What is filtered now: known assertions found again in the project as it is.

use std::collections::BTreeMap;

use flakelab_filter::{Identity, Quarantine, match_up};
use flakelab_model::Place;

use super::assertions::{Site, Sources};
use super::knowledge::{Knowledge, Known};

/// Why an assertion is passed over.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reason {
    pub(super) score: f64,
    pub(super) because: String,
}

#[derive(Debug, Default)]
pub(super) struct Present {
    /// The known assertion that each present one is: number in the knowledge.
    pub(super) known: BTreeMap<Identity, usize>,
    /// By test, the sites to pass over.
    pub(super) filtered: BTreeMap<String, BTreeMap<Site, Reason>>,
}

impl Present {
    /// With `threshold`, every assertion whose accumulated score is above it; and what quarantine says.
    pub(super) fn find(
        knowledge: &Knowledge,
        quarantine: &Quarantine,
        today: &str,
        threshold: f64,
        sources: &mut Sources,
    ) -> Self {
        let mut present = Self::default();
        let mut missing: BTreeMap<(String, String, String), Vec<usize>> = BTreeMap::new();
        for (at, known) in knowledge.assertions.iter().enumerate() {
            let identity = known.kept.identity.clone();
            match sources.site(&identity, known.kept.offset) {
                Some(site) => present.take(at, known, identity, site, quarantine, today, threshold),
                None => {
                    let key = (identity.test, identity.file, identity.scope);
                    missing.entry(key).or_default().push(at);
                }
            }
        }
        // Edited: the most alike statement of the same function that is no other known assertion.
        for places in missing.into_values() {
            let earlier: Vec<Identity> = places
                .iter()
                .map(|at| knowledge.assertions[*at].kept.identity.clone())
                .collect();
            let neighbours: Vec<Identity> = sources
                .neighbours(&earlier[0])
                .into_iter()
                .filter(|neighbour| !present.known.contains_key(neighbour))
                .collect();
            let matched = match_up(&earlier, &neighbours, &BTreeMap::new());
            for (neighbour, found) in neighbours.into_iter().zip(matched) {
                let Some(at) = found.map(|found| places[found]) else {
                    continue;
                };
                let known = &knowledge.assertions[at];
                if let Some(site) = sources.site(&neighbour, known.kept.offset) {
                    present.take(at, known, neighbour, site, quarantine, today, threshold);
                }
            }
        }
        present.quarantined(quarantine, today, sources);
        present
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "called from two places, both plain"
    )]
    fn take(
        &mut self,
        at: usize,
        known: &Known,
        identity: Identity,
        site: Site,
        quarantine: &Quarantine,
        today: &str,
        threshold: f64,
    ) {
        let score = known.evidence.score();
        let entry = quarantine
            .covering(&identity.test, Some(&identity.text))
            .filter(|entry| !entry.is_expired(today));
        let because = match entry {
            Some(entry) => Some(format!(
                "in quarantine until {}: {}",
                entry.expires, entry.reason
            )),
            None if score > threshold => Some(format!("its score {score:.2} is above {threshold}")),
            None => None,
        };
        if let Some(because) = because {
            let test = self.filtered.entry(identity.test.clone()).or_default();
            test.insert(site, Reason { score, because });
        }
        self.known.insert(identity, at);
    }

    /// Assertions that somebody put there by hand before anything was learned of them.
    fn quarantined(&mut self, quarantine: &Quarantine, today: &str, sources: &mut Sources) {
        for entry in &quarantine.entries {
            let (Some(assertion), false) = (&entry.assertion, entry.is_expired(today)) else {
                continue;
            };
            let Some(place) = Place::of(&entry.test) else {
                continue;
            };
            let Some(source) = sources.file(&place.file) else {
                continue;
            };
            let scope: Vec<String> = place.path().into_iter().map(str::to_owned).collect();
            let text: Vec<&str> = assertion.split_whitespace().collect();
            for (line, column) in source.spots(&scope, &text.join(" ")) {
                let site = (place.file.clone(), line as u32, column as u32);
                let because = format!("in quarantine until {}: {}", entry.expires, entry.reason);
                let reason = Reason {
                    score: entry.score.unwrap_or_default(),
                    because,
                };
                let test = self.filtered.entry(entry.test.clone()).or_default();
                test.entry(site).or_insert(reason);
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        self.filtered.values().map(BTreeMap::len).sum()
    }
}
