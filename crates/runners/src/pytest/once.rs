//! A suite run once: one interpreter collects the user's selection and executes all of it, with a record of
//! what its assertions did. What a gate in CI costs is little more than pytest itself.

use std::sync::Arc;
use std::time::{Duration, Instant};

use flakelab_lab::trie::merge;
use flakelab_model::{Isolation, Order, Recording, RunRecord, RunRequest, Suite, Timeout};

use super::cold::{ColdRun, Ended, Started};
use super::greeting::{self, Greeting, Lists};
use super::ground::Ground;
use super::lab::Progress;
use super::lane::{Pending, Selection, Special};
use super::open::{Facts, OpenError, Options, SandboxState, hash_seed};
use crate::process;
use crate::wire;

/// Looks up at least this often, for a flag that was set without a signal.
const NAP: Duration = Duration::from_millis(250);
/// As the first cold run of a lab.
const SEED: u32 = 10_000;

/// The suite, what collecting it found out, and how it went. A test that takes too long or ends its process ends
/// the run; those behind it did not run.
pub fn once(
    options: Options,
    recording: Arc<Recording>,
    timeout: Timeout,
) -> Result<(Suite, Facts, RunRecord), OpenError> {
    let mut once = Once {
        ground: Ground::prepare(options)?,
        recording,
        buffer: vec![0; wire::PACKET],
    };
    let done = once.run(timeout);
    // Before the scratch area goes, which they may still write to.
    process::end_orphans(&once.ground.strangers);
    done
}

struct Once {
    ground: Ground,
    recording: Arc<Recording>,
    buffer: Vec<u8>,
}

/// An interpreter that has collected, and executes when it is told to.
struct Waiting {
    started: Started,
    greeting: Greeting,
    as_module: bool,
}

impl Once {
    fn run(&mut self, timeout: Timeout) -> Result<(Suite, Facts, RunRecord), OpenError> {
        let Waiting {
            mut started,
            greeting,
            as_module,
        } = self.greet()?;
        let suite = greeting.suite();
        if suite.is_empty() {
            return Err(greeting.no_tests());
        }
        let refused = greeting.hello.sandbox_error.as_deref();
        let sandbox = SandboxState::of(
            self.ground.sandbox_roots.is_some() && refused.is_none(),
            refused.or(self.ground.sandbox_refused.as_deref()),
        );
        // One that is gone is noticed by its end.
        let _ = started.worker.send(&serde_json::json!({}));
        let order = Order(suite.indices().collect());
        let request = RunRequest::new(order, Isolation::Fork, timeout);
        let pending = Pending {
            trie: merge([(0, &request)]).pop().unwrap_or_default(),
            timeout,
            selection: None,
            special: Special::default(),
            recording: Some(Arc::clone(&self.recording)),
            disturbed: Vec::new(),
        };
        let facts = greeting.facts(as_module, sandbox);
        let record = self.finish(ColdRun::begin(started, pending))?;
        Ok((suite, facts, record))
    }

    /// Collects as `pytest`; if that fails, also as `python -m pytest`, and takes the better one.
    fn greet(&mut self) -> Result<Waiting, OpenError> {
        let first = self.collect(false);
        let Some(errors) = greeting::errors(first.as_ref().map(|waiting| &waiting.greeting)) else {
            return first;
        };
        match self.collect(true) {
            Ok(second) if second.greeting.lists.errors.len() < errors => Ok(second),
            Err(OpenError::Interrupted) => Err(OpenError::Interrupted),
            _ => first,
        }
    }

    fn collect(&mut self, as_module: bool) -> Result<Waiting, OpenError> {
        let Ground {
            options,
            base,
            scratch,
            sandbox_roots,
            ..
        } = &self.ground;
        let selection = Selection {
            mode: "whole",
            args: options.args.clone(),
            order: Vec::new(),
            whole: true,
        };
        let mut started = Started::new(
            scratch,
            base,
            u32::from(as_module),
            hash_seed(options.seed, SEED),
            as_module,
            selection,
            &Special::default(),
            Some(&self.recording),
            sandbox_roots.as_deref(),
        )?;
        let deadline = Instant::now() + options.patience;
        let mut lists = Lists::default();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            started.worker.wait(left.min(NAP));
            if options.cancel.is_set() {
                return Err(OpenError::Interrupted);
            }
            if Instant::now() > deadline {
                return Err(OpenError::TooSlow(options.patience));
            }
            if let Some(hello) = lists.hear(&mut started.worker, &mut self.buffer)? {
                return Ok(Waiting {
                    started,
                    greeting: Greeting { lists, hello },
                    as_module,
                });
            }
        }
    }

    fn finish(&mut self, mut run: ColdRun) -> Result<RunRecord, OpenError> {
        let progress = Progress::default();
        loop {
            let left = run.job().deadline().map_or(NAP, |deadline| {
                deadline.saturating_duration_since(Instant::now())
            });
            run.worker.wait(left.min(NAP));
            if self.ground.options.cancel.is_set() {
                return Err(OpenError::Interrupted);
            }
            let ended = run.worker.has_ended();
            run.hear(&mut self.buffer, &progress);
            if ended {
                break;
            }
            run.kill_overdue(Instant::now());
        }
        let record = match run.finish()? {
            Ended::Records(records) => records.into_iter().next(),
            Ended::Disturbed(run) => run.records.into_iter().next(),
            Ended::NotFound(_) => None,
        };
        record.ok_or_else(|| std::io::Error::other("a run has no record").into())
    }
}
