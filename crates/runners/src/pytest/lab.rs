//! Scheduling: which worker runs what, who is late, who has died.
//!
//! Single-threaded: one `poll` over the descriptors of all workers. A trie goes to a lane fixed by its
//! place in the batch and its attempt, so that repeats meet different hash seeds and the same seed
//! gives the same campaign.

use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flakelab_lab::trie::{Trie, merge};
use flakelab_lab::{Lab, LabError, Sink};
use flakelab_model::{Isolation, RunRecord, RunRequest, Suite, Timeout};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;

use super::job::{Job, Overdue};
use super::launch::Nest;
use super::open::{Facts, Options, hash_seed};
use super::worker::{Launch, Worker};
use crate::process;
use crate::scratch::Scratch;
use crate::wire::{self, Event};

/// Counted while runs are under way, for whoever shows it.
#[derive(Debug, Default)]
pub struct Progress {
    pub executions: AtomicU64,
    pub processes: AtomicU64,
}

/// Runs a pytest suite.
#[derive(Debug)]
pub struct PytestLab {
    pub(super) options: Options,
    pub(super) base: Launch,
    pub(super) suite: Suite,
    pub(super) lanes: Vec<Lane>,
    colds: Vec<ColdRun>,
    pub(super) sandbox_roots: Option<Vec<PathBuf>>,
    pub(super) sandbox_refused: Option<String>,
    pub(super) as_module: bool,
    pub(super) reseed: Vec<String>,
    pub(super) facts: Option<Facts>,
    pub(super) cpu: Duration,
    pub(super) started: u32,
    pub(super) buffer: Vec<u8>,
    progress: Arc<Progress>,
    // Last, so that it is removed after the workers that use it.
    pub(super) scratch: Scratch,
}

/// A zygote with its queue.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) worker: Worker,
    nest: Nest,
    hash_seed: u32,
    /// For each test of the suite its number in this zygote.
    items: Vec<u32>,
    job: Option<Job>,
    queue: VecDeque<Pending>,
}

#[derive(Debug)]
struct Pending {
    trie: Trie,
    timeout: Timeout,
}

/// A cold interpreter on its one order.
#[derive(Debug)]
struct ColdRun {
    worker: Worker,
    nest: Nest,
    hash_seed: u32,
    job: Option<Job>,
    request: usize,
    /// Whether the whole selection was collected, or only the order's own tests.
    whole: bool,
    said_end: bool,
    missing: Option<String>,
}

#[derive(Serialize)]
struct ForkRequest<'a> {
    tests: Vec<u32>,
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    kids: &'a std::collections::BTreeMap<u32, Vec<i64>>,
    reseed: &'a [String],
}

impl Lane {
    pub(super) fn start(
        scratch: &Scratch,
        base: &Launch,
        number: u32,
        hash_seed: u32,
        as_module: bool,
        args: &[String],
        sandbox_roots: Option<&[PathBuf]>,
    ) -> io::Result<Self> {
        let nest = Nest::create(scratch.path(), &format!("lane-{number}"))?;
        let setup = nest.setup("zygote", as_module, args.to_vec(), Vec::new(), sandbox_roots);
        let worker = Worker::start(&nest.launch(base, hash_seed), &setup)?;
        Ok(Self {
            worker,
            nest,
            hash_seed,
            items: Vec::new(),
            job: None,
            queue: VecDeque::new(),
        })
    }

    /// Matches the suite with what this zygote collected. A test it lacks gets a number it will
    /// refuse, and the run is lost, not wrong.
    pub(super) fn learn(&mut self, suite: &Suite, theirs: &Suite) {
        self.items = suite
            .ids()
            .iter()
            .map(|id| theirs.find(id.as_str()).map_or(u32::MAX, |test| test.0))
            .collect();
    }

    fn dispatch(&mut self, reseed: &[String]) -> io::Result<()> {
        let Some(Pending { trie, timeout }) = self.queue.pop_front() else {
            return Ok(());
        };
        let request = ForkRequest {
            tests: trie.tests.iter().map(|test| self.items[test.at()]).collect(),
            kids: &trie.branches,
            reseed,
        };
        self.worker.forget_output();
        let sent = self.worker.send(&request);
        self.job = Some(Job::new(trie, timeout));
        sent
    }
}

impl PytestLab {
    pub(super) fn new(
        options: Options,
        scratch: Scratch,
        base: Launch,
        sandbox_roots: Option<Vec<PathBuf>>,
        sandbox_refused: Option<String>,
    ) -> Self {
        Self {
            options,
            base,
            suite: Suite::default(),
            lanes: Vec::new(),
            colds: Vec::new(),
            sandbox_roots,
            sandbox_refused,
            as_module: false,
            reseed: Vec::new(),
            facts: None,
            cpu: Duration::ZERO,
            started: 0,
            buffer: vec![0; wire::PACKET],
            progress: Arc::default(),
            scratch,
        }
    }

    pub fn facts(&self) -> &Facts {
        self.facts.as_ref().expect("an open lab has greeted")
    }

    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// CPU time of everything that has ended, and of collection.
    pub fn cpu(&self) -> Duration {
        self.cpu
    }

    /// From now on every run gets an interpreter of its own.
    pub fn go_cold(&mut self, because: String) {
        self.lanes.clear();
        if let Some(facts) = &mut self.facts {
            facts.cold_because = Some(because);
        }
    }

    fn is_cold(&self) -> bool {
        self.facts().cold_because.is_some()
    }

    /// Sleeps until a worker says something or `until`.
    pub(super) fn wait(&mut self, until: Option<Instant>) {
        // Looks up at least this often, for a flag that was set without a signal.
        let nap = Duration::from_millis(250);
        let patience = until.map_or(nap, |at| at.saturating_duration_since(Instant::now()).min(nap));
        let timeout = Timespec {
            tv_sec: patience.as_secs() as _,
            tv_nsec: patience.subsec_nanos() as _,
        };
        let descriptors: Vec<BorrowedFd<'_>> = self
            .lanes
            .iter()
            .map(|lane| &lane.worker)
            .chain(self.colds.iter().map(|cold| &cold.worker))
            .flat_map(Worker::descriptors)
            .collect();
        let mut polled: Vec<PollFd<'_>> = descriptors
            .iter()
            .map(|fd| PollFd::new(fd, PollFlags::IN))
            .collect();
        // Interrupted by a signal is as good as any other reason to look.
        let _ = poll(&mut polled, Some(&timeout));
    }

    fn active(&self) -> usize {
        self.colds.len() + self.lanes.iter().filter(|lane| lane.job.is_some()).count()
    }

    fn next_deadline(&self) -> Option<Instant> {
        let lanes = self.lanes.iter().filter_map(|lane| lane.job.as_ref());
        let colds = self.colds.iter().filter_map(|cold| cold.job.as_ref());
        lanes.chain(colds).filter_map(Job::deadline).min()
    }

    fn enqueue(&mut self, batch: &[RunRequest]) -> Result<VecDeque<usize>, LabError> {
        let cold = self.is_cold();
        let mut colds = VecDeque::new();
        let mut warm = Vec::new();
        for (number, request) in batch.iter().enumerate() {
            if cold || request.isolation == Isolation::Cold {
                colds.push_back(number);
            } else {
                warm.push((number, request));
            }
        }
        let tries = merge(warm);
        while !tries.is_empty() && self.lanes.len() < self.options.jobs.min(tries.len()) {
            if let Err(error) = self.add_lane() {
                if self.options.cancel.is_set() {
                    return Err(LabError::Interrupted);
                }
                return Err(LabError::broken(format!("a further zygote did not start: {error}")));
            }
        }
        let lanes = self.lanes.len();
        for (place, trie) in tries.into_iter().enumerate() {
            let request = &batch[trie.leaves[0].0];
            let lane = (place + request.attempt as usize) % lanes;
            let timeout = request.timeout;
            self.lanes[lane].queue.push_back(Pending { trie, timeout });
        }
        Ok(colds)
    }

    fn dispatch(&mut self, batch: &[RunRequest], colds: &mut VecDeque<usize>) -> Result<(), LabError> {
        let broken = |error: io::Error| LabError::broken(format!("failed to start a run: {error}"));
        while self.active() < self.options.jobs {
            let idle = self
                .lanes
                .iter_mut()
                .find(|lane| lane.job.is_none() && !lane.queue.is_empty());
            if let Some(lane) = idle {
                // A zygote that is gone is noticed by its end.
                let _ = lane.dispatch(&self.reseed);
                self.progress.processes.fetch_add(1, Ordering::Relaxed);
            } else if let Some(number) = colds.pop_front() {
                let cold = self.start_cold(number, &batch[number], false).map_err(broken)?;
                self.colds.push(cold);
            } else {
                break;
            }
        }
        Ok(())
    }

    fn start_cold(&mut self, number: usize, request: &RunRequest, whole: bool) -> io::Result<ColdRun> {
        self.started += 1;
        self.progress.processes.fetch_add(1, Ordering::Relaxed);
        let order = &request.order.0;
        let arguments = &self.facts().arguments;
        // pytest never runs one id twice: a repetition is two sessions in one process.
        let (mode, distinct) = match order.as_slice() {
            [a, b] if a == b => ("twice", &order[..1]),
            _ => ("cold", &order[..]),
        };
        let everything = distinct.len() == self.suite.len() && distinct.len() > 4;
        let selected = if whole || everything {
            None
        } else {
            arguments.selecting(&self.suite, distinct)
        };
        let whole = selected.is_none();
        let args = selected.unwrap_or_else(|| arguments.all());
        let names = distinct.iter().map(|test| self.suite.id(*test).to_string()).collect();
        let nest = Nest::create(self.scratch.path(), &format!("cold-{}", self.started))?;
        let setup = nest.setup(mode, self.as_module, args, names, self.sandbox_roots.as_deref());
        let seed = request
            .hash_seed
            .unwrap_or_else(|| hash_seed(self.options.seed, self.started));
        let worker = Worker::start(&nest.launch(&self.base, seed), &setup)?;
        let chain = RunRequest {
            isolation: Isolation::Fork,
            ..request.clone()
        };
        let mut job = merge([(number, &chain)])
            .pop()
            .map(|trie| Job::new(trie, request.timeout));
        if let Some(job) = &mut job {
            job.begin(worker.pid());
        }
        Ok(ColdRun {
            worker,
            nest,
            hash_seed: seed,
            job,
            request: number,
            whole,
            said_end: false,
            missing: None,
        })
    }

    /// Takes in what lanes have said; returns the records that are complete.
    fn hear_lanes(&mut self) -> Result<Vec<RunRecord>, LabError> {
        let mut records = Vec::new();
        for at in 0..self.lanes.len() {
            let lane = &mut self.lanes[at];
            let ended = lane.worker.has_ended();
            lane.worker.drain(&mut self.buffer);
            while let Some(event) = lane.worker.next(&mut self.buffer) {
                let Some(job) = &mut lane.job else { continue };
                match event {
                    Event::Done { status, cpu_us } => {
                        lane.worker.drain(&mut self.buffer);
                        let said = lane.worker.output();
                        job.left(status, &said);
                        let cpu = Duration::from_micros(cpu_us);
                        self.cpu += cpu;
                        if let Some(job) = lane.job.take() {
                            records.extend(job.records(lane.hash_seed, cpu));
                        }
                        lane.nest.remove_layers(&[lane.worker.pid()]);
                    }
                    Event::Left { status } => {
                        lane.worker.drain(&mut self.buffer);
                        let said = lane.worker.output();
                        job.left(status, &said);
                    }
                    other => hear(job, other, &self.progress),
                }
            }
            if ended {
                records.extend(self.replace_lane(at)?);
            }
        }
        Ok(records)
    }

    /// A zygote died (a test killed its parent, the system ran out of memory): its run crashed, and a
    /// new zygote takes the queue over.
    fn replace_lane(&mut self, at: usize) -> Result<Vec<RunRecord>, LabError> {
        let mut dead = self.lanes.remove(at);
        let said = dead.worker.output();
        let exit = dead.worker.reap().map_err(|e| LabError::broken(e.to_string()))?;
        self.cpu += exit.cpu;
        let records = match dead.job.take() {
            Some(mut job) => {
                job.left(exit.status, &said);
                job.lose("the zygote died".into());
                job.records(dead.hash_seed, exit.cpu)
            }
            None => {
                return Err(LabError::Broken {
                    message: format!("a zygote died while idle: {}", last_line(&said)),
                    hint: Some("try --isolation cold".into()),
                });
            }
        };
        self.add_lane()
            .map_err(|error| LabError::broken(format!("a zygote died and could not be replaced: {error}")))?;
        let mut fresh = self.lanes.pop().ok_or_else(|| LabError::broken("no lane"))?;
        fresh.queue = dead.queue;
        self.lanes.insert(at, fresh);
        Ok(records)
    }

    fn hear_colds(&mut self, batch: &[RunRequest]) -> Result<Vec<RunRecord>, LabError> {
        let mut records = Vec::new();
        let mut at = 0;
        while at < self.colds.len() {
            let cold = &mut self.colds[at];
            let ended = cold.worker.has_ended();
            cold.worker.drain(&mut self.buffer);
            while let Some(event) = cold.worker.next(&mut self.buffer) {
                let Some(job) = &mut cold.job else { continue };
                match event {
                    Event::Ready { plain } => job.plain = plain,
                    Event::End {} => {
                        cold.said_end = true;
                        job.end();
                    }
                    Event::Fatal(fatal) => {
                        cold.missing = Some(match fatal.kind.as_str() {
                            "missing" => format!("`{}` is not collected again", fatal.m),
                            _ => format!("pytest ended with exit code {}", fatal.exit),
                        });
                    }
                    other => hear(job, other, &self.progress),
                }
            }
            if !ended {
                at += 1;
                continue;
            }
            let mut cold = self.colds.remove(at);
            let said = cold.worker.output();
            let exit = cold.worker.reap().map_err(|e| LabError::broken(e.to_string()))?;
            self.cpu += exit.cpu;
            if cold.missing.is_some() && !cold.whole {
                let again = self
                    .start_cold(cold.request, &batch[cold.request], true)
                    .map_err(|e| LabError::broken(e.to_string()))?;
                self.colds.insert(at, again);
                at += 1;
                continue;
            }
            let Some(mut job) = cold.job.take() else { continue };
            if let Some(why) = cold.missing.take() {
                job.lose(why);
            } else if !cold.said_end {
                job.lose(format!("the interpreter ended early: {}", last_line(&said)));
            }
            job.left(exit.status, &said);
            records.extend(job.records(cold.hash_seed, exit.cpu));
            drop(cold.nest);
        }
        Ok(records)
    }

    fn kill_overdue(&mut self) {
        let now = Instant::now();
        for lane in &mut self.lanes {
            if let Some(Overdue(pid)) = lane.job.as_mut().and_then(|job| job.expire(now)) {
                process::kill_group(pid);
            }
        }
        for cold in &mut self.colds {
            if let Some(Overdue(pid)) = cold.job.as_mut().and_then(|job| job.expire(now)) {
                process::kill_group(pid);
            }
        }
    }

    /// Drops everything under way. Zygotes that were at work are replaced when next needed.
    fn abandon(&mut self) {
        self.colds.clear();
        self.lanes.retain_mut(|lane| {
            lane.queue.clear();
            lane.job.is_none()
        });
        self.end_orphans();
    }

    fn end_orphans(&self) {
        let known: Vec<i32> = self
            .lanes
            .iter()
            .map(|lane| lane.worker.pid())
            .chain(self.colds.iter().map(|cold| cold.worker.pid()))
            .collect();
        process::end_orphans(&known);
    }
}

impl Lab for PytestLab {
    fn suite(&self) -> &Suite {
        &self.suite
    }

    fn run(&mut self, batch: &[RunRequest], sink: &mut Sink<'_>) -> Result<(), LabError> {
        let mut colds = self.enqueue(batch)?;
        for (number, request) in batch.iter().enumerate() {
            if request.order.0.is_empty()
                && !(self.is_cold() || request.isolation == Isolation::Cold)
                && sink(empty_record(number)).is_break()
            {
                return Ok(());
            }
        }
        colds.retain(|number| !batch[*number].order.0.is_empty());
        loop {
            self.dispatch(batch, &mut colds)?;
            if self.active() == 0 {
                break;
            }
            self.wait(self.next_deadline());
            if self.options.cancel.is_set() {
                self.abandon();
                return Err(LabError::Interrupted);
            }
            let mut records = self.hear_lanes()?;
            records.extend(self.hear_colds(batch)?);
            self.kill_overdue();
            for record in records {
                if let ControlFlow::Break(()) = sink(record) {
                    self.abandon();
                    return Ok(());
                }
            }
        }
        self.end_orphans();
        Ok(())
    }
}

impl Drop for PytestLab {
    fn drop(&mut self) {
        self.abandon();
        for lane in &mut self.lanes {
            lane.worker.hang_up();
            lane.worker.kill();
        }
    }
}

fn hear(job: &mut Job, event: Event, progress: &Progress) {
    match event {
        Event::Begin { pid } => job.begin(pid),
        Event::Start { n, to } => job.start(n, to),
        Event::Outcome(outcome) => {
            progress.executions.fetch_add(1, Ordering::Relaxed);
            job.outcome(outcome);
        }
        Event::End {} => job.end(),
        Event::Lost { m } => job.lose(m),
        _ => {}
    }
}

fn empty_record(request: usize) -> RunRecord {
    RunRecord {
        request,
        executions: Vec::new(),
        hash_seed: 0,
        ending: flakelab_model::Ending::Completed,
        cpu: Duration::ZERO,
        wall: Duration::ZERO,
        plain: false,
    }
}

fn last_line(said: &str) -> &str {
    said.trim().lines().last().unwrap_or("it said nothing")
}

