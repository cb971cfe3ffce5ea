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
    known: BTreeMap<Identity, usize>,
    /// By test, the sites to pass over. An entry of quarantine may name a test function for all of its parameters.
    pub(super) filtered: BTreeMap<String, BTreeMap<Site, Reason>>,
}

/// Why an assertion is passed over, if it is.
fn reason(known: &Known, quarantine: &Quarantine, today: &str, threshold: f64) -> Option<Reason> {
    let score = known.evidence.score();
    let identity = &known.kept.identity;
    let entry = quarantine
        .covering(&identity.test, Some(&identity.text))
        .filter(|entry| !entry.is_expired(today));
    let because = match entry {
        Some(entry) => format!("in quarantine until {}: {}", entry.expires, entry.reason),
        None if score > threshold => format!("its score {score:.2} is above {threshold}"),
        None => return None,
    };
    Some(Reason { score, because })
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
            let Some(reason) = reason(known, quarantine, today, threshold) else {
                // Where it stands is of no interest unless it fails.
                present.known.insert(identity, at);
                continue;
            };
            match sources.site(&identity, known.kept.offset) {
                Some(site) => present.take(at, identity, site, reason),
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
                let site = sources.site(&neighbour, known.kept.offset);
                let reason = reason(known, quarantine, today, threshold);
                if let Some((site, reason)) = site.zip(reason) {
                    present.take(at, neighbour, site, reason);
                }
            }
        }
        present.quarantined(quarantine, today, sources);
        present
    }

    fn take(&mut self, at: usize, identity: Identity, site: Site, reason: Reason) {
        let test = self.filtered.entry(identity.test.clone()).or_default();
        test.insert(site, reason);
        self.known.insert(identity, at);
    }

    /// The known assertion that a present one is: itself, or one of the same function that is gone and most alike.
    pub(super) fn known<'a>(
        &self,
        identity: &Identity,
        knowledge: &'a Knowledge,
        sources: &mut Sources,
    ) -> Option<&'a Known> {
        if let Some(at) = self.known.get(identity) {
            return Some(&knowledge.assertions[*at]);
        }
        let gone: Vec<&Known> = knowledge
            .assertions
            .iter()
            .filter(|known| {
                let other = &known.kept.identity;
                (&other.test, &other.file, &other.scope)
                    == (&identity.test, &identity.file, &identity.scope)
            })
            .filter(|known| {
                sources
                    .site(&known.kept.identity, known.kept.offset)
                    .is_none()
            })
            .collect();
        let earlier: Vec<Identity> = gone
            .iter()
            .map(|known| known.kept.identity.clone())
            .collect();
        let found = match_up(&earlier, std::slice::from_ref(identity), &BTreeMap::new());
        found[0].map(|at| gone[at])
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

    /// Why an assertion of a test is passed over: for its own sake, or that of its test function, class or file.
    pub(super) fn reason(&self, test: &str, site: &Site) -> Option<&Reason> {
        let whole = test.match_indices(['[', ':']).map(|(at, _)| &test[..at]);
        let mut names = std::iter::once(test).chain(whole);
        names.find_map(|name| self.filtered.get(name)?.get(site))
    }

    pub(super) fn count(&self) -> usize {
        self.filtered.values().map(BTreeMap::len).sum()
    }
}
