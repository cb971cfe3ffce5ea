//! What each thing is good for: the wording of what is missing.

use std::path::{Path, PathBuf};

use flakelab_report::doctor::{Check, State};
use flakelab_runners::pytest::{Interpreter, InterpreterError};
use flakelab_store::{Location, Store};

use crate::config::{self, Config};
use crate::error::{CliError, chain};
use crate::machine::{Found, Memory};

pub(super) fn ok(name: &'static str, found: impl Into<String>) -> Check {
    Check {
        name,
        state: State::Ok,
        found: found.into(),
        costs: None,
        remedy: None,
    }
}

/// Something that flakelab works without.
pub(super) fn missing(name: &'static str, why: &str, costs: &str, remedy: &str) -> Check {
    Check {
        state: State::Missing,
        costs: Some(costs.to_owned()),
        remedy: Some(remedy.to_owned()),
        ..ok(name, why)
    }
}

/// Something that is necessary.
pub(super) fn broken(name: &'static str, error: &CliError, costs: &str) -> Check {
    let details: Vec<&str> = error
        .details
        .iter()
        .flat_map(|d| d.lines().next())
        .collect();
    let found = match details.as_slice() {
        [] => error.message.clone(),
        [first, ..] => format!("{}: {first}", error.message),
    };
    Check {
        state: State::Broken,
        costs: Some(costs.to_owned()),
        remedy: error.hint.clone(),
        ..ok(name, found)
    }
}

fn optional(name: &'static str, found: Found, costs: &str, remedy: &str) -> Check {
    match found {
        Ok(found) => ok(name, found),
        Err(why) => missing(name, &why, costs, remedy),
    }
}

pub(super) fn project(located: &Result<PathBuf, CliError>) -> Check {
    match located {
        Ok(path) => ok("project", path.display().to_string()),
        Err(error) => broken("project", error, "there is nothing to run"),
    }
}

pub(super) fn configuration(project: &Path, loaded: &Result<Config, CliError>) -> Check {
    match loaded {
        Ok(_) if project.join("flakelab.toml").is_file() => ok("configuration", "flakelab.toml"),
        Ok(_) if config::in_pyproject(project) => {
            ok("configuration", "[tool.flakelab] of pyproject.toml")
        }
        Ok(_) => ok(
            "configuration",
            "no flakelab.toml; `flakelab init` writes one, and none is needed",
        ),
        Err(error) => broken("configuration", error, "no verb starts"),
    }
}

pub(super) fn store((location, store): &(Location, Result<Option<Store>, CliError>)) -> Check {
    let file = location.file().display();
    match store {
        Ok(Some(_)) => ok("store", file.to_string()),
        Ok(None) => ok("store", format!("{file}, which is not there yet")),
        Err(error) => broken("store", error, "no verb can keep or read results"),
    }
}

pub(super) fn interpreter(python: &Result<Interpreter, InterpreterError>) -> Vec<Check> {
    match python {
        Ok(python) => vec![
            ok(
                "interpreter",
                format!("Python {}, {}", python.version, python.executable.display()),
            ),
            ok("pytest", python.pytest.clone()),
        ],
        Err(error) => {
            let told = CliError::usage(chain(error)).hint(error.hint());
            let name = match error {
                InterpreterError::NoPytest(_) | InterpreterError::OldPytest(..) => "pytest",
                _ => "interpreter",
            };
            vec![broken(
                name,
                &told,
                "only verbs that run no test work: ingest, history, report, and filter apply",
            )]
        }
    }
}

pub(super) fn clock(found: Found) -> Check {
    optional(
        "clock",
        found,
        "explain and measure: the date is not shifted, so tests that depend on it are not told by it",
        "`pip install libfaketime` in the project's environment, or `apt install faketime`",
    )
}

pub(super) fn memory(found: Result<Memory, String>) -> Check {
    let words = |m: Memory| {
        format!(
            "{:.1} GiB for each process of a run, as {} allows; --memory sets less",
            m.bytes as f64 / f64::from(1 << 30),
            if m.of_group {
                "the control group"
            } else {
                "the machine"
            }
        )
    };
    optional(
        "memory",
        found.map(words),
        "all verbs: a test that takes all memory is not stopped",
        "give --memory, in MiB",
    )
}

pub(super) fn network(found: Found) -> Check {
    optional(
        "network",
        found,
        "measure: the factor `network` is left alone, and no run is cut off from the network",
        "run as root, or allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, or \
         kernel.apparmor_restrict_unprivileged_userns=0",
    )
}

pub(super) fn addresses(found: Found) -> Check {
    optional(
        "addresses",
        found,
        "measure: the factor `addresses` is left alone; orders that follow from `id()` vary even under control",
        "allow the system call `personality` (docker run --security-opt seccomp=unconfined)",
    )
}

pub(super) fn git(found: Found) -> Check {
    optional(
        "git",
        found,
        "fix --apply cannot tell files with changes; filter forgets what was learned of renamed files, and \
         tune --bad does not work",
        "`apt install git`",
    )
}

pub(super) fn browser(found: Found) -> Check {
    optional(
        "browser",
        found,
        "pages (report, the --html of measure, mutate and filter tune, inject -o) have to be opened on another machine",
        "`apt install chromium`; pages are single files that need no network",
    )
}

/// Installed packages, as `name==version`.
pub(super) fn coverage(packages: &[String]) -> Check {
    let version = packages.iter().find_map(|package| {
        let (found, version) = package.split_once("==")?;
        found.eq_ignore_ascii_case("coverage").then_some(version)
    });
    match version {
        Some(version) => ok("coverage", format!("coverage.py {version}")),
        None => ok(
            "coverage",
            "coverage.py is not installed, and not needed: flakelab records executed code by itself",
        ),
    }
}
