//! Which configurations are run: the controlled one, the uncontrolled one, one for every factor that is
//! varied, and those the user has named.

use std::collections::BTreeMap;

use crate::factor::{Factor, Settings, controlled, uncontrolled};

/// Runs that are measured together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    pub name: String,
    /// Of each run.
    pub runs: Vec<Settings>,
}

impl Configuration {
    pub fn new(name: impl Into<String>, settings: &Settings, runs: u32) -> Self {
        Self {
            name: name.into(),
            runs: vec![settings.clone(); runs as usize],
        }
    }

    /// One factor takes its other settings in turn, the rest stays under control.
    fn varied(factor: Factor, base: &Settings, levels: &[String], runs: u32) -> Self {
        let runs = levels.iter().cycle().take(runs as usize).map(|level| {
            let mut settings = base.clone();
            settings.insert(factor, level.clone());
            settings
        });
        let mut runs: Vec<Settings> = runs.collect();
        // Runs of a level beside each other, so that what drifts does so in one place.
        runs.sort_by_key(|settings| levels.iter().position(|level| *level == settings[&factor]));
        Self {
            name: factor.word().to_owned(),
            runs,
        }
    }
}

/// What this machine and project have to vary with.
#[derive(Debug, Clone, Default)]
pub struct Means {
    /// Factors that cannot be set here, and why.
    pub unavailable: BTreeMap<Factor, String>,
    /// Installed locales besides the controlled one.
    pub locales: Vec<String>,
    pub cpus: usize,
    /// Other interpreters.
    pub runtimes: Vec<String>,
}

/// The controlled configuration is called this.
const CONTROLLED: &str = "controlled";

/// The controlled and the uncontrolled configuration, and one for each of these factors.
pub fn one_by_one(factors: &[Factor], means: &Means, runs: u32) -> Vec<Configuration> {
    let base = controlled(&means.unavailable);
    let mut plan = vec![
        Configuration::new(CONTROLLED, &base, runs),
        Configuration::new("uncontrolled", &uncontrolled(&means.unavailable), runs),
    ];
    for factor in factors {
        let levels = levels(*factor, means);
        if !means.unavailable.contains_key(factor) && !levels.is_empty() {
            plan.push(Configuration::varied(*factor, &base, &levels, runs));
        }
    }
    plan
}

/// The nine configurations of table 4.2 of the dissertation. Its best delay was found by looking; ours is none.
pub fn gao(means: &Means, runs: u32) -> Vec<Configuration> {
    let best = controlled(&means.unavailable);
    let with = |changes: &[(Factor, &str)]| {
        let mut settings = best.clone();
        for (factor, setting) in changes {
            if !means.unavailable.contains_key(factor) {
                settings.insert(*factor, (*setting).to_owned());
            }
        }
        settings
    };
    let mut wild = uncontrolled(&means.unavailable);
    if !means.unavailable.contains_key(&Factor::Date) {
        wild.insert(Factor::Date, "random".into());
    }
    let mut plan = vec![
        Configuration::new("best", &best, runs),
        Configuration::new("uncontrolled", &wild, runs),
        Configuration::new(
            "no-init",
            &with(&[(Factor::State, "left"), (Factor::Date, "system")]),
            runs,
        ),
    ];
    for delay in ["0", "50", "100", "200"] {
        let name = format!("delay-{delay}ms");
        plan.push(Configuration::new(
            name,
            &with(&[(Factor::Delay, delay)]),
            runs,
        ));
    }
    for python in &means.runtimes {
        let name = format!("python {python}");
        plan.push(Configuration::new(
            name,
            &with(&[(Factor::Python, python)]),
            runs,
        ));
    }
    plan
}

/// The other settings a factor is tried with; few, so that each is met more than once.
fn levels(factor: Factor, means: &Means) -> Vec<String> {
    let words: &[&str] = match factor {
        Factor::HashSeed => &["1", "2", "3", "4", "5"],
        Factor::RandomSeed => &["2", "3", "4", "5", "6"],
        // Late in the evening; a Saturday at the end of a year; a leap day; a winter's night.
        Factor::Date => &[
            "2025-06-17 23:30:00",
            "2022-12-31 12:00:00",
            "2028-02-29 10:00:00",
            "2026-01-05 03:00:00",
        ],
        // Written out, so that no time zone database is needed: the ends of the world, and a half hour.
        Factor::Timezone => &["AOE12", "LINT-14", "IST-5:30"],
        Factor::Locale => &["POSIX"],
        Factor::State => &["left"],
        Factor::Order => &["reverse", "random"],
        Factor::Files => &["sorted", "reversed"],
        Factor::Addresses => &["random"],
        Factor::Network => &["off"],
        Factor::Umask => &["077"],
        Factor::Cpus if means.cpus > 1 => &["1"],
        Factor::Cpus => &[],
        Factor::Load => &["busy"],
        Factor::Parallel => &[],
        Factor::Delay => &["50", "200"],
        Factor::Python => &[],
    };
    let mut levels: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    match factor {
        Factor::Locale => levels.extend(means.locales.iter().cloned()),
        Factor::Parallel => levels.push((2 * means.cpus.max(1)).to_string()),
        Factor::Python => levels.extend(means.runtimes.iter().cloned()),
        _ => {}
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means() -> Means {
        Means {
            cpus: 2,
            ..Means::default()
        }
    }

    #[test]
    fn a_varied_configuration_differs_from_the_controlled_one_in_its_factor_only() {
        for configuration in &one_by_one(&Factor::ALL, &means(), 10)[2..] {
            let factor = Factor::from_word(&configuration.name).expect("named after its factor");
            assert_eq!(configuration.runs.len(), 10);
            let base = controlled(&BTreeMap::new());
            for run in &configuration.runs {
                assert_eq!(factor.check(&run[&factor]), Ok(()));
                assert_ne!(run[&factor], base[&factor]);
                let mut same = run.clone();
                same.insert(factor, base[&factor].clone());
                assert_eq!(same, base);
            }
        }
    }

    #[test]
    fn a_factor_that_cannot_be_set_has_no_configuration_and_is_left_alone_in_all() {
        let mut means = means();
        means.unavailable.insert(Factor::Date, "no library".into());
        let plan = one_by_one(&[Factor::Date, Factor::Timezone], &means, 4);
        let names: Vec<&str> = plan.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["controlled", "uncontrolled", "timezone"]);
        assert!(
            plan.iter()
                .flat_map(|c| &c.runs)
                .all(|run| run[&Factor::Date] == "system")
        );
    }

    #[test]
    fn the_preset_has_the_nine_configurations_of_table_4_2() {
        let mut means = means();
        means.runtimes = vec!["/a/python".into(), "/b/python".into()];
        let plan = gao(&means, 10);
        let names: Vec<&str> = plan.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "best",
                "uncontrolled",
                "no-init",
                "delay-0ms",
                "delay-50ms",
                "delay-100ms",
                "delay-200ms",
                "python /a/python",
                "python /b/python"
            ]
        );
        assert_eq!(plan[1].runs[0][&Factor::Date], "random");
        assert_eq!(plan[2].runs[0][&Factor::State], "left");
    }
}
