//! `flakelab doctor`: what is there, what is missing, and what that costs.

mod checks;
mod suite;

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use flakelab_report::detect::Schema;
use flakelab_report::doctor::{Check, Document, State, terminal};
use flakelab_runners::pytest::{self, Interpreter};

use crate::args::DoctorArgs;
use crate::config;
use crate::error::{self, CliError};
use crate::machine;
use crate::printer::Printer;
use crate::project;
use crate::workbench::{self, deliver};

/// How long an interpreter is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn run(args: &DoctorArgs) -> crate::Outcome {
    let printer = Printer::new(args.output.quiet, args.output.verbose);
    let mut checks = Vec::new();
    let located = project::locate(&args.project.path);
    let folder = located.as_ref().map_or_else(
        |_| workbench::absolute(args.project.path.clone()),
        Clone::clone,
    );
    checks.push(checks::project(&located));
    let loaded = config::load(&folder);
    checks.push(checks::configuration(&folder, &loaded));
    let usable = located.is_ok() && loaded.is_ok();
    let config = loaded.unwrap_or_default();
    if usable {
        checks.push(checks::store(&workbench::store_of(
            &folder,
            args.output.store.as_deref(),
            &config,
        )));
    }
    let env: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let cwd = if folder.is_dir() { folder } else { "/".into() };
    let python = workbench::interpreter(&cwd, &config, &args.lab, &env, PATIENCE);
    checks.extend(checks::interpreter(&python));
    if let Ok(python) = &python {
        suite::check(args, python, usable, printer, &mut checks)?;
    }
    checks.extend(of_the_machine(&cwd, python.as_ref().ok(), &env));
    finish(checks, args, printer)
}

/// What does not depend on the suite.
fn of_the_machine(
    cwd: &Path,
    python: Option<&Interpreter>,
    env: &[(OsString, OsString)],
) -> Vec<Check> {
    let path = env.iter().find(|(key, _)| key == "PATH");
    let path = path.map(|(_, value)| value.as_os_str());
    let mut checks = Vec::new();
    if let Some(python) = python {
        checks.push(checks::clock(machine::clock(&python.executable)));
    }
    checks.push(checks::memory(machine::memory()));
    checks.push(checks::network(machine::network()));
    checks.push(checks::addresses(machine::addresses()));
    checks.push(checks::git(machine::git(cwd)));
    checks.push(checks::browser(machine::browser(path)));
    if let Some(python) = python {
        let packages = pytest::packages(python, cwd, env, PATIENCE).unwrap_or_default();
        checks.push(checks::coverage(&packages));
    }
    checks
}

fn finish(checks: Vec<Check>, args: &DoctorArgs, printer: Printer) -> crate::Outcome {
    let document = Document {
        schema: Schema::DOCTOR,
        flakelab: env!("CARGO_PKG_VERSION").to_owned(),
        ready: checks.iter().all(|check| check.state != State::Broken),
        checks,
    };
    let json = serde_json::to_string_pretty(&document)
        .map_err(|e| CliError::new(error::INTERNAL, e.to_string()))?;
    deliver::deliver(&json, &terminal(&document), &args.output, printer)?;
    Ok(if document.ready {
        error::CLEAN
    } else {
        error::BROKEN_SUITE
    })
}
