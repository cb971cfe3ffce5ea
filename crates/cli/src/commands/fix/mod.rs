//! `flakelab fix`: from causes to verified patches.

mod apply;
mod cases;
mod document;

use std::path::{Path, PathBuf};
use std::time::Instant;

use flakelab_fix::{Change, Settings, Strategy, Tree, Variants, Watch};
use flakelab_lab::{Lab, LabError};
use flakelab_report::fix as report;
use flakelab_runners::pytest::OpenError;

use crate::args::{FixArgs, Format, PatchMode, StrategyArg};
use crate::error::{self, CliError};
use crate::printer::Volume;
use crate::workbench::{Bar, Workbench, deliver, lab_error};

/// Suites up to this size have every other test run right before the fixed one.
const SWEEP: usize = 3_000;

pub(crate) fn run(args: &FixArgs) -> crate::Outcome {
    let started = Instant::now();
    let (bench, _) = Workbench::settle(
        &args.chosen.project,
        &args.chosen.pytest_args,
        args.seed,
        &args.lab,
        &args.output,
    )?;
    let printer = bench.printer;
    let settings = Settings {
        seed: bench.seed,
        confirmations: 3,
        shuffles: args.shuffles.unwrap_or(20),
        sweep: SWEEP,
        timeout: bench.timeout,
        impatient: bench.impatient,
        strategy: args.strategy.map(|strategy| match strategy {
            StrategyArg::Isolate => Strategy::Isolate,
            StrategyArg::Restore => Strategy::Restore,
            StrategyArg::Reset => Strategy::Reset,
            StrategyArg::Helper => Strategy::Helper,
        }),
        all: args.patch_mode == PatchMode::All,
    };
    // Reading must not make a store.
    if !bench.location.file().exists() {
        return Err(cases::nothing_explained());
    }
    let store = bench.open_store()?;
    let bar = Bar::new(printer.shows_progress());
    let mut lab = bench.open_lab(&bar)?;
    let (cases, flaky) = cases::read(&store, &args.chosen.tests, lab.suite())?;
    let mut variants = PatchedProjects(&bench);
    let tree = Project(bench.project.clone());
    let fixes = flakelab_fix::fix(
        &mut lab,
        &mut variants,
        &tree,
        &cases,
        &flaky,
        &settings,
        &mut BarWatch(&bar),
    );
    bar.clear();
    let fixes = fixes.map_err(|e| match e {
        // Nothing is kept of a candidate, so there is nothing to go on with.
        LabError::Interrupted => {
            CliError::new(error::INTERRUPTED, "interrupted; nothing was changed")
        }
        other => lab_error(other, &bench),
    })?;
    let document = document::build(&fixes, &lab, bench.seed, started.elapsed());
    let json = serde_json::to_string_pretty(&document)
        .map_err(|e| CliError::new(error::INTERNAL, e.to_string()))?;
    let text = report::terminal(&document);
    match (&args.output.output, args.output.format) {
        (Some(folder), Format::Text) => {
            apply::save(folder, &document)?;
            if printer.volume != Volume::Quiet {
                printer.data(&text);
            }
        }
        _ => deliver::deliver(&json, &text, &args.output, printer)?,
    }
    if args.apply {
        apply::apply(&bench.project, &fixes, args.force, printer)?;
    }
    let unfixed = document.fixes.iter().any(|fix| fix.status != "fixed");
    Ok(if document.fixes.is_empty() {
        error::CLEAN
    } else if unfixed {
        error::INCONCLUSIVE
    } else {
        error::FINDINGS
    })
}

/// Shows which test is at its turn.
struct BarWatch<'a>(&'a Bar);

impl Watch for BarWatch<'_> {
    fn test(&mut self, test: &str, number: usize, of: usize) {
        self.0
            .say(format!("patches for test {} of {of}: {test}", number + 1));
    }
}

/// The project on disk, read only.
struct Project(PathBuf);

impl Tree for Project {
    fn read(&self, path: &str) -> Option<String> {
        let inside = Path::new(path)
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        inside.then(|| std::fs::read_to_string(self.0.join(path)).ok())?
    }
}

/// Labs of the project with some of its files changed.
struct PatchedProjects<'a>(&'a Workbench);

impl Variants for PatchedProjects<'_> {
    fn open(&mut self, changes: &[Change]) -> Result<Option<Box<dyn Lab + '_>>, LabError> {
        let files = changes
            .iter()
            .map(|change| (self.0.project.join(&change.path), change.after.clone()))
            .collect();
        match self.0.open_variant(files) {
            Ok(lab) => Ok(Some(Box::new(lab))),
            Err(OpenError::Interrupted) => Err(LabError::Interrupted),
            Err(OpenError::Io(error)) => Err(LabError::broken(error.to_string())),
            // A patch that breaks collection is no patch.
            Err(_) => Ok(None),
        }
    }
}
