//! What every verb starts with: the project, its interpreter and configuration, the lab and the store.

pub(crate) mod again;
mod campaign;
pub(crate) mod deliver;
mod detected;
mod failures;
mod journal;
mod orders;
mod place;
mod progress;
mod selection;
mod variants;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flakelab_lab::Lab;
use flakelab_model::{Recording, RunRecord, Suite, TestIndex, Timeout};
use flakelab_runners::cancel::Cancel;
use flakelab_runners::process::Limits;
use flakelab_runners::pytest::{
    self, Facts, Instrumented, Interpreter, OpenError, Options, PlainProject, PytestLab,
    SandboxMode, SandboxState, Settled,
};
use flakelab_store::{Location, Store};
use serde_json::json;

use crate::args::{IsolationArg, LabArgs, OutputArgs, SandboxArg};
use crate::config::{self, Config};
use crate::error::{CliError, chain};
use crate::interrupt;
use crate::machine;
use crate::printer::Printer;
use crate::{project, sources};

pub(crate) use campaign::{Asked, begin};
pub(crate) use detected::{Detected, DetectedTest};
pub(crate) use failures::{instrumented_error, lab_error, not_collected, unkept};
pub(crate) use journal::{EarlierJournal, StoreJournal};
pub(crate) use orders::read_orders;
pub(crate) use place::{Place, existing_store, store_of};
pub(crate) use progress::{Bar, Gauge};
pub(crate) use selection::means;
pub(crate) use variants::{PatchedProjects, Project};

/// The largest file a test may write: what bounds a test that prints for ever.
const FILE_LIMIT: u64 = 1 << 30;
/// How long an interpreter may take to say what it is: even one on a slow network drive starts within.
const MOST_PATIENCE: Duration = Duration::from_secs(60);

/// Arguments, environment and configuration settled, as far as all verbs share them.
#[derive(Debug, Clone)]
pub(crate) struct Workbench {
    pub(crate) project: PathBuf,
    pub(crate) location: Location,
    pub(crate) seed: u64,
    pub(crate) seed_given: bool,
    pub(crate) timeout: Timeout,
    /// Whether the user has not said how long a test may take.
    pub(crate) impatient: bool,
    pub(crate) jobs: usize,
    pub(crate) isolation: IsolationArg,
    pub(crate) pytest_args: Vec<String>,
    pub(crate) printer: Printer,
    interpreter: Interpreter,
    env: Vec<(OsString, OsString)>,
    sandbox: SandboxArg,
    memory: Option<u64>,
    cancel: Cancel,
}

impl Workbench {
    /// Also returns the configuration, for what only one verb reads.
    pub(crate) fn settle(
        path: &Path,
        pytest_args: &[String],
        seed: Option<u64>,
        lab: &LabArgs,
        output: &OutputArgs,
    ) -> Result<(Self, Config), CliError> {
        let project = project::locate(path)?;
        let config = config::load(&project)?;
        let env: Vec<_> = std::env::vars_os().collect();
        let run_timeout = lab.run_timeout.or(config.run_timeout.map(|t| t.0));
        let run_timeout = run_timeout.unwrap_or(Duration::from_secs(3600));
        let interpreter = interpreter(&project, &config, lab, &env, run_timeout)
            .map_err(|e| CliError::usage(chain(&e)).hint(e.hint()))?;
        let location = place::location(&project, output.store.as_deref(), &config);
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = lab.jobs.or(config.jobs).unwrap_or(processors);
        if jobs == 0 {
            let said = match lab.jobs {
                Some(_) => "--jobs 0",
                None => "`jobs = 0` in the configuration",
            };
            return Err(
                CliError::usage(format!("{said}: at least one run must be possible"))
                    .hint("leave it out for one run on each processor"),
            );
        }
        let seed = seed.or(config.seed);
        let test_timeout = lab.test_timeout.or(config.test_timeout.map(|t| t.0));
        let bench = Self {
            location,
            seed: seed.unwrap_or_else(new_seed),
            seed_given: seed.is_some(),
            timeout: Timeout {
                test: test_timeout.unwrap_or(Duration::from_secs(300)),
                run: run_timeout,
            },
            impatient: test_timeout.is_none(),
            jobs,
            isolation: lab
                .isolation
                .or(config.isolation)
                .unwrap_or(IsolationArg::Auto),
            pytest_args: if pytest_args.is_empty() {
                config.pytest_args.clone().unwrap_or_default()
            } else {
                pytest_args.to_vec()
            },
            printer: Printer::new(output.quiet, output.verbose),
            interpreter,
            env,
            sandbox: lab.sandbox.or(config.sandbox).unwrap_or(SandboxArg::Auto),
            memory: lab.memory.or(config.memory).map(|mib| mib << 20),
            cancel: interrupt::cancel(),
            project,
        };
        Ok((bench, config))
    }

    pub(crate) fn open_store(&self) -> Result<Store, CliError> {
        place::open(&self.location)
    }

    /// Collects the suite, and says what the user should know before a long run.
    pub(crate) fn open_lab(&self, bar: &Bar) -> Result<PytestLab, CliError> {
        interrupt::install()?;
        bar.message("collecting the suite");
        let lab = PytestLab::open(self.lab_options()).map_err(failures::open_error)?;
        bar.suspend(|| self.tell(&lab));
        Ok(lab)
    }

    /// The suite once, in one interpreter; or these arguments instead of the user's.
    pub(crate) fn run_once(
        &self,
        recording: Arc<Recording>,
        args: Option<Vec<String>>,
    ) -> Result<(Suite, Facts, RunRecord), CliError> {
        interrupt::install()?;
        let mut options = self.lab_options();
        options.args = args.unwrap_or(options.args);
        pytest::once(options, recording, self.timeout).map_err(failures::open_error)
    }

    /// The same for another folder.
    pub(crate) fn elsewhere(&self, project: &Path) -> Self {
        Self {
            project: project.to_owned(),
            ..self.clone()
        }
    }

    /// The interpreter of the project.
    pub(crate) fn python(&self) -> &Interpreter {
        &self.interpreter
    }

    /// Those of these locales that the system has.
    pub(crate) fn locales(&self, wanted: &[&str]) -> Result<Vec<String>, pytest::InterpreterError> {
        let patience = MOST_PATIENCE.min(self.timeout.run);
        pytest::locales(
            &self.interpreter,
            wanted,
            &self.project,
            &self.env,
            patience,
        )
    }

    /// Another interpreter (or environment) than the project's own.
    pub(crate) fn other_interpreter(
        &self,
        path: &Path,
    ) -> Result<Interpreter, pytest::InterpreterError> {
        let patience = MOST_PATIENCE.min(self.timeout.run);
        let candidates = pytest::candidates(Some(path), &self.project, &self.env, None);
        pytest::first_fitting(&candidates, &self.project, &self.env, patience)
    }

    /// The name of the project's folder.
    pub(crate) fn project_name(&self) -> String {
        let name = self.project.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The same project with some files changed; says nothing. What is `settled` is not found out again.
    pub(crate) fn open_variant(
        &self,
        patched: Vec<(PathBuf, Vec<u8>)>,
        settled: Option<Settled>,
    ) -> Result<PytestLab, OpenError> {
        PytestLab::open(Options {
            patched,
            settled,
            ..self.lab_options()
        })
    }

    /// The same project, its files instrumented; says nothing.
    pub(crate) fn open_instrumented(
        &self,
        texts: Instrumented,
        settled: Settled,
    ) -> Result<PytestLab, OpenError> {
        PytestLab::open(Options {
            instrumented: Some(texts),
            settled: Some(settled),
            ..self.lab_options()
        })
    }

    /// What pieces of code compile to.
    pub(crate) fn digests(
        &self,
        codes: &[impl serde::Serialize],
    ) -> Result<Vec<Option<String>>, pytest::InterpreterError> {
        pytest::digests(
            &self.interpreter,
            codes,
            &self.project,
            &self.env,
            self.timeout.run,
        )
    }

    /// The packages of the project's interpreter.
    pub(crate) fn packages(&self) -> Result<Vec<String>, pytest::InterpreterError> {
        pytest::packages(
            &self.interpreter,
            &self.project,
            &self.env,
            MOST_PATIENCE.min(self.timeout.run),
        )
    }

    /// A copy of the project for plain pytest.
    pub(crate) fn plain_copy(&self) -> std::io::Result<PlainProject> {
        let tree = project::tree(&self.project);
        let limits = self.lab_options().limits;
        PlainProject::copy(&tree, &self.project, &self.interpreter, &self.env, limits)
    }

    fn lab_options(&self) -> Options {
        Options {
            patched: Vec::new(),
            instrumented: None,
            settled: None,
            interpreter: self.interpreter.clone(),
            project: self.project.clone(),
            tree: project::tree(&self.project),
            args: self.pytest_args.clone(),
            env: self.env.clone(),
            seed: self.seed,
            jobs: self.jobs,
            sandbox: match self.sandbox {
                SandboxArg::Auto => SandboxMode::Auto,
                SandboxArg::Off => SandboxMode::Off,
            },
            cold_only: self.isolation == IsolationArg::Cold,
            limits: Limits {
                file: Some(FILE_LIMIT),
                memory: self
                    .memory
                    .or_else(|| machine::memory().ok().map(|m| m.bytes)),
            },
            patience: self.timeout.run,
            cancel: self.cancel.clone(),
        }
    }

    fn tell(&self, lab: &PytestLab) {
        let (facts, printer) = (lab.facts(), self.printer);
        let plugins = match facts.plugins.as_slice() {
            [] => "none".to_owned(),
            some => some.join(", "),
        };
        printer.detail(&format!(
            "{} tests, Python {}, pytest {}, plugins: {plugins}",
            lab.suite().len(),
            facts.python,
            facts.pytest,
        ));
        if !facts.silenced.is_empty() {
            printer.detail(&format!(
                "silenced, because they decide about order or repetition: {}",
                facts.silenced.join(", ")
            ));
        }
        if let SandboxState::Unavailable(why) = &facts.sandbox {
            printer.note(&format!(
                "no sandbox ({why}): what tests write into the project stays there; --sandbox off silences this"
            ));
        }
        if let Some(why) = &facts.cold_because {
            printer.note(&format!(
                "every run gets an interpreter of its own, which is slower, because {why}"
            ));
        }
        for error in not_collected(facts) {
            let first = error.message.lines().next().unwrap_or_default();
            printer.note(&format!(
                "`{}` does not collect and is left out: {first}",
                error.id
            ));
        }
    }

    /// The environment fingerprint.
    pub(crate) fn environment(&self, facts: &Facts) -> String {
        json!({
            "flakelab": env!("CARGO_PKG_VERSION"),
            "python": facts.python,
            "executable": self.interpreter.executable,
            "pytest": facts.pytest,
            "plugins": facts.plugins,
            "os": std::env::consts::OS,
            "arch": std::env::consts::ARCH,
            "commit": project::commit(&project::tree(&self.project)),
            "sources": sources::digest(&self.project),
        })
        .to_string()
    }

    /// A place in the project, relative to it.
    pub(crate) fn near(&self, at: &str) -> String {
        let project = self.project.to_string_lossy();
        at.strip_prefix(&*project)
            .and_then(|rest| rest.strip_prefix('/'))
            .unwrap_or(at)
            .to_owned()
    }
}

/// The interpreter that runs the suite: the one that is asked for, or else the project's.
pub(crate) fn interpreter(
    project: &Path,
    config: &Config,
    lab: &LabArgs,
    env: &[(OsString, OsString)],
    patience: Duration,
) -> Result<Interpreter, pytest::InterpreterError> {
    let wanted = lab.python.clone().map(absolute).or(config.python.clone());
    let flakelab = std::env::current_exe().ok();
    let candidates = pytest::candidates(wanted.as_deref(), project, env, flakelab.as_deref());
    pytest::first_fitting(&candidates, project, env, patience.min(MOST_PATIENCE))
}

/// A plain command. pytest never runs one id twice, so a repetition is two sessions in one process.
pub(crate) fn shell(lab: &PytestLab, order: &[TestIndex], hash_seed: Option<u32>) -> String {
    let arguments = &lab.facts().arguments;
    match order {
        [a, b] if a == b => arguments.command_twice(lab.suite(), *a),
        order => arguments.command(lab.suite(), Some(order), hash_seed),
    }
}

pub(crate) fn absolute(path: PathBuf) -> PathBuf {
    // Not canonical: the `python` of a virtual environment is a link whose place matters.
    std::path::absolute(&path).unwrap_or(path)
}

fn new_seed() -> u64 {
    // Five digits are easy to say over the phone and enough to differ from yesterday's.
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    since.as_micros() as u64 % 100_000
}

pub(crate) fn at_least_one(name: &str, number: u32) -> Result<u32, CliError> {
    if number == 0 {
        return Err(CliError::usage(format!(
            "--{name} 0: without a fresh interpreter nothing can be confirmed"
        ))
        .hint("1 is the least"));
    }
    Ok(number)
}
