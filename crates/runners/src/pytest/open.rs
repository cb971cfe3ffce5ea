//! Starting a lab: collect in two zygotes with different hash seeds and compare what they saw.
//!
//! Ids that only one of them has are unstable. A random generator in the same state in both was seeded
//! by the suite, and forks keep it; otherwise every fork gets a new one, as a fresh interpreter would.
//! A lab of the same project with other texts takes that over and begins with one zygote, or two if they are instrumented.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flakelab_model::{Suite, TestId};

use super::arguments::Arguments;
use super::greeting::{self, Greeting, Lists};
use super::ground::Ground;
use super::interpreter::Interpreter;
use super::lab::PytestLab;
use super::lane::Lane;
use super::launch::{self, Instrumented};
use crate::cancel::Cancel;
use crate::process::Limits;
use crate::wire::{CollectionError, Event};

/// How long to sleep at the most before a look at the flag that cancels.
const NAP: Duration = Duration::from_millis(250);

/// How often a zygote that was killed while it collected is started again, as for those that die while idle.
const MOST_RESTARTS: u32 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxMode {
    Auto,
    Off,
}

#[derive(Debug, Clone)]
pub struct Options {
    pub interpreter: Interpreter,
    /// Where pytest is run.
    pub project: PathBuf,
    /// The part of the tree that runs must not change: the project or the repository around it.
    pub tree: PathBuf,
    pub args: Vec<String>,
    pub env: Vec<(OsString, OsString)>,
    pub seed: u64,
    pub jobs: usize,
    pub sandbox: SandboxMode,
    /// Files that take the place of the project's own, by absolute path. Without a sandbox runs get a copy
    /// of the tree.
    pub patched: Vec<(PathBuf, Vec<u8>)>,
    /// Texts with points that tell when they are reached.
    pub instrumented: Option<Instrumented>,
    /// Never fork, whatever the suite allows.
    pub cold_only: bool,
    pub limits: Limits,
    /// How long collection may take.
    pub patience: Duration,
    pub cancel: Cancel,
    /// What the lab of the project without the changed texts has settled.
    pub settled: Option<Settled>,
}

/// What takes two zygotes to find out, and stays the same when some texts are changed.
#[derive(Debug, Clone)]
pub struct Settled {
    as_module: bool,
    reseed: Vec<String>,
    cold_because: Option<String>,
    /// Whether there are ids that are others in every collection: what they are called has to be found out each time.
    stable: bool,
    sandbox: SandboxState,
    compiled: PathBuf,
    shim: PathBuf,
}

impl Settled {
    pub(super) fn compiled(&self) -> &Path {
        &self.compiled
    }

    pub(super) fn shim(&self) -> &Path {
        &self.shim
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxState {
    On,
    Off,
    /// Wanted, but the system does not allow it.
    Unavailable(String),
}

impl SandboxState {
    pub(super) fn of(is_on: bool, refused: Option<&str>) -> Self {
        match refused {
            _ if is_on => SandboxState::On,
            Some(why) => SandboxState::Unavailable(why.to_owned()),
            None => SandboxState::Off,
        }
    }
}

/// What opening a lab found out.
#[derive(Debug, Clone)]
pub struct Facts {
    pub python: String,
    pub pytest: String,
    pub plugins: Vec<String>,
    /// Plugins that fight over the order, silenced.
    pub silenced: Vec<String>,
    pub collection_errors: Vec<CollectionError>,
    /// Ids that change from collection to collection.
    pub unstable: Vec<String>,
    pub sandbox: SandboxState,
    /// Why runs are not forked, if they are not.
    pub cold_because: Option<String>,
    pub arguments: Arguments,
}

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("interrupted")]
    Interrupted,
    #[error("failed to prepare the lab: {0}")]
    Io(#[from] std::io::Error),
    #[error("pytest does not accept its arguments or configuration")]
    Usage { said: String },
    #[error("the suite does not collect")]
    DoesNotCollect {
        errors: Vec<CollectionError>,
        said: String,
    },
    #[error("the suite has no tests")]
    NoTests,
    #[error("collection took longer than {0:?}")]
    TooSlow(Duration),
}

impl PytestLab {
    pub fn open(mut options: Options) -> Result<Self, OpenError> {
        let settled = options.settled.as_ref();
        // Changed files are part of the private view: without one a copy of the tree has them.
        if settled.is_some_and(|settled| settled.sandbox != SandboxState::On) {
            options.sandbox = SandboxMode::Off;
        }
        // Instrumented texts are there for repeats of every test, with different hash seeds.
        let zygotes = if options.instrumented.is_some() { 2 } else { 1 };
        let in_a_copy = || Options {
            sandbox: SandboxMode::Off,
            ..options.clone()
        };
        let in_a_copy = (!options.patched.is_empty()).then(in_a_copy);
        let ground = Ground::prepare(options)?;
        let promised = ground.sandbox_roots.is_some();
        let mut lab = PytestLab::new(ground);
        let greeted = lab.greet(zygotes);
        match in_a_copy {
            // The system has refused to mount: what was collected are the files as they are.
            Some(options) if promised && lab.sandbox_roots.is_none() => {
                drop(lab);
                Self::open(options)
            }
            _ => greeted.map(|()| lab),
        }
    }

    /// For labs of the same project with other texts, to be closed before this one.
    pub fn settled(&self) -> Settled {
        Settled {
            as_module: self.as_module,
            reseed: self.reseed.clone(),
            cold_because: self.facts().cold_because.clone(),
            stable: self.facts().unstable.is_empty(),
            sandbox: self.facts().sandbox.clone(),
            compiled: launch::compiled(self.scratch.path()),
            shim: self.base.shim.clone(),
        }
    }

    /// Collects in two zygotes; if that fails as `pytest`, once more as `python -m pytest`. In so many where all is
    /// settled.
    fn greet(&mut self, settled_zygotes: usize) -> Result<(), OpenError> {
        if let Some(settled) = self.options.settled.clone().filter(|s| s.stable) {
            let greetings = self.collect(settled.as_module, settled_zygotes)?;
            return self.settle(greetings, Some(settled));
        }
        let first = self.collect(false, 2);
        let greetings = match greeting::errors(first.as_ref().map(|both| &both[0])) {
            None => first?,
            Some(errors) => match self.collect(true, 2) {
                Ok(second) if second[0].lists.errors.len() < errors => second,
                Err(OpenError::Interrupted) => return Err(OpenError::Interrupted),
                _ => {
                    first?;
                    self.collect(false, 2)?
                }
            },
        };
        self.settle(greetings, None)
    }

    fn collect(&mut self, as_module: bool, zygotes: usize) -> Result<Vec<Greeting>, OpenError> {
        self.as_module = as_module;
        self.lanes.clear();
        for _ in 0..zygotes {
            let lane = self.start_lane(None)?;
            self.lanes.push(lane);
        }
        let deadline = Instant::now() + self.options.patience;
        (0..zygotes)
            .map(|at| self.await_greeting(at, deadline))
            .collect()
    }

    fn await_greeting(&mut self, at: usize, deadline: Instant) -> Result<Greeting, OpenError> {
        let mut lists = Lists::default();
        let mut restarts = 0;
        loop {
            // What the others say is for later: to wake up for it would be to wake up without end.
            let left = deadline.saturating_duration_since(Instant::now());
            self.lanes[at].worker.wait(left.min(NAP));
            if self.options.cancel.is_set() {
                return Err(OpenError::Interrupted);
            }
            if Instant::now() > deadline {
                return Err(OpenError::TooSlow(self.options.patience));
            }
            let lane = &mut self.lanes[at];
            match lists.hear(&mut lane.worker, &mut self.buffer) {
                Ok(Some(hello)) => return Ok(Greeting { lists, hello }),
                Ok(None) => {}
                // Not necessarily by the suite: if so, it does it again.
                Err(_) if restarts < MOST_RESTARTS && !lists.bombed && lane.worker.was_killed() => {
                    let seed = lane.hash_seed;
                    self.lanes[at] = self.start_lane(Some(seed))?;
                    lists = Lists::default();
                    restarts += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Settles on one suite and one way to run it: by comparing two zygotes, if it is not known.
    fn settle(
        &mut self,
        mut greetings: Vec<Greeting>,
        known: Option<Settled>,
    ) -> Result<(), OpenError> {
        let suites: Vec<Suite> = greetings.iter().map(Greeting::suite).collect();
        self.ahead = greetings.iter().all(|greeting| greeting.hello.ahead);
        let (unstable, reseed, known_cold) = match known {
            Some(known) => (Vec::new(), known.reseed, known.cold_because),
            None => (unstable(&suites), unseeded(&greetings), None),
        };
        {
            let unstable: HashSet<&str> = unstable.iter().map(String::as_str).collect();
            self.suite = suites[0].filtered(|id| !unstable.contains(id.as_str()));
        }
        self.reseed = reseed;
        if self.suite.is_empty() && unstable.is_empty() {
            return Err(greetings.swap_remove(0).no_tests());
        }
        for (lane, suite) in self.lanes.iter_mut().zip(&suites) {
            lane.learn(&self.suite, suite);
        }
        for greeting in &greetings {
            self.start_cpu += Duration::from_micros(greeting.hello.cpu_us);
        }
        if let Some(error) = &greetings[0].hello.sandbox_error {
            self.sandbox_roots = None;
            // Later interpreters need no namespace to mount in.
            self.base.user_namespace = false;
            self.sandbox_refused = Some(error.clone());
        }
        let cold_because = if self.options.cold_only {
            Some("it was asked for".to_owned())
        } else {
            let mut own = greetings.iter().map(|g| g.hello.obstacle.clone());
            own.find_map(|obstacle| obstacle).or(known_cold)
        };
        if cold_because.is_some() {
            self.lanes.clear();
        }
        let sandbox = SandboxState::of(
            self.sandbox_roots.is_some(),
            self.sandbox_refused.as_deref(),
        );
        let mut facts = greetings.swap_remove(0).facts(self.as_module, sandbox);
        facts.unstable = unstable;
        facts.cold_because = cold_because;
        self.facts = Some(facts);
        Ok(())
    }

    /// A further zygote for an open lab, or one in the place of another, with that one's hash seed.
    pub(super) fn add_lane(&mut self, seed: Option<u32>) -> Result<(), OpenError> {
        let lane = self.start_lane(seed)?;
        self.lanes.push(lane);
        let at = self.lanes.len() - 1;
        let deadline = Instant::now() + self.options.patience;
        let greeting = match self.await_greeting(at, deadline) {
            Ok(greeting) => greeting,
            Err(error) => {
                self.lanes.pop();
                return Err(error);
            }
        };
        let theirs = Suite::new(greeting.lists.tests);
        let lane = &mut self.lanes[at];
        lane.learn(&self.suite, &theirs);
        self.start_cpu += Duration::from_micros(greeting.hello.cpu_us);
        Ok(())
    }

    /// An interpreter that has loaded pytest with the user's options, and plugins where they may be loaded ahead, and
    /// waits to be forked.
    pub(super) fn add_template(&mut self, seed: u32) -> Result<(), OpenError> {
        let number = self.started;
        self.started += 1;
        let arguments = &self.facts().arguments;
        // Plugins are loaded for the configuration that all of the user's arguments lead to.
        let (mode, args) = if self.ahead {
            ("ahead", arguments.all())
        } else {
            ("template", arguments.options.clone())
        };
        let mut lane = Lane::start(
            &self.scratch,
            &self.base,
            number,
            mode,
            seed,
            self.as_module,
            &args,
            self.sandbox_roots.as_deref(),
        )?;
        let deadline = Instant::now() + self.options.patience;
        while Instant::now() < deadline && !self.options.cancel.is_set() {
            lane.worker.drain(&mut self.buffer);
            let ended = lane.worker.has_ended();
            if let Some(Event::Template { cpu_us }) = lane.worker.next(&mut self.buffer) {
                self.start_cpu += Duration::from_micros(cpu_us);
                self.templates.push(lane);
                return Ok(());
            }
            if ended {
                break;
            }
            lane.worker.wait(NAP);
        }
        Err(OpenError::Usage {
            said: lane.worker.output(),
        })
    }

    fn start_lane(&mut self, seed: Option<u32>) -> Result<Lane, OpenError> {
        // The first that no other has: so seeds do not depend on what died before.
        let free = |seed: &u32| self.lanes.iter().all(|lane| lane.hash_seed != *seed);
        let seed = seed.unwrap_or_else(|| {
            let mut seeds = (0..).map(|number| hash_seed(self.options.seed, number));
            seeds.find(free).unwrap_or(1)
        });
        let number = self.started;
        self.started += 1;
        Ok(Lane::start(
            &self.scratch,
            &self.base,
            number,
            "zygote",
            seed,
            self.as_module,
            &self.options.args,
            self.sandbox_roots.as_deref(),
        )?)
    }
}

/// Ids that only one of two collections has. What the second calls a test of the first is no test more.
fn unstable(suites: &[Suite]) -> Vec<String> {
    let only = |own: &Suite, other: &Suite| -> Vec<TestId> {
        let known: HashSet<&TestId> = other.ids().iter().collect();
        let ids = own.ids().iter().filter(|id| !known.contains(id));
        ids.cloned().collect()
    };
    let mut found = only(&suites[0], &suites[1]);
    let functions: HashSet<String> = found.iter().map(|id| id.function().to_owned()).collect();
    let further = only(&suites[1], &suites[0]).into_iter();
    found.extend(further.filter(|id| !functions.contains(id.function())));
    found.sort();
    found.iter().map(ToString::to_string).collect()
}

/// Random generators whose state no seed of the suite has decided.
fn unseeded(greetings: &[Greeting]) -> Vec<String> {
    let other = &greetings[1].hello.rng;
    greetings[0]
        .hello
        .rng
        .iter()
        .filter(|(name, state)| other.get(*name) != Some(state))
        .map(|(name, _)| name.clone())
        .collect()
}

/// Hash seeds that differ between workers and campaigns, and are never 0 (which turns hashing's
/// randomness off).
pub(super) fn hash_seed(seed: u64, number: u32) -> u32 {
    let mixed = (seed ^ (u64::from(number) << 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    (mixed as u32).max(1)
}
