//! What only a collected suite tells: whether it collects, whether it can be forked, and whether its files
//! can get a private view. Where the project's own does not collect, a suite of one test is asked.

use std::path::Path;

use flakelab_lab::Lab;
use flakelab_report::doctor::Check;
use flakelab_runners::pytest::{Facts, Interpreter, SandboxState};

use super::checks::{broken, missing, ok};
use crate::args::{DoctorArgs, LabArgs};
use crate::error::{CliError, INTERNAL, INTERRUPTED};
use crate::printer::{Printer, Volume};
use crate::workbench::{Bar, Workbench};

pub(super) fn check(
    args: &DoctorArgs,
    python: &Interpreter,
    usable: bool,
    printer: Printer,
    checks: &mut Vec<Check>,
) -> Result<(), CliError> {
    let bar = Bar::new(printer.shows_progress());
    let facts = if usable {
        bench(
            args,
            &args.project.path,
            &args.project.pytest_args,
            &args.lab,
        )
        .and_then(|bench| open(&bench, &bar))
        .map(|(tests, facts)| {
            checks.push(suite(tests, &facts));
            facts
        })
    } else {
        Err(CliError::usage("there is no project"))
    };
    let collected = if facts.is_ok() {
        "the collected suite"
    } else {
        "a suite of one test"
    };
    let facts = match facts {
        Ok(facts) => Ok(facts),
        Err(error) if error.code == INTERRUPTED => return Err(error),
        Err(error) => {
            if usable {
                checks.push(broken("suite", &error, "no verb that runs tests works"));
            }
            small_suite(args, python, &bar)
        }
    };
    bar.clear();
    match facts {
        Ok(facts) => checks.extend([fork(&facts, collected), sandbox(&facts.sandbox)]),
        Err(error) if error.code == INTERRUPTED => return Err(error),
        Err(error) => checks.push(broken(
            "fork",
            &error,
            "not even a suite of one test can be run",
        )),
    }
    Ok(())
}

/// One that says nothing but what `doctor` says.
fn bench(
    args: &DoctorArgs,
    path: &Path,
    pytest_args: &[String],
    lab: &LabArgs,
) -> Result<Workbench, CliError> {
    let (mut bench, _) = Workbench::settle(path, pytest_args, Some(1), lab, &args.output)?;
    bench.printer.volume = Volume::Quiet;
    Ok(bench)
}

fn open(bench: &Workbench, bar: &Bar) -> Result<(usize, Facts), CliError> {
    let lab = bench.open_lab(bar)?;
    Ok((lab.suite().len(), lab.facts().clone()))
}

/// With the interpreter of the project, so that what it has installed takes part.
fn small_suite(args: &DoctorArgs, python: &Interpreter, bar: &Bar) -> Result<Facts, CliError> {
    let io = |e: std::io::Error| CliError::new(INTERNAL, e.to_string());
    let folder = tempfile::tempdir().map_err(io)?;
    std::fs::write(folder.path().join("test_one.py"), "def test_one(): pass\n").map_err(io)?;
    let mut lab = args.lab.clone();
    lab.python = Some(python.executable.clone());
    let bench = bench(args, folder.path(), &[], &lab)?;
    open(&bench, bar).map(|(_, facts)| facts)
}

fn suite(tests: usize, facts: &Facts) -> Check {
    let mut found = match tests {
        1 => "1 test collects".to_owned(),
        many => format!("{many} tests collect"),
    };
    if !facts.silenced.is_empty() {
        found.push_str(&format!("; silenced: {}", facts.silenced.join(", ")));
    }
    let Some(first) = facts.collection_errors.first() else {
        return ok("suite", found);
    };
    let more = match facts.collection_errors.len() {
        1 => String::new(),
        many => format!(" and {} more", many - 1),
    };
    missing(
        "suite",
        &format!("{found}; `{}`{more} does not", first.id),
        "all verbs: what does not collect is left out",
        "run `pytest --collect-only`",
    )
}

fn fork(facts: &Facts, collected: &str) -> Check {
    match &facts.cold_because {
        None => ok("fork", format!("{collected} can be forked")),
        Some(why) => missing(
            "fork",
            why,
            "all verbs: every run starts an interpreter of its own, which takes many times longer",
            "start threads in fixtures, not while modules are imported",
        ),
    }
}

fn sandbox(state: &SandboxState) -> Check {
    let costs = "all verbs: what tests write into the project stays there; fix works on a copy; measure: the \
                 factor `state` is left alone";
    match state {
        SandboxState::On => ok(
            "sandbox",
            "every run sees a private view of the project's files",
        ),
        SandboxState::Off => missing(
            "sandbox",
            "it is turned off",
            costs,
            "leave out --sandbox off, FLAKELAB_SANDBOX and `sandbox` in the configuration",
        ),
        SandboxState::Unavailable(why) => missing(
            "sandbox",
            why,
            costs,
            "run as root, or allow user namespaces and overlay mounts in them (Linux 5.11 or newer; in a container \
             --privileged); files of other users rule it out",
        ),
    }
}
