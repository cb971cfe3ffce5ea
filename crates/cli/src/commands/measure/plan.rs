//! From arguments and configuration to the configurations that are run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use flakelab_measure::{
    Configuration, Factor, Layer, Means, SYSTEM, Settings, controlled, gao, one_by_one,
};

use crate::args::PresetArg;
use crate::error::CliError;
use crate::nearest::nearest;

/// Combinations that one named configuration may stand for.
const MOST_COMBINATIONS: usize = 100;
const MASKS: [&str; 4] = ["address", "path", "uuid", "timestamp"];

/// The layers as asked for; values of assertions bring their verdicts along.
pub(super) fn layers(words: Option<&Vec<String>>) -> Result<BTreeSet<Layer>, CliError> {
    let Some(words) = words else {
        let default = [
            Layer::Outcome,
            Layer::Assertions,
            Layer::Verdicts,
            Layer::Code,
        ];
        return Ok(default.into());
    };
    let mut layers = BTreeSet::new();
    for word in words {
        let layer = Layer::from_word(word).ok_or_else(|| {
            let known = Layer::ALL.map(Layer::word);
            unknown("layer", word, &known)
        })?;
        layers.insert(layer);
        if layer == Layer::Assertions {
            layers.insert(Layer::Verdicts);
        }
    }
    Ok(layers)
}

/// `None`: whatever is usual.
pub(super) fn factors(words: Option<&Vec<String>>) -> Result<Option<Vec<Factor>>, CliError> {
    let Some(words) = words else { return Ok(None) };
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["none"] => return Ok(Some(Vec::new())),
        ["all"] => return Ok(Some(Factor::ALL.to_vec())),
        _ => {}
    }
    let known = Factor::ALL.map(Factor::word);
    let factor =
        |word: &String| Factor::from_word(word).ok_or_else(|| unknown("factor", word, &known));
    words.iter().map(factor).collect::<Result<_, _>>().map(Some)
}

pub(super) fn masks(words: &[String]) -> Result<(), CliError> {
    match words.iter().find(|word| !MASKS.contains(&word.as_str())) {
        Some(word) => Err(unknown("mask", word, &MASKS)),
        None => Ok(()),
    }
}

fn unknown(what: &str, word: &str, known: &[&str]) -> CliError {
    let hint = match nearest(word, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("known are {}", known.join(", ")),
    };
    CliError::usage(format!("`{word}` is no {what}")).hint(hint)
}

/// Everything that is to be run.
pub(super) fn configurations(
    preset: Option<PresetArg>,
    factors: Option<&[Factor]>,
    named: &BTreeMap<String, toml::Table>,
    means: &Means,
    runs: u32,
) -> Result<Vec<Configuration>, CliError> {
    let mut plan = match (preset, factors) {
        (Some(PresetArg::Gao), _) => gao(means, runs),
        (None, Some(factors)) => one_by_one(factors, means, runs),
        (None, None) => {
            let usual = |factor: &Factor| {
                *factor != Factor::Delay
                    && (*factor != Factor::Python || !means.runtimes.is_empty())
            };
            let usual: Vec<Factor> = Factor::ALL.into_iter().filter(usual).collect();
            one_by_one(&usual, means, runs)
        }
    };
    for (name, table) in named {
        for (suffix, settings) in combinations(name, table, means)? {
            let name = format!("{name}{suffix}");
            if plan.iter().any(|known| known.name == name) {
                return Err(CliError::usage(format!(
                    "`measure.configurations.{name}`: there is a configuration of that name already"
                ))
                .hint(
                    "give it a name that is no factor, and none of controlled and uncontrolled",
                ));
            }
            plan.push(Configuration::new(name, &settings, runs));
        }
    }
    Ok(plan)
}

/// Locales that the user's configurations speak of.
pub(super) fn named_locales(named: &BTreeMap<String, toml::Table>) -> Vec<String> {
    let settings = named
        .values()
        .filter_map(|table| table.get(Factor::Locale.word()));
    settings
        .flat_map(|value| match value {
            toml::Value::Array(values) => values.clone(),
            value => vec![value.clone()],
        })
        .filter_map(|value| value.as_str().map(str::to_owned))
        .collect()
}

/// Whether this machine has what a setting names: a wrong name would change nothing, and nobody would notice.
fn possible(factor: Factor, setting: &str, means: &Means) -> Result<(), String> {
    let zones = Path::new("/usr/share/zoneinfo");
    match factor {
        Factor::Cpus if setting.parse().is_ok_and(|n: usize| n > means.cpus) => Err(format!(
            "this machine has {} processors, not {setting}",
            means.cpus
        )),
        Factor::Timezone if setting.contains('/') && !zones.join(setting).is_file() => {
            Err(format!("this system knows no time zone `{setting}`"))
        }
        Factor::Locale => {
            let plain = ["C", "POSIX", "C.UTF-8", SYSTEM];
            let known = plain.contains(&setting) || means.locales.iter().any(|l| l == setting);
            known
                .then_some(())
                .ok_or_else(|| format!("this system has no locale `{setting}`"))
        }
        _ => Ok(()),
    }
}

/// One for each combination of listed settings, everything else under control.
fn combinations(
    name: &str,
    table: &toml::Table,
    means: &Means,
) -> Result<Vec<(String, Settings)>, CliError> {
    let wrong = |why: String| {
        CliError::usage(format!("`measure.configurations.{name}`: {why}")).hint(
            "`flakelab init --stdout` has an example; `flakelab measure --help` lists the factors",
        )
    };
    let known = Factor::ALL.map(Factor::word);
    let mut found = vec![(String::new(), controlled(&means.unavailable))];
    for (word, value) in table {
        let factor = Factor::from_word(word).ok_or_else(|| unknown("factor", word, &known))?;
        let (values, listed) = match value {
            toml::Value::Array(values) => (values.clone(), true),
            value => (vec![value.clone()], false),
        };
        let mut grown = Vec::new();
        for value in values {
            let setting = match value {
                toml::Value::String(text) => text,
                toml::Value::Integer(number) => number.to_string(),
                toml::Value::Datetime(date) => date.to_string(),
                other => {
                    return Err(wrong(format!("`{other}` is no setting of {word}"))
                        .hint(format!("{word} takes {}", factor.takes())));
                }
            };
            factor.check(&setting).map_err(wrong)?;
            possible(factor, &setting, means).map_err(wrong)?;
            if let Some(why) = means.unavailable.get(&factor)
                && setting != SYSTEM
            {
                return Err(wrong(format!("{word} cannot be set here: {why}")));
            }
            for (suffix, settings) in &found {
                let mut settings = settings.clone();
                settings.insert(factor, setting.clone());
                let suffix = if listed {
                    format!("{suffix} {word}={setting}")
                } else {
                    suffix.clone()
                };
                grown.push((suffix, settings));
            }
        }
        if grown.is_empty() || grown.len() > MOST_COMBINATIONS {
            return Err(wrong(format!(
                "{} combinations; 1 to {MOST_COMBINATIONS} are possible",
                grown.len()
            )));
        }
        found = grown;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> toml::Table {
        text.parse().expect("TOML")
    }

    #[test]
    fn lists_of_settings_are_combined() {
        let table = table("timezone = ['UTC0', 'LINT-14']\nhash-seed = [1, 2]\numask = '077'");
        let found = combinations("x", &table, &Means::default()).expect("valid");
        assert_eq!(found.len(), 4);
        assert!(found.iter().all(|(_, s)| s[&Factor::Umask] == "077"));
        let names: BTreeSet<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.len(), 4);
        assert!(names.contains(" hash-seed=1 timezone=UTC0"), "{names:?}");
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_a_hint() {
        let means = Means::default();
        let error = combinations("x", &table("timezon = 'UTC0'"), &means).expect_err("unknown");
        assert_eq!(error.hint.as_deref(), Some("did you mean `timezone`?"));
        assert!(combinations("x", &table("network = 'maybe'"), &means).is_err());
        assert!(combinations("x", &table("network = true"), &means).is_err());
        assert!(combinations("x", &table("umask = []"), &means).is_err());
        assert!(layers(Some(&vec!["outcom".into()])).is_err());
        assert!(factors(Some(&vec!["wind".into()])).is_err());
    }

    #[test]
    fn a_setting_that_this_machine_cannot_give_is_refused() {
        let mut means = Means::default();
        means.unavailable.insert(Factor::Date, "no library".into());
        let error = combinations("x", &table("date = '2024-01-01 00:00:00'"), &means)
            .expect_err("unavailable");
        assert!(error.message.contains("no library"), "{error:?}");
    }
}
