//! Arguments, environment and configuration settled into one plan.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flakelab_detect::Settings;
use flakelab_lab::import::import;
use flakelab_lab::orders::Kind;
use flakelab_model::{Suite, Timeout};
use flakelab_runners::cancel::Cancel;
use flakelab_runners::process::Limits;
use flakelab_runners::pytest::{self, Facts, Interpreter, Options, SandboxMode};
use flakelab_store::{Campaign, Location, Store};
use serde_json::json;

use crate::args::{DetectArgs, IsolationArg, SandboxArg};
use crate::config;
use crate::error::{CliError, chain};
use crate::project;

/// The largest file a test may write: what bounds a test that prints for ever.
const FILE_LIMIT: u64 = 1 << 30;
/// The largest order file that is read.
const ORDER_FILE_LIMIT: u64 = 256 << 20;
/// A suite of at most so many tests gets every ordered pair of tests once side by side.
const PAIRS: usize = 50;

#[derive(Debug)]
pub(super) struct Plan {
    pub(super) project: PathBuf,
    pub(super) location: Location,
    pub(super) settings: Settings,
    pub(super) jobs: usize,
    pub(super) step_summary: Option<PathBuf>,
    interpreter: Interpreter,
    env: Vec<(OsString, OsString)>,
    pytest_args: Vec<String>,
    order_files: Vec<PathBuf>,
    sandbox: SandboxArg,
    isolation: IsolationArg,
    memory: Option<u64>,
    seed_given: bool,
}

impl Plan {
    pub(super) fn make(args: &DetectArgs) -> Result<Self, CliError> {
        let project = project::locate(&args.path)?;
        let config = config::load(&project)?;
        let env: Vec<_> = std::env::vars_os().collect();
        let wanted = args.lab.python.clone().map(absolute).or(config.python);
        let python = pytest::choose(wanted.as_deref(), &project, &env)
            .and_then(|python| pytest::ask(&python, &project, &env));
        let interpreter = python.map_err(|e| CliError::usage(chain(&e)).hint(e.hint()))?;
        let store = args.output.store.clone().map(absolute).or(config.store);
        let location = store.map_or_else(
            || Location::in_project(&project),
            |path| Location::given(&path),
        );
        let seed = args.search.seed.or(config.seed);
        let search = &args.search;
        let detect = config.detect;
        let mix = args.search.mix.clone().or(detect.mix);
        let settings = Settings {
            seed: seed.unwrap_or_else(new_seed),
            orders: search.orders.or(detect.orders).unwrap_or(100),
            mix: kinds(mix)?,
            given: Vec::new(),
            rerun_orders: search.rerun_orders.or(detect.rerun_orders).unwrap_or(3),
            reruns: search.reruns.or(detect.reruns).unwrap_or(3),
            isolated: at_least_one(
                "isolated-runs",
                search.isolated_runs.or(detect.isolated_runs).unwrap_or(10),
            )?,
            confirmations: at_least_one(
                "confirmations",
                search.confirmations.or(detect.confirmations).unwrap_or(3),
            )?,
            budget: search.budget.or(detect.budget.map(|t| t.0)),
            timeout: Timeout {
                test: args
                    .lab
                    .test_timeout
                    .or(config.test_timeout.map(|t| t.0))
                    .unwrap_or(Duration::from_secs(300)),
                run: args
                    .lab
                    .run_timeout
                    .or(config.run_timeout.map(|t| t.0))
                    .unwrap_or(Duration::from_secs(3600)),
            },
            impatient: args.lab.test_timeout.is_none() && config.test_timeout.is_none(),
            alone: true,
            twice: true,
            pairs: PAIRS,
        };
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = args.lab.jobs.or(config.jobs).unwrap_or(processors);
        if jobs == 0 {
            return Err(CliError::usage(
                "--jobs 0: at least one run must be possible",
            ));
        }
        let pytest_args = if args.pytest_args.is_empty() {
            config.pytest_args.unwrap_or_default()
        } else {
            args.pytest_args.clone()
        };
        Ok(Self {
            location,
            settings,
            jobs,
            step_summary: std::env::var_os("GITHUB_STEP_SUMMARY")
                .filter(|v| !v.is_empty())
                .map(PathBuf::from),
            interpreter,
            env,
            pytest_args,
            order_files: search.order.clone(),
            sandbox: args
                .lab
                .sandbox
                .or(config.sandbox)
                .unwrap_or(SandboxArg::Auto),
            isolation: args
                .lab
                .isolation
                .or(config.isolation)
                .unwrap_or(IsolationArg::Auto),
            memory: args.lab.memory.or(config.memory).map(|mib| mib << 20),
            seed_given: seed.is_some(),
            project,
        })
    }

    /// The campaign to go on with; its seed becomes ours.
    pub(super) fn resume(&mut self, store: &Store) -> Result<Option<Campaign>, CliError> {
        let last = store
            .last("detect")
            .map_err(|e| CliError::usage(chain(&e)))?;
        let Some(last) = last else {
            return Err(CliError::usage("there is no campaign to resume")
                .hint("start one without --resume"));
        };
        if self.seed_given && self.settings.seed != last.seed {
            return Err(CliError::usage(format!(
                "the last campaign has the seed {}, not {}",
                last.seed, self.settings.seed
            ))
            .hint("leave --seed out to resume, or --resume to start anew"));
        }
        self.settings.seed = last.seed;
        if last.configuration != self.configuration() {
            return Err(
                CliError::usage("the last campaign was started with other options")
                    .detail(format!("then: {}", last.configuration))
                    .detail(format!("now:  {}", self.configuration()))
                    .hint("repeat the command as it was, with --resume"),
            );
        }
        Ok(Some(last))
    }

    pub(super) fn read_orders(
        &mut self,
        suite: &Suite,
        mut note: impl FnMut(&str),
    ) -> Result<(), CliError> {
        for path in &self.order_files {
            let shown = path.display();
            let failed = |why: String| {
                CliError::usage(format!("`{shown}` {why}"))
                    .hint("an order is a list of test ids, JUnit XML or a verbose log (pytest -v) of a run, or a replay file")
            };
            let size = std::fs::metadata(path)
                .map_err(|e| failed(format!("cannot be read: {e}")))?
                .len();
            if size > ORDER_FILE_LIMIT {
                return Err(failed("is too large".into()));
            }
            let bytes = std::fs::read(path).map_err(|e| failed(format!("cannot be read: {e}")))?;
            let imported =
                import(&String::from_utf8_lossy(&bytes), suite).map_err(|e| failed(chain(&e)))?;
            if let Some(example) = imported.unknown.first() {
                note(&format!(
                    "`{shown}` names {} tests that this suite does not have, e.g. `{example}`",
                    imported.unknown.len()
                ));
            }
            self.settings.given.extend(imported.orders);
        }
        Ok(())
    }

    pub(super) fn lab_options(&self, cancel: Cancel) -> Options {
        Options {
            interpreter: self.interpreter.clone(),
            project: self.project.clone(),
            tree: project::tree(&self.project),
            args: self.pytest_args.clone(),
            env: self.env.clone(),
            seed: self.settings.seed,
            jobs: self.jobs,
            sandbox: match self.sandbox {
                SandboxArg::Auto => SandboxMode::Auto,
                SandboxArg::Off => SandboxMode::Off,
            },
            cold_only: self.isolation == IsolationArg::Cold,
            limits: Limits {
                file: Some(FILE_LIMIT),
                memory: self.memory.or_else(machine_memory),
            },
            patience: self.settings.timeout.run,
            cancel,
        }
    }

    /// What the user asked for, as far as it decides about runs.
    pub(super) fn configuration(&self) -> String {
        let s = &self.settings;
        json!({
            "orders": s.orders,
            "mix": s.mix.iter().map(|k| k.word()).collect::<Vec<_>>(),
            "order_files": self.order_files,
            "rerun_orders": s.rerun_orders,
            "reruns": s.reruns,
            "isolated_runs": s.isolated,
            "confirmations": s.confirmations,
            "pytest_args": self.pytest_args,
            "isolation": self.isolation,
        })
        .to_string()
    }

    /// The environment fingerprint.
    pub(super) fn environment(&self, facts: &Facts) -> String {
        json!({
            "flakelab": env!("CARGO_PKG_VERSION"),
            "python": facts.python,
            "executable": self.interpreter.executable,
            "pytest": facts.pytest,
            "plugins": facts.plugins,
            "os": std::env::consts::OS,
            "arch": std::env::consts::ARCH,
            "commit": project::commit(&project::tree(&self.project)),
        })
        .to_string()
    }
}

fn absolute(path: PathBuf) -> PathBuf {
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

fn kinds(mix: Option<Vec<String>>) -> Result<Vec<Kind>, CliError> {
    let Some(words) = mix else {
        return Ok(vec![Kind::Global, Kind::Nested]);
    };
    words
        .iter()
        .map(|word| {
            word.trim().parse().map_err(|e: String| {
                let known: Vec<&str> = Kind::ALL
                    .iter()
                    .filter(|k| **k != Kind::Given)
                    .map(|k| k.word())
                    .collect();
                CliError::usage(e).hint(format!("known are {}", known.join(", ")))
            })
        })
        .collect()
}

fn at_least_one(name: &str, number: u32) -> Result<u32, CliError> {
    if number == 0 {
        return Err(CliError::usage(format!(
            "--{name} 0: without a fresh interpreter nothing can be confirmed"
        )));
    }
    Ok(number)
}

/// All the memory there is, so that one runaway test gets an error before the machine gets stuck.
fn machine_memory() -> Option<u64> {
    let text = std::fs::read_to_string(Path::new("/proc/meminfo")).ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib << 10)
}
