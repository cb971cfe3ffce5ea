//! What this machine and project have to vary with: probed before the first run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use flakelab_measure::{Factor, Means};
use flakelab_runners::pytest::{PytestLab, SandboxState};

use crate::error::{CliError, chain};
use crate::machine;
use crate::workbench::Workbench;

/// Tried besides the C locales; far apart in digits, capital letters and order.
const LOCALES: [&str; 3] = ["de_DE.UTF-8", "tr_TR.UTF-8", "ja_JP.UTF-8"];
const CONTROLLED_LOCALE: &str = "C.UTF-8";

pub(in crate::commands) fn probe(
    bench: &Workbench,
    lab: &PytestLab,
    runtimes: &[PathBuf],
    named_locales: &[String],
) -> Result<Means, CliError> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let mut unavailable = BTreeMap::new();
    let mut cannot = |factor: Factor, why: &str| {
        unavailable.insert(factor, why.to_owned());
    };
    for (factor, found) in [
        (Factor::Date, machine::clock(&bench.python().executable)),
        (Factor::Network, machine::network()),
        (Factor::Addresses, machine::addresses()),
    ] {
        if let Err(why) = found {
            cannot(factor, &why);
        }
    }
    if lab.facts().sandbox != SandboxState::On {
        cannot(Factor::State, "there is no sandbox to restore files with");
    }
    if cpus < 2 {
        cannot(Factor::Cpus, "this machine has one processor");
    }
    let named = named_locales.iter().map(String::as_str);
    let wanted: Vec<&str> = [CONTROLLED_LOCALE]
        .into_iter()
        .chain(LOCALES)
        .chain(named)
        .collect();
    let mut locales = bench.locales(&wanted).unwrap_or_default();
    if !locales.iter().any(|locale| locale == CONTROLLED_LOCALE) {
        cannot(Factor::Locale, "this system has no locale C.UTF-8");
    }
    locales.retain(|locale| locale != CONTROLLED_LOCALE);
    let mut paths = Vec::new();
    for runtime in runtimes {
        let found = bench
            .other_interpreter(runtime)
            .map_err(|e| CliError::usage(chain(&e)).hint(e.hint()))?;
        paths.push(found.executable.to_string_lossy().into_owned());
    }
    if paths.is_empty() {
        cannot(
            Factor::Python,
            "no other interpreter was named with --runtime",
        );
    }
    Ok(Means {
        unavailable,
        locales,
        cpus,
        runtimes: paths,
    })
}
