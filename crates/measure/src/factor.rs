//! The factors that runs are given, and their settings as people write them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use flakelab_lab::orders::Stream;
use flakelab_model::{Factors, FileOrder, ProcessFactors};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Factor {
    HashSeed,
    RandomSeed,
    Date,
    Timezone,
    Locale,
    State,
    Order,
    Files,
    Addresses,
    Network,
    Umask,
    Cpus,
    Load,
    Parallel,
    Delay,
    Python,
}

/// For every factor its setting. A factor that is not there is left as the system has it.
pub type Settings = BTreeMap<Factor, String>;

/// What stands for "left as the system has it".
pub const SYSTEM: &str = "system";

impl Factor {
    pub const ALL: [Factor; 16] = [
        Factor::HashSeed,
        Factor::RandomSeed,
        Factor::Date,
        Factor::Timezone,
        Factor::Locale,
        Factor::State,
        Factor::Order,
        Factor::Files,
        Factor::Addresses,
        Factor::Network,
        Factor::Umask,
        Factor::Cpus,
        Factor::Load,
        Factor::Parallel,
        Factor::Delay,
        Factor::Python,
    ];

    /// As in configuration files and documents.
    pub fn word(self) -> &'static str {
        match self {
            Factor::HashSeed => "hash-seed",
            Factor::RandomSeed => "random-seed",
            Factor::Date => "date",
            Factor::Timezone => "timezone",
            Factor::Locale => "locale",
            Factor::State => "state",
            Factor::Order => "order",
            Factor::Files => "files",
            Factor::Addresses => "addresses",
            Factor::Network => "network",
            Factor::Umask => "umask",
            Factor::Cpus => "cpus",
            Factor::Load => "load",
            Factor::Parallel => "parallel",
            Factor::Delay => "delay",
            Factor::Python => "python",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Factor::ALL.into_iter().find(|factor| factor.word() == word)
    }

    /// The settings it takes, for messages.
    pub fn takes(self) -> &'static str {
        match self {
            Factor::HashSeed => "a number, or `random` for another one in every run",
            Factor::RandomSeed => "a number, or `system` for no seed",
            Factor::Date => "`2024-02-29 23:30:00` in UTC, `random`, or `system`",
            Factor::Timezone => "a value of TZ like `Europe/Berlin` or `UTC0`, or `system`",
            Factor::Locale => "a value of LC_ALL like `C.UTF-8`, or `system`",
            Factor::State => "`restored` for every run, or `left` as the run before left it",
            Factor::Order => "`original`, `reverse` or `random`",
            Factor::Files => "`sorted`, `reversed` or `system`",
            Factor::Addresses => "`fixed` or `random`",
            Factor::Network => "`on` or `off`",
            Factor::Umask => "an octal number like `022`, or `system`",
            Factor::Cpus => "a number of processors, or `all`",
            Factor::Load => "`idle` or `busy`",
            Factor::Parallel => "how many runs at once",
            Factor::Delay => "milliseconds before every test",
            Factor::Python => "the path of an interpreter, or `project` for its own",
        }
    }

    /// Where everything is under control.
    fn controlled(self) -> &'static str {
        match self {
            Factor::HashSeed => "0",
            Factor::RandomSeed => "1",
            // A Tuesday before noon in summer: no edge of anything.
            Factor::Date => "2025-06-17 10:00:00",
            Factor::Timezone => "UTC0",
            Factor::Locale => "C.UTF-8",
            Factor::State => "restored",
            Factor::Order => "original",
            // Listing functions of our own would show; the order of a private view is the same in every run.
            Factor::Files => SYSTEM,
            Factor::Addresses => "fixed",
            Factor::Network => "on",
            Factor::Umask => "022",
            Factor::Cpus => "all",
            Factor::Load => "idle",
            Factor::Parallel => "1",
            Factor::Delay => "0",
            Factor::Python => "project",
        }
    }

    /// As a test run on somebody's machine comes about.
    fn uncontrolled(self) -> &'static str {
        match self {
            Factor::HashSeed | Factor::Addresses => "random",
            Factor::RandomSeed | Factor::Date | Factor::Timezone | Factor::Locale => SYSTEM,
            Factor::Files | Factor::Umask => SYSTEM,
            Factor::State => "left",
            other => other.controlled(),
        }
    }

    /// Whether a setting means something; says what would.
    pub fn check(self, setting: &str) -> Result<(), String> {
        let number = setting.parse::<u32>();
        let known = match self {
            Factor::HashSeed => setting == "random" || number.is_ok(),
            Factor::RandomSeed => setting == SYSTEM || number.is_ok(),
            Factor::Date => ["random", SYSTEM].contains(&setting) || instant(setting).is_some(),
            Factor::Timezone | Factor::Locale | Factor::Python => {
                !setting.is_empty() && !setting.contains('\0')
            }
            Factor::State => ["restored", "left"].contains(&setting),
            Factor::Order => ["original", "reverse", "random"].contains(&setting),
            Factor::Files => ["sorted", "reversed", SYSTEM].contains(&setting),
            Factor::Addresses => ["fixed", "random"].contains(&setting),
            Factor::Network => ["on", "off"].contains(&setting),
            Factor::Umask => setting == SYSTEM || mask(setting).is_some(),
            Factor::Cpus => setting == "all" || number.is_ok_and(|n| n > 0),
            Factor::Load => ["idle", "busy"].contains(&setting),
            Factor::Parallel => number.is_ok_and(|n| (1..=256).contains(&n)),
            Factor::Delay => number.is_ok_and(|n| n <= 60_000),
        };
        if known {
            Ok(())
        } else {
            Err(format!(
                "`{setting}` is no setting of {}, which takes {}",
                self.word(),
                self.takes()
            ))
        }
    }
}

/// Everything that can be controlled is.
pub fn controlled(unavailable: &BTreeMap<Factor, String>) -> Settings {
    all(unavailable, Factor::controlled)
}

/// Nothing is.
pub fn uncontrolled(unavailable: &BTreeMap<Factor, String>) -> Settings {
    all(unavailable, Factor::uncontrolled)
}

fn all(unavailable: &BTreeMap<Factor, String>, setting: fn(Factor) -> &'static str) -> Settings {
    Factor::ALL
        .into_iter()
        .map(|factor| {
            let setting = if unavailable.contains_key(&factor) {
                SYSTEM
            } else {
                setting(factor)
            };
            (factor, setting.to_owned())
        })
        .collect()
}

/// The settings of one run as the seam knows them, `number` being unlike that of any other run.
pub(crate) fn given(settings: &Settings, seed: u64, chain: &str, number: usize) -> (u32, Factors) {
    let get = |factor: Factor| settings.get(&factor).map_or(SYSTEM, String::as_str);
    let parsed = |factor: Factor| get(factor).parse::<u32>().ok();
    let mut stream = Stream::new(seed, &format!("measure {number}"));
    let drawn_hash_seed = stream.below(u64::from(u32::MAX)) as u32;
    let drawn_date = DRAWN_FROM + stream.below(DRAWN_SPAN) as i64;
    let factors = Factors {
        random_seed: parsed(Factor::RandomSeed),
        timezone: named(get(Factor::Timezone)),
        clock_shift: None,
        pressure: get(Factor::Load) == "busy",
        file_order: match get(Factor::Files) {
            "sorted" => Some(FileOrder::Sorted),
            "reversed" => Some(FileOrder::Reversed),
            _ => None,
        },
        delay: parsed(Factor::Delay).filter(|delay| *delay > 0),
        process: ProcessFactors {
            clock_start: match get(Factor::Date) {
                "random" => Some(drawn_date),
                setting => instant(setting),
            },
            locale: named(get(Factor::Locale)),
            umask: mask(get(Factor::Umask)),
            cpus: parsed(Factor::Cpus),
            offline: get(Factor::Network) == "off",
            fixed_addresses: get(Factor::Addresses) == "fixed",
            lasting_state: (get(Factor::State) == "left").then(|| chain.to_owned()),
            python: match get(Factor::Python) {
                "project" | SYSTEM => None,
                path => Some(PathBuf::from(path)),
            },
        },
    };
    (parsed(Factor::HashSeed).unwrap_or(drawn_hash_seed), factors)
}

/// Random dates lie in these ten years: 2020 to 2029.
const DRAWN_FROM: i64 = 1_577_836_800;
const DRAWN_SPAN: u64 = 10 * 365 * 86_400;

fn named(setting: &str) -> Option<String> {
    (setting != SYSTEM).then(|| setting.to_owned())
}

fn mask(setting: &str) -> Option<u32> {
    u32::from_str_radix(setting, 8).ok().filter(|m| *m <= 0o777)
}

/// Seconds since 1970.
fn instant(setting: &str) -> Option<i64> {
    let time = humantime::parse_rfc3339_weak(setting).ok()?;
    let since = time.duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_secs()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_setting_means_something() {
        for factor in Factor::ALL {
            for setting in [factor.controlled(), factor.uncontrolled()] {
                assert_eq!(factor.check(setting), Ok(()));
            }
            assert_eq!(Factor::from_word(factor.word()), Some(factor));
        }
    }

    #[test]
    fn settings_without_a_meaning_are_refused_with_what_has_one() {
        for (factor, setting) in [
            (Factor::HashSeed, "many"),
            (Factor::Date, "tomorrow"),
            (Factor::State, ""),
            (Factor::Umask, "999"),
            (Factor::Cpus, "0"),
            (Factor::Parallel, "0"),
            (Factor::Locale, ""),
        ] {
            let error = factor.check(setting).expect_err("no such setting");
            assert!(error.contains(factor.takes()), "{error}");
        }
    }

    #[test]
    fn a_run_is_given_what_the_settings_say() {
        let mut settings = controlled(&BTreeMap::new());
        settings.insert(Factor::State, "left".into());
        settings.insert(Factor::Network, "off".into());
        settings.insert(Factor::HashSeed, "7".into());
        let (hash_seed, factors) = given(&settings, 1, "chain", 3);
        assert_eq!(hash_seed, 7);
        assert_eq!(factors.process.clock_start, Some(1_750_154_400));
        assert_eq!(factors.process.umask, Some(0o22));
        assert_eq!(factors.process.lasting_state.as_deref(), Some("chain"));
        assert!(factors.process.offline && factors.process.fixed_addresses);
        assert_eq!(factors.process.cpus, None);
        assert_eq!(factors.delay, None);
        assert_eq!(factors.file_order, None);
    }

    #[test]
    fn what_is_random_is_another_in_every_run_and_the_same_with_the_same_seed() {
        let settings = Settings::from([
            (Factor::HashSeed, "random".into()),
            (Factor::Date, "random".into()),
        ]);
        let run = |number| given(&settings, 5, "", number);
        assert_eq!(run(1), run(1));
        assert_ne!(run(1).0, run(2).0);
        assert_ne!(run(1).1, run(2).1);
    }
}
