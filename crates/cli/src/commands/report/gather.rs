//! What the store has of each verb, newest first; what cannot be read costs its own part of the page only.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flakelab_report::whole::{Campaign, Known, Part, Whole};
use flakelab_report::{detect, explain, fix};
use flakelab_store::{CampaignId, Finished, Store};
use serde::de::DeserializeOwned;

use super::sources;
use crate::commands::{filter, history};
use crate::error::{CliError, chain};
use crate::workbench::{Place, again};

/// Campaigns of `explain` and `fix` that are looked at.
const MOST_CAMPAIGNS: u32 = 50;
/// Tests of the history that are shown.
const MOST_HISTORY: usize = 100;
/// In the order in which they are listed.
const VERBS: [&str; 7] = [
    "detect",
    "explain",
    "fix",
    "measure",
    "filter learn",
    "mutate",
    "inject",
];

/// `None` if there is nothing at all.
pub(super) fn gather(store: &Store, place: &Place) -> Result<Option<Whole>, CliError> {
    let mut campaigns = Vec::new();
    let mut newest: Option<(CampaignId, usize)> = None;
    for verb in VERBS {
        if let Some(last) = store.last_finished(verb).map_err(CliError::store)? {
            // What was collected with a selection is not the suite.
            if newest.is_none_or(|(id, _)| last.id > id)
                && !again::is_selection(&last.configuration)
            {
                newest = Some((last.id, last.suite.len()));
            }
            campaigns.push(Campaign {
                verb: verb.to_owned(),
                ended: date(last.ended),
                command: again::command(verb, last.seed, &last.configuration, None),
            });
        }
    }
    let project = place.name();
    let history = history::worst(store, MOST_HISTORY).map_err(CliError::store)?;
    let filter = filter::learned(store, &project)?;
    if campaigns.is_empty() && history.is_none() && filter.is_none() {
        return Ok(None);
    }
    let (detect, at) = last::<detect::Document>(store, "detect")?;
    let still: BTreeSet<String> = detect
        .document()
        .into_iter()
        .flat_map(|document| &document.tests)
        .filter(|test| test.class.varies())
        .map(|test| test.id.clone())
        .collect();
    // What an earlier campaign said counts as long as detect still finds the test.
    let counts = |campaign: &Finished, test: &str| Some(campaign.id) > at || still.contains(test);
    let explanations = each(
        store,
        "explain",
        |document: explain::Document| {
            let all = document.explanations.into_iter();
            all.map(|e| (e.test.clone(), e)).collect()
        },
        // One that a budget ended says less than an earlier one that came to its end.
        |explanation| !explanation.unfinished,
        counts,
    )?;
    let fixes = each(
        store,
        "fix",
        |document: fix::Document| {
            let all = document.fixes.into_iter();
            all.map(|fix| (fix.test.clone(), fix)).collect()
        },
        |_| true,
        counts,
    )?;
    let (mutate, _) = last(store, "mutate")?;
    let sources = sources::unchanged(&place.project, mutate.document());
    Ok(Some(Whole {
        project,
        flakelab: env!("CARGO_PKG_VERSION").to_owned(),
        made: now(),
        suite: newest.map(|(_, tests)| tests),
        campaigns,
        detect,
        explanations,
        fixes,
        measure: last(store, "measure")?.0,
        mutate,
        sources,
        inject: last(store, "inject")?.0,
        filter,
        history,
    }))
}

/// The newest document of a verb, with its campaign.
fn last<D: DeserializeOwned>(
    store: &Store,
    verb: &str,
) -> Result<(Part<D>, Option<CampaignId>), CliError> {
    let Some(campaign) = store.last_finished(verb).map_err(CliError::store)? else {
        return Ok((Part::Never, None));
    };
    let part = match serde_json::from_str(&campaign.document) {
        Ok(what) => Part::Found(Box::new(Known {
            what,
            ended: date(campaign.ended),
            command: again::command(verb, campaign.seed, &campaign.configuration, None),
        })),
        Err(e) => Part::Unreadable(chain(&e)),
    };
    Ok((part, Some(campaign.id)))
}

/// Of each test the newest finding that counts, and one that is whole before all others. A campaign that cannot be read has none.
fn each<D: DeserializeOwned, T>(
    store: &Store,
    verb: &str,
    findings: impl Fn(D) -> Vec<(String, T)>,
    is_whole: impl Fn(&T) -> bool,
    counts: impl Fn(&Finished, &str) -> bool,
) -> Result<Vec<Known<T>>, CliError> {
    let campaigns = store
        .finished(verb, MOST_CAMPAIGNS)
        .map_err(CliError::store)?;
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut found: Vec<Known<T>> = Vec::new();
    for campaign in campaigns {
        let Ok(document) = serde_json::from_str(&campaign.document) else {
            continue;
        };
        for (test, what) in findings(document) {
            if !counts(&campaign, &test) {
                continue;
            }
            let place = places.get(&test).copied();
            if place.is_some_and(|at| is_whole(&found[at].what) || !is_whole(&what)) {
                continue;
            }
            let known = Known {
                what,
                ended: date(campaign.ended),
                command: again::command(verb, campaign.seed, &campaign.configuration, Some(&test)),
            };
            match place {
                Some(at) => found[at] = known,
                None => {
                    places.insert(test, found.len());
                    found.push(known);
                }
            }
        }
    }
    Ok(found)
}

fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    date(since.map_or(0, |since| since.as_secs().cast_signed()))
}

/// `2026-11-16 13:05 UTC`.
fn date(seconds: i64) -> String {
    /// The last second of the year 9999, the last one that has a date of four digits.
    const LAST: u64 = 253_402_300_799;
    let since = Duration::from_secs(seconds.max(0).unsigned_abs().min(LAST));
    let text = humantime::format_rfc3339_seconds(UNIX_EPOCH + since).to_string();
    let minutes: String = text.chars().take(16).collect();
    format!("{} UTC", minutes.replace('T', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_whole_comes_before_what_is_newer() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store::open(flakelab_store::Location::given(dir.path())).expect("a store");
        for document in [
            r#"[["a", 1, true], ["b", 2, true], ["c", 3, false]]"#,
            r#"[["a", 4, false], ["b", 5, true], ["c", 6, false], ["d", 7, false]]"#,
        ] {
            let campaign = flakelab_store::NewCampaign {
                verb: "explain",
                seed: 1,
                configuration: "{}",
                environment: "{}",
                suite: &flakelab_model::Suite::default(),
            };
            let id = store.begin(&campaign).expect("begun");
            store.finish(id, document).expect("finished");
        }
        let found = each(
            &store,
            "explain",
            |all: Vec<(String, u32, bool)>| {
                let all = all.into_iter();
                all.map(|(test, number, whole)| (test, (number, whole)))
                    .collect()
            },
            |(_, whole)| *whole,
            |_, _| true,
        );
        let found = found.expect("read");
        let mut numbers: Vec<u32> = found.iter().map(|known| known.what.0).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [1, 5, 6, 7]);
    }

    #[test]
    fn dates_are_read_by_people() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(1_700_000_000), "2023-11-14 22:13 UTC");
        assert_eq!(date(-5), "1970-01-01 00:00 UTC");
        assert_eq!(date(i64::MAX), "9999-12-31 23:59 UTC");
    }
}
