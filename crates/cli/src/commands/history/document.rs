//! The document: scores of the tests that are shown, with their versions.

use std::collections::BTreeMap;

use flakelab_history::verdict_entropy;
use flakelab_model::Reported;
use flakelab_report::detect::Schema;
use flakelab_report::history::{Document, Run, Share, Test, Totals, Verdicts, Version};
use flakelab_store::{HistoryTotals, Store, StoreError};

use super::Scored;

pub(super) struct About {
    pub(super) totals: HistoryTotals,
    pub(super) flaky: u64,
    /// Tests that could be shown.
    pub(super) found: u64,
    /// Whether every run is listed.
    pub(super) in_detail: bool,
}

pub(super) fn build(
    store: &Store,
    chosen: &[Scored],
    about: &About,
) -> Result<Document, StoreError> {
    let versions = store.history_versions()?;
    let names: BTreeMap<i64, &str> = versions.iter().map(|v| (v.id, v.name.as_str())).collect();
    let name = |id: i64| names.get(&id).map_or_else(String::new, |n| (*n).to_owned());
    let ids: Vec<i64> = chosen.iter().map(|c| c.test).collect();
    let mut rows = if about.in_detail {
        store.history_rows(&ids)?
    } else {
        BTreeMap::new()
    };
    let mut tests = Vec::with_capacity(chosen.len());
    for Scored { test, score } in chosen {
        let verdicts = store
            .history_of(*test)?
            .into_iter()
            .map(|(version, t)| Verdicts {
                version: name(version),
                passed: t.passed,
                failed: t.failed,
                errored: t.errored,
                skipped: t.skipped,
                flips: t.flips,
                entropy: verdict_entropy(&t),
            });
        let runs = rows.remove(test).unwrap_or_default();
        tests.push(Test {
            id: store.history_test_name(*test)?,
            entropy: score.entropy,
            overall_entropy: score.overall_entropy,
            flip_rate: score.flip_rate,
            transition_score: score.transition_score,
            flips_within_versions: Share {
                hits: score.within.hits,
                of: score.within.of,
                low: score.within.low,
                high: score.within.high,
            },
            runs: score.tally.runs,
            flaky_runs: score.tally.flaky,
            executions: score.tally.executions(),
            decided: score.tally.decided(),
            failures: score.tally.failures(),
            versions: score.versions,
            first_bad_version: score.first_bad.map(name),
            verdicts: verdicts.collect(),
            history: runs
                .into_iter()
                .map(|run| Run {
                    version: name(run.version),
                    run: run.run,
                    outcomes: run.outcomes.into_iter().map(letter).collect(),
                })
                .collect(),
        });
    }
    Ok(Document {
        schema: Schema::HISTORY,
        flakelab: env!("CARGO_PKG_VERSION").to_owned(),
        tests,
        versions: versions
            .iter()
            .map(|v| Version {
                name: v.name.clone(),
                ingested: v.created,
            })
            .collect(),
        totals: Totals {
            tests: about.totals.tests,
            versions: about.totals.versions,
            runs: about.totals.runs,
            reports: about.totals.files,
            executions: about.totals.executions,
            flaky: about.flaky,
            found: about.found,
        },
    })
}

fn letter(outcome: Reported) -> char {
    match outcome {
        Reported::Passed => '.',
        Reported::Failed => 'F',
        Reported::Errored => 'E',
        Reported::Skipped => 's',
    }
}
