//! Starting a campaign in the store, or going on with the last one.

use std::collections::BTreeSet;

use flakelab_lab::Lab;
use flakelab_runners::pytest::PytestLab;
use flakelab_store::{Campaign, CampaignId, NewCampaign, Store};
use serde_json::{Map, Value};

use super::{Workbench, existing_store};
use crate::error::{CliError, chain};

/// What a campaign of a verb was asked to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) verb: &'a str,
    /// JSON: what the user asked for, as far as it decides about runs.
    pub(crate) configuration: &'a str,
}

impl Workbench {
    /// The campaign to go on with; its seed becomes ours.
    pub(crate) fn resume(&mut self, store: &Store, asked: Asked<'_>) -> Result<Campaign, CliError> {
        let last = store.last(asked.verb).map_err(CliError::store)?;
        let Some(last) = last else {
            return Err(nothing_to_resume());
        };
        if self.seed_given && self.seed != last.seed {
            return Err(CliError::usage(format!(
                "the last campaign has the seed {}, not {}",
                last.seed, self.seed
            ))
            .hint("leave --seed out to resume, or --resume to start anew"));
        }
        self.seed = last.seed;
        if last.configuration != asked.configuration {
            let mut error = CliError::usage("the last campaign was started with other options")
                .hint("repeat the command as it was, with --resume");
            for line in differences(&last.configuration, asked.configuration) {
                error = error.detail(line);
            }
            return Err(error);
        }
        Ok(last)
    }

    /// The store, if there is one, and with `resume` the campaign to go on with, before anything is collected; a suite that
    /// does not even collect leaves no store behind, and neither does the question.
    pub(crate) fn earlier(
        &mut self,
        resume: bool,
        asked: Asked<'_>,
    ) -> Result<(Option<Store>, Option<Campaign>), CliError> {
        let store = existing_store(&self.location)?;
        if !resume {
            return Ok((store, None));
        }
        let store = store.ok_or_else(nothing_to_resume)?;
        let last = self.resume(&store, asked)?;
        Ok((Some(store), Some(last)))
    }

    /// How much of a resumed campaign was there already.
    pub(crate) fn tell_replayed(&self, runs: u64) {
        self.printer.note(&match runs {
            1 => "1 run was taken from the store".to_owned(),
            many => format!("{many} runs were taken from the store"),
        });
    }
}

/// What was asked for then and is not now, option by option.
fn differences(then: &str, now: &str) -> Vec<String> {
    let read = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap_or_default();
    let (then, now) = (read(then), read(now));
    let said = |value: Option<&Value>| match value {
        None | Some(Value::Null) => "not given".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    names
        .into_iter()
        .filter(|name| then.get(*name) != now.get(*name))
        .map(|name| {
            let (then, now) = (said(then.get(name)), said(now.get(name)));
            format!("{}: {then} then, {now} now", name.replace('_', " "))
        })
        .collect()
}

fn nothing_to_resume() -> CliError {
    CliError::usage("there is no campaign to resume").hint("start one without --resume")
}

/// The campaign whose runs are to be recorded: the resumed one if the suite and its surroundings are still
/// the same, else a new one.
pub(crate) fn begin(
    bench: &Workbench,
    store: &Store,
    lab: &PytestLab,
    asked: Asked<'_>,
    resumed: Option<Campaign>,
) -> Result<CampaignId, CliError> {
    let environment = bench.environment(lab.facts());
    let Some(campaign) = resumed else {
        return store
            .begin(&NewCampaign {
                verb: asked.verb,
                seed: bench.seed,
                configuration: asked.configuration,
                environment: &environment,
                suite: lab.suite(),
            })
            .map_err(CliError::store);
    };
    let anew = |e: CliError| e.hint("start anew without --resume");
    // What says most comes first.
    store
        .check_suite(campaign.id, lab.suite())
        .map_err(|e| anew(CliError::usage(chain(&e))))?;
    if campaign.environment != environment {
        return Err(anew(CliError::usage(
            "the interpreter, its plugins, the commit or Python files changed since that campaign",
        )));
    }
    Ok(campaign.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_told() {
        let then = r#"{"orders":100,"mix":["global"],"base":null,"seed_method":"x","gone":1}"#;
        let now = r#"{"orders":20,"mix":["global"],"base":"main","seed_method":"x"}"#;
        let told = [
            "base: not given then, main now",
            "gone: 1 then, not given now",
            "orders: 100 then, 20 now",
        ];
        assert_eq!(differences(then, now), told);
    }
}
