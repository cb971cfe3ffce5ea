//! Starting a lab: collect in two zygotes with different hash seeds and compare what they saw.
//!
//! Ids that only one of them has are unstable. A random generator in the same state in both was seeded
//! by the suite, and forks keep it; otherwise every fork gets a new one, as a fresh interpreter would.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flakelab_model::Suite;

use super::arguments::Arguments;
use super::interpreter::Interpreter;
use super::lab::PytestLab;
use super::lane::Lane;
use super::launch;
use super::worker::Launch;
use crate::cancel::Cancel;
use crate::process::{self, Limits, Surroundings};
use crate::scratch::Scratch;
use crate::wire::{CollectionError, Event, Fatal, Hello};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxMode {
    Auto,
    Off,
}

#[derive(Debug)]
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
    /// Never fork, whatever the suite allows.
    pub cold_only: bool,
    pub limits: Limits,
    /// How long collection may take.
    pub patience: Duration,
    pub cancel: Cancel,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxState {
    On,
    Off,
    /// Wanted, but the system does not allow it.
    Unavailable(String),
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

/// What one zygote said when it had collected.
struct Greeting {
    lists: Lists,
    hello: Hello,
}

/// What takes more than a packet.
#[derive(Default)]
struct Lists {
    tests: Vec<String>,
    errors: Vec<CollectionError>,
    options: Vec<String>,
    plain_options: Vec<String>,
    positionals: Vec<String>,
}

impl PytestLab {
    pub fn open(mut options: Options) -> Result<Self, OpenError> {
        let strangers = process::adopt_orphans();
        let scratch = Scratch::create(&scratch_bases(&options))?;
        let roots = sandbox_roots(&options, scratch.path());
        if roots.is_err() && !options.patched.is_empty() {
            move_to_copy(&mut options, scratch.path())?;
        }
        let base = Launch {
            python: options.interpreter.executable.clone(),
            cwd: options.project.clone(),
            shim: super::shim::install(scratch.path())?,
            env: launch::environment(&options.env, &options.interpreter.user_base),
            limits: options.limits,
            user_namespace: roots.as_ref().is_ok_and(|(_, user)| *user),
            surroundings: Surroundings::default(),
        };
        let (roots, refused) = match roots {
            Ok((roots, _)) => (Some(roots), None),
            Err(why) => (None, why),
        };
        if let Some(roots) = &roots {
            launch::patch(scratch.path(), roots, &options.patched)?;
        }
        let mut lab = PytestLab::new(options, scratch, base, roots, refused);
        lab.strangers = strangers;
        lab.greet()?;
        Ok(lab)
    }

    /// Collects in two zygotes; if that fails as `pytest`, once more as `python -m pytest`.
    fn greet(&mut self) -> Result<(), OpenError> {
        let first = self.collect(false);
        let broken = match &first {
            Ok(greetings) => !greetings[0].lists.errors.is_empty(),
            Err(OpenError::Usage { .. } | OpenError::DoesNotCollect { .. }) => true,
            Err(_) => false,
        };
        let greetings = if broken {
            let errors = first
                .as_ref()
                .map_or(usize::MAX, |g| g[0].lists.errors.len());
            match self.collect(true) {
                Ok(second) if second[0].lists.errors.len() < errors => second,
                Err(OpenError::Interrupted) => return Err(OpenError::Interrupted),
                _ => {
                    first?;
                    self.collect(false)?
                }
            }
        } else {
            first?
        };
        self.settle(greetings)
    }

    fn collect(&mut self, as_module: bool) -> Result<Vec<Greeting>, OpenError> {
        self.as_module = as_module;
        self.lanes.clear();
        // Two are needed to tell seeded from unseeded and stable from unstable.
        for _ in 0..2 {
            let lane = self.start_lane()?;
            self.lanes.push(lane);
        }
        let deadline = Instant::now() + self.options.patience;
        (0..2).map(|at| self.await_greeting(at, deadline)).collect()
    }

    fn await_greeting(&mut self, at: usize, deadline: Instant) -> Result<Greeting, OpenError> {
        let mut lists = Lists::default();
        loop {
            self.wait(Some(deadline));
            if self.options.cancel.is_set() {
                return Err(OpenError::Interrupted);
            }
            if Instant::now() > deadline {
                return Err(OpenError::TooSlow(self.options.patience));
            }
            let lane = &mut self.lanes[at];
            let ended = lane.worker.has_ended();
            lane.worker.drain(&mut self.buffer);
            while let Some(event) = lane.worker.next(&mut self.buffer) {
                match event {
                    Event::Tests { list } => lists.tests.extend(list),
                    Event::CollectionErrors { list } => lists.errors.extend(list),
                    Event::Options { list } => lists.options.extend(list),
                    Event::PlainOptions { list } => lists.plain_options.extend(list),
                    Event::Positionals { list } => lists.positionals.extend(list),
                    Event::Hello(hello) => {
                        return Ok(Greeting {
                            lists,
                            hello: *hello,
                        });
                    }
                    Event::Fatal(fatal) => {
                        lane.worker.drain(&mut self.buffer);
                        return Err(refusal(fatal, lists.errors, lane.worker.output()));
                    }
                    _ => {}
                }
            }
            if ended {
                let said = lane.worker.output();
                return Err(OpenError::DoesNotCollect {
                    errors: lists.errors,
                    said,
                });
            }
        }
    }

    /// Compares the zygotes and settles on one suite and one way to run it.
    fn settle(&mut self, mut greetings: Vec<Greeting>) -> Result<(), OpenError> {
        let hello = greetings[0].hello.clone();
        let lists = std::mem::take(&mut greetings[0].lists);
        let suites: Vec<Suite> = [&lists, &greetings[1].lists]
            .iter()
            .map(|lists| Suite::new(lists.tests.iter().cloned()))
            .collect();
        let common: HashSet<&str> = {
            let other: HashSet<&str> = suites[1].ids().iter().map(|id| id.as_str()).collect();
            suites[0]
                .ids()
                .iter()
                .map(|id| id.as_str())
                .filter(|id| other.contains(id))
                .collect()
        };
        let mut unstable: Vec<String> = suites
            .iter()
            .flat_map(|suite| suite.ids())
            .filter(|id| !common.contains(id.as_str()))
            .map(ToString::to_string)
            .collect();
        unstable.sort();
        unstable.dedup();
        self.suite = suites[0].filtered(|id| common.contains(id.as_str()));
        let errors = lists.errors;
        if self.suite.is_empty() && unstable.is_empty() {
            return Err(if errors.is_empty() {
                OpenError::NoTests
            } else {
                OpenError::DoesNotCollect {
                    errors,
                    said: String::new(),
                }
            });
        }
        for (lane, suite) in self.lanes.iter_mut().zip(&suites) {
            lane.learn(&self.suite, suite);
        }
        self.reseed = hello
            .rng
            .iter()
            .filter(|(name, state)| greetings[1].hello.rng.get(*name) != Some(state))
            .map(|(name, _)| name.clone())
            .collect();
        for greeting in &greetings {
            self.start_cpu += Duration::from_micros(greeting.hello.cpu_us);
        }
        if let Some(error) = &hello.sandbox_error {
            self.sandbox_roots = None;
            // Later interpreters need no namespace to mount in.
            self.base.user_namespace = false;
            self.sandbox_refused = Some(error.clone());
        }
        let cold_because = if self.options.cold_only {
            Some("it was asked for".to_owned())
        } else {
            greetings.iter().find_map(|g| g.hello.obstacle.clone())
        };
        if cold_because.is_some() {
            self.lanes.clear();
        }
        self.facts = Some(Facts {
            python: hello.python,
            pytest: hello.pytest,
            plugins: hello.plugins,
            silenced: hello.silenced,
            collection_errors: errors,
            unstable,
            sandbox: match (&self.sandbox_roots, &self.sandbox_refused) {
                (Some(_), _) => SandboxState::On,
                (None, Some(why)) => SandboxState::Unavailable(why.clone()),
                (None, None) => SandboxState::Off,
            },
            cold_because,
            arguments: Arguments::new(
                lists.options,
                lists.plain_options,
                lists.positionals,
                Path::new(&hello.rootdir),
                Path::new(&hello.invocation_dir),
                self.as_module,
            )
            .with_places(hello.places),
        });
        Ok(())
    }

    /// A further zygote for an open lab.
    pub(super) fn add_lane(&mut self) -> Result<(), OpenError> {
        let lane = self.start_lane()?;
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

    /// An interpreter that has loaded pytest with the user's options and waits to be forked.
    pub(super) fn add_template(&mut self, seed: u32) -> Result<(), OpenError> {
        let number = self.started;
        self.started += 1;
        let options = self.facts().arguments.options.clone();
        let mut lane = Lane::start(
            &self.scratch,
            &self.base,
            number,
            "template",
            seed,
            self.as_module,
            &options,
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
            lane.worker.wait(Duration::from_millis(250));
        }
        Err(OpenError::Usage {
            said: lane.worker.output(),
        })
    }

    fn start_lane(&mut self) -> Result<Lane, OpenError> {
        let number = self.started;
        self.started += 1;
        Ok(Lane::start(
            &self.scratch,
            &self.base,
            number,
            "zygote",
            hash_seed(self.options.seed, number),
            self.as_module,
            &self.options.args,
            self.sandbox_roots.as_deref(),
        )?)
    }
}

fn refusal(fatal: Fatal, errors: Vec<CollectionError>, said: String) -> OpenError {
    // pytest's exit codes: 4 is a usage error, 5 is no tests collected.
    match (fatal.kind.as_str(), fatal.exit) {
        ("pytest", 4) => OpenError::Usage { said },
        ("pytest", 5) => OpenError::NoTests,
        _ => OpenError::DoesNotCollect {
            errors,
            said: if said.trim().is_empty() {
                fatal.m
            } else {
                said
            },
        },
    }
}

/// Hash seeds that differ between workers and campaigns, and are never 0 (which turns hashing's
/// randomness off).
pub(super) fn hash_seed(seed: u64, number: u32) -> u32 {
    let mixed = (seed ^ (u64::from(number) << 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    (mixed as u32).max(1)
}

/// Where the scratch area may be. With a sandbox `/tmp` gets a private view as well, and the layers of
/// an overlay must not lie below what it covers.
fn scratch_bases(options: &Options) -> Vec<PathBuf> {
    let given = options
        .env
        .iter()
        .find(|(key, _)| key == "TMPDIR")
        .map(|(_, value)| PathBuf::from(value));
    let usual = given
        .into_iter()
        .chain(["/tmp", "/var/tmp"].map(PathBuf::from));
    match options.sandbox {
        SandboxMode::Auto => std::iter::once(PathBuf::from("/var/tmp"))
            .chain(usual)
            .collect(),
        SandboxMode::Off => usual.collect(),
    }
}

/// Makes runs happen in a copy of the tree with the changed files in place: what there is without a sandbox.
fn move_to_copy(options: &mut Options, scratch: &Path) -> io::Result<()> {
    let copy = scratch.join("copy");
    crate::scratch::copy_tree(&options.tree, &copy)?;
    for (path, bytes) in options.patched.drain(..) {
        let inside = path
            .strip_prefix(&options.tree)
            .map_err(|_| io::Error::other("a changed file lies outside the tree"))?;
        let place = copy.join(inside);
        if let Some(folder) = place.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(place, bytes)?;
    }
    let inside = options.project.strip_prefix(&options.tree);
    options.project = copy.join(inside.unwrap_or(Path::new("")));
    options.tree = copy;
    Ok(())
}

/// What gets a private view, and whether that takes a user namespace; or why not.
fn sandbox_roots(
    options: &Options,
    scratch: &Path,
) -> Result<(Vec<PathBuf>, bool), Option<String>> {
    if options.sandbox == SandboxMode::Off {
        return Err(None);
    }
    let mut roots = vec![options.tree.clone()];
    let temporary = PathBuf::from("/tmp");
    if !scratch.starts_with(&temporary) && temporary.is_dir() {
        if options.tree.starts_with(&temporary) {
            roots = vec![temporary];
        } else {
            roots.push(temporary);
        }
    }
    if roots.iter().any(|root| scratch.starts_with(root)) {
        return Err(Some(
            "the project contains the directory for temporary files".into(),
        ));
    }
    if rustix::process::geteuid().is_root() {
        Ok((roots, false))
    } else if !all_ours(&options.tree, &mut 0) {
        Err(Some(
            "files of the project belong to other users or groups".into(),
        ))
    } else if process::user_namespaces_work() {
        Ok((roots, true))
    } else {
        Err(Some("this system does not allow user namespaces".into()))
    }
}

/// Files looked at before a tree is taken to be like the rest of it.
const MOST_LOOKED_AT: usize = 5_000;

/// In a user namespace only our own user and group exist: overlayfs could not copy anybody else's file, and
/// a test that writes to one would fail where it does not without us.
fn all_ours(dir: &Path, looked_at: &mut usize) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (uid, gid) = (
        rustix::process::getuid().as_raw(),
        rustix::process::getgid().as_raw(),
    );
    let ours = |metadata: &std::fs::Metadata| metadata.uid() == uid && metadata.gid() == gid;
    if !std::fs::metadata(dir).is_ok_and(|m| ours(&m)) {
        return false;
    }
    let Ok(entries) = std::fs::read_dir(dir) else {
        return true;
    };
    for entry in entries.flatten() {
        *looked_at += 1;
        if *looked_at > MOST_LOOKED_AT {
            return true;
        }
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        if !ours(&metadata) || (metadata.is_dir() && !all_ours(&entry.path(), looked_at)) {
            return false;
        }
    }
    true
}
