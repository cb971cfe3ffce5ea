//! A process that forks a child for every run, one at a time: a zygote or a template.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use flakelab_lab::trie::Trie;
use flakelab_model::{
    CodeEdit, Ending, Experiment, Factors, Mutation, Recording, RunRecord, RunRequest, Suite,
    Timeout,
};
use serde::Serialize;

use super::job::{Job, Killed};
use super::lab::Progress;
use super::launch::Nest;
use super::worker::{Launch, Worker};
use crate::process;
use crate::scratch::Scratch;
use crate::wire::Event;

#[derive(Debug)]
pub(super) struct Lane {
    pub(super) worker: Worker,
    nest: Nest,
    pub(super) hash_seed: u32,
    kind: Kind,
    job: Option<(Job, Pending)>,
    queue: VecDeque<Pending>,
}

#[derive(Debug)]
enum Kind {
    /// Has collected the suite: for each of its tests the number in this zygote.
    Zygote { items: Vec<u32> },
    /// Has loaded pytest, and plugins where they may be loaded ahead.
    Template,
}

/// A run that waits for its turn.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    pub(super) trie: Trie,
    pub(super) timeout: Timeout,
    /// For a template: what to collect and execute.
    pub(super) selection: Option<Selection>,
    pub(super) special: Special,
    pub(super) recording: Option<Arc<Recording>>,
    /// What was killed when it was under way before.
    pub(super) disturbed: Vec<Killed>,
}

/// A run in which something was killed: to be made again, or to be taken as it is.
#[derive(Debug)]
pub(super) struct Disturbed {
    pub(super) killed: Vec<Killed>,
    pub(super) pending: Pending,
    pub(super) records: Vec<RunRecord>,
    pub(super) hash_seed: u32,
}

impl Pending {
    /// For a zygote.
    pub(super) fn forked(trie: Trie, request: &RunRequest) -> Self {
        Self {
            trie,
            timeout: request.timeout,
            selection: None,
            special: Special::of(request),
            recording: None,
            disturbed: Vec::new(),
        }
    }

    pub(super) fn job(&self) -> Job {
        Job::new(self.trie.clone(), self.timeout).pursues(self.special.mutation.is_some())
    }

    /// Whether tests that were not found by name are worth a collection of everything. Changed code may well
    /// be why they are not there.
    pub(super) fn may_search(&self) -> bool {
        let whole = self.selection.as_ref().is_none_or(|s| s.whole);
        !whole && self.special.mutation.is_none()
    }
}

/// What sets a run apart besides its order.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Special {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) experiment: Option<Experiment>,
    #[serde(skip_serializing_if = "Factors::is_plain")]
    pub(super) factors: Factors,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mutation: Option<Arc<Mutation>>,
}

impl Special {
    pub(super) fn of(request: &RunRequest) -> Self {
        Self {
            experiment: request.experiment.clone(),
            factors: request.factors.clone(),
            mutation: request.mutation.clone(),
        }
    }
}

/// Tests named to a fresh interpreter.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Selection {
    pub(super) mode: &'static str,
    pub(super) args: Vec<String>,
    pub(super) order: Vec<String>,
    /// Whether the user's whole selection is collected, or only the order's own tests.
    #[serde(skip)]
    pub(super) whole: bool,
}

#[derive(Serialize)]
struct ForkRequest<'a> {
    tests: Vec<u32>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    kids: &'a BTreeMap<u32, Vec<i64>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    edits: BTreeMap<u32, &'a CodeEdit>,
    reseed: &'a [String],
    #[serde(flatten)]
    special: &'a Special,
}

#[derive(Serialize)]
struct FreshRequest<'a> {
    #[serde(flatten)]
    selection: &'a Selection,
    reseed: [&'static str; 2],
    #[serde(flatten)]
    special: &'a Special,
}

/// What came of listening to a lane.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) records: Vec<RunRecord>,
    /// Runs whose tests were not found, to be tried with the whole selection.
    pub(super) not_found: Vec<Pending>,
    pub(super) disturbed: Vec<Disturbed>,
    /// Requests whose prefix could not be shared, to be run each on its own.
    pub(super) open: Vec<usize>,
}

/// What a lane that has died leaves behind.
#[derive(Debug)]
pub(super) struct Estate {
    pub(super) records: Vec<RunRecord>,
    pub(super) disturbed: Option<Disturbed>,
    pub(super) said: String,
    pub(super) queue: VecDeque<Pending>,
}

impl Lane {
    #[allow(
        clippy::too_many_arguments,
        reason = "called from two places, both plain"
    )]
    pub(super) fn start(
        scratch: &Scratch,
        base: &Launch,
        number: u32,
        mode: &'static str,
        hash_seed: u32,
        as_module: bool,
        args: &[String],
        sandbox_roots: Option<&[PathBuf]>,
    ) -> io::Result<Self> {
        let nest = Nest::of_lane(scratch.path(), number)?;
        let setup = nest.setup(mode, as_module, args.to_vec(), Vec::new(), sandbox_roots);
        let worker = Worker::start(&nest.launch(base, hash_seed), &setup, false)?;
        Ok(Self {
            worker,
            nest,
            hash_seed,
            kind: if mode == "zygote" {
                Kind::Zygote { items: Vec::new() }
            } else {
                Kind::Template
            },
            job: None,
            queue: VecDeque::new(),
        })
    }

    /// Matches the suite with what this zygote collected. A test it lacks gets a number it will
    /// refuse, and the run is lost, not wrong.
    pub(super) fn learn(&mut self, suite: &Suite, theirs: &Suite) {
        self.kind = Kind::Zygote {
            items: suite
                .ids()
                .iter()
                .map(|id| theirs.find(id.as_str()).map_or(u32::MAX, |test| test.0))
                .collect(),
        };
    }

    pub(super) fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.job.is_none() && !self.queue.is_empty()
    }

    pub(super) fn enqueue(&mut self, pending: Pending) {
        self.queue.push_back(pending);
    }

    pub(super) fn take_queue(&mut self) -> VecDeque<Pending> {
        std::mem::take(&mut self.queue)
    }

    pub(super) fn job(&self) -> Option<&Job> {
        self.job.as_ref().map(|(job, _)| job)
    }

    /// Sends the next request. A process that is gone is noticed by its end.
    pub(super) fn dispatch(&mut self, reseed: &[String]) {
        let Some(pending) = self.queue.pop_front() else {
            return;
        };
        self.worker.forget_output();
        let _ = match (&self.kind, &pending.selection) {
            (Kind::Template, Some(selection)) => self.worker.send(&FreshRequest {
                selection,
                // A fresh interpreter's generators are seeded by chance.
                reseed: ["random", "numpy"],
                special: &pending.special,
            }),
            (Kind::Zygote { items }, _) => self.worker.send(&ForkRequest {
                tests: pending
                    .trie
                    .tests
                    .iter()
                    .map(|test| items[test.at()])
                    .collect(),
                kids: &pending.trie.branches,
                edits: pending
                    .trie
                    .edits
                    .iter()
                    .map(|(node, edit)| (*node, &**edit))
                    .collect(),
                reseed,
                special: &pending.special,
            }),
            (Kind::Template, None) => Ok(()),
        };
        self.job = Some((pending.job(), pending));
    }

    pub(super) fn hear(&mut self, buffer: &mut [u8], progress: &Progress) -> Heard {
        let mut heard = Heard::default();
        self.worker.drain(buffer);
        while let Some(event) = self.worker.next(buffer) {
            let Some((job, _)) = &mut self.job else {
                continue;
            };
            match event {
                // Of a run before this one.
                Event::Bomb { group, .. } if !job.has(group) => {}
                Event::Done { status, cpu_us } => {
                    self.worker.drain(buffer);
                    job.left(status, &self.worker.output());
                    let cpu = Duration::from_micros(cpu_us);
                    self.finish(cpu, &mut heard);
                }
                Event::Left { status } => {
                    self.worker.drain(buffer);
                    job.left(status, &self.worker.output());
                }
                other => hear(job, other, progress),
            }
        }
        heard
    }

    fn finish(&mut self, cpu: Duration, heard: &mut Heard) {
        if let Some((mut job, pending)) = self.job.take() {
            if job.not_found() && pending.may_search() {
                heard.not_found.push(pending);
            } else if !job.killed().is_empty() {
                heard.disturbed.push(Disturbed {
                    killed: job.killed().to_vec(),
                    pending,
                    records: job.records(self.hash_seed, cpu),
                    hash_seed: self.hash_seed,
                });
            } else {
                heard.open.extend(job.take_open());
                heard.records.extend(job.records(self.hash_seed, cpu));
            }
        }
        self.nest.remove_layers(&[self.worker.pid()]);
    }

    pub(super) fn kill_overdue(&mut self, now: std::time::Instant) {
        if let Some((job, _)) = &mut self.job {
            self.worker.kill_overdue(job.expire(now));
        }
    }

    /// The process itself died: what it was running has crashed.
    pub(super) fn bury(mut self) -> io::Result<Estate> {
        let said = self.worker.output();
        let exit = self.worker.reap()?;
        let (mut records, mut disturbed) = (Vec::new(), None);
        if let Some((mut job, pending)) = self.job.take() {
            // What its tests have started has nothing to do with the run that is made again.
            job.kill_lineages();
            job.left(exit.status, &said);
            job.lose("the process that forks runs died".into());
            let killed = job.killed().to_vec();
            let made = job.records(self.hash_seed, exit.cpu);
            if killed.is_empty() {
                records = made;
            } else {
                disturbed = Some(Disturbed {
                    killed,
                    pending,
                    records: made,
                    hash_seed: self.hash_seed,
                });
            }
        }
        Ok(Estate {
            records,
            disturbed,
            said,
            queue: self.take_queue(),
        })
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        if let Some(pid) = self.job().and_then(Job::innermost) {
            process::kill(pid);
        }
    }
}

/// What both lanes and cold interpreters say of a run.
pub(super) fn hear(job: &mut Job, event: Event, progress: &Progress) {
    match event {
        Event::Begin { pid } => job.begin(pid),
        Event::Ready { plain } => job.plain = plain,
        Event::Towards { list } => job.towards(&list),
        Event::Start { n } => job.start(n),
        Event::Unsharable {} => job.cannot_branch(),
        Event::Outcome(outcome) => {
            progress.executions.fetch_add(1, Ordering::Relaxed);
            job.outcome(outcome);
        }
        Event::Hit {} => job.hit(),
        Event::Circles {} => job.circles(),
        Event::Bomb { n, .. } => job.bomb(n),
        Event::Imported { r } => job.imported(&r),
        Event::Reached { n, r } => job.reached(n, &r),
        Event::Leak(leak) => job.leak(leak),
        Event::Wrote { id, at } => job.wrote(&id, at),
        Event::Stuck { id } => job.stuck(&id),
        Event::Watched { notes, objects, ms } => job.watched(notes, objects, ms),
        Event::End {} => job.end(),
        Event::Lost { m } => job.lose(m),
        Event::Fatal(fatal) if fatal.kind == "missing" => {
            job.miss(format!("`{}` {}", fatal.m, Ending::NOT_COLLECTED));
        }
        Event::Fatal(fatal) => job.miss(format!("pytest ended with exit code {}", fatal.exit)),
        _ => {}
    }
}
