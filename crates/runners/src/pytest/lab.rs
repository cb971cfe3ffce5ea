//! Scheduling: which process runs what, who is late, who has died.
//!
//! Single-threaded: one `poll` over the descriptors of all workers. A run goes to a lane fixed by its
//! place among the different runs of the batch and its attempt, so that repeats meet different hash seeds.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flakelab_lab::trie::{Trie, merge};
use flakelab_lab::{Lab, LabError, Sink};
use flakelab_model::{
    Changed, CodeEdit, Ending, Experiment, Factors, Isolation, Mutation, Order, RunRecord,
    RunRequest, Suite,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::accidents::Accidents;
use super::cold::{ColdRun, Ended};
use super::ground::Ground;
use super::job::Job;
use super::lane::{Disturbed, Lane, Pending, Selection, Special};
use super::open::{Facts, Options, hash_seed};
use super::worker::{Launch, Worker};
use crate::process;
use crate::scratch::Scratch;
use crate::wire;

/// Templates kept alive; each holds one hash seed.
const MOST_TEMPLATES: usize = 12;
/// Tests to execute that take about as long as to start a zygote.
const WORTH_A_ZYGOTE: usize = 32;

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
    pub(super) templates: Vec<Lane>,
    colds: Vec<ColdRun>,
    pub(super) sandbox_roots: Option<Vec<PathBuf>>,
    pub(super) sandbox_refused: Option<String>,
    pub(super) as_module: bool,
    /// Whether templates may load plugins.
    pub(super) ahead: bool,
    pub(super) reseed: Vec<String>,
    pub(super) facts: Option<Facts>,
    pub(super) start_cpu: Duration,
    pub(super) started: u32,
    accidents: Accidents,
    /// Children flakelab had before the lab was opened; not ours to end.
    pub(super) strangers: Vec<i32>,
    pub(super) buffer: Vec<u8>,
    pub(super) progress: Arc<Progress>,
    // Last, so that it is removed after the workers that use it.
    pub(super) scratch: Scratch,
}

/// A run that waits for an interpreter to be started for it.
#[derive(Debug)]
struct PendingCold {
    pending: Pending,
    hash_seed: u32,
}

/// Whose turn it is: different runs go to one interpreter after the other, and so do repeats of each.
#[derive(Default)]
struct Places<'a> {
    /// The turn of each run at its attempt 0.
    known: HashMap<Run<'a>, i64>,
    /// The attempt that the first of all is.
    first: i64,
}

/// What a repeat repeats.
type Run<'a> = (
    &'a Order,
    Option<&'a CodeEdit>,
    Option<*const Mutation>,
    Option<&'a Experiment>,
    &'a Factors,
);

impl<'a> Places<'a> {
    fn turn(&mut self, request: &'a RunRequest, interpreters: usize) -> usize {
        let attempt = i64::from(request.attempt);
        let next = self.known.len() as i64;
        if next == 0 {
            self.first = attempt;
        }
        let run = (
            &request.order,
            request.edit.as_deref(),
            request.mutation.as_ref().map(Arc::as_ptr),
            request.experiment.as_ref(),
            &request.factors,
        );
        let turn = self.known.entry(run).or_insert(next + self.first - attempt);
        (*turn + attempt).rem_euclid(interpreters as i64) as usize
    }
}

impl PytestLab {
    pub(super) fn new(ground: Ground) -> Self {
        Self {
            options: ground.options,
            base: ground.base,
            suite: Suite::default(),
            lanes: Vec::new(),
            templates: Vec::new(),
            colds: Vec::new(),
            sandbox_roots: ground.sandbox_roots,
            sandbox_refused: ground.sandbox_refused,
            as_module: false,
            ahead: false,
            reseed: Vec::new(),
            facts: None,
            start_cpu: Duration::ZERO,
            started: 0,
            accidents: Accidents::default(),
            strangers: ground.strangers,
            buffer: vec![0; wire::PACKET],
            progress: Arc::default(),
            scratch: ground.scratch,
        }
    }

    pub fn facts(&self) -> &Facts {
        self.facts.as_ref().expect("an open lab has greeted")
    }

    /// From now on so many runs at the same time, if that is more than now.
    pub fn allow_jobs(&mut self, most: usize) {
        self.options.jobs = self.options.jobs.max(most);
    }

    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// CPU time of starting interpreters and collecting; that of a run is in its record.
    pub fn start_cpu(&self) -> Duration {
        self.start_cpu
    }

    fn workers(&self) -> impl Iterator<Item = &Worker> {
        let lanes = self
            .lanes
            .iter()
            .chain(&self.templates)
            .map(|lane| &lane.worker);
        lanes.chain(self.colds.iter().map(|cold| &cold.worker))
    }

    /// Sleeps until a worker says something or `until`.
    pub(super) fn wait(&mut self, until: Option<Instant>) {
        // Looks up at least this often, for a flag that was set without a signal.
        let nap = Duration::from_millis(250);
        let patience = until.map_or(nap, |at| {
            at.saturating_duration_since(Instant::now()).min(nap)
        });
        let timeout = Timespec {
            tv_sec: patience.as_secs() as _,
            tv_nsec: patience.subsec_nanos() as _,
        };
        let descriptors: Vec<BorrowedFd<'_>> =
            self.workers().flat_map(Worker::descriptors).collect();
        let mut polled: Vec<PollFd<'_>> = descriptors
            .iter()
            .map(|fd| PollFd::new(fd, PollFlags::IN))
            .collect();
        // Interrupted by a signal is as good as any other reason to look.
        let _ = poll(&mut polled, Some(&timeout));
    }

    fn active(&self) -> usize {
        let busy = self
            .lanes
            .iter()
            .chain(&self.templates)
            .filter(|lane| lane.is_busy());
        self.colds.len() + busy.count()
    }

    fn next_deadline(&self) -> Option<Instant> {
        let lanes = self
            .lanes
            .iter()
            .chain(&self.templates)
            .filter_map(Lane::job);
        let colds = self.colds.iter().map(ColdRun::job);
        lanes.chain(colds).filter_map(Job::deadline).min()
    }

    /// How a run is really isolated: a suite that cannot be forked gets fresh interpreters, a user who
    /// wants cold ones gets those.
    fn isolation(&self, wanted: Isolation) -> Isolation {
        if self.options.cold_only {
            Isolation::Cold
        } else if self.facts().cold_because.is_some() {
            wanted.max(Isolation::Fresh)
        } else {
            wanted
        }
    }

    fn enqueue(&mut self, batch: &[RunRequest]) -> Result<VecDeque<PendingCold>, LabError> {
        let mut colds = VecDeque::new();
        let mut warm = Vec::new();
        let mut fresh = Places::default();
        for (number, request) in batch.iter().enumerate() {
            if request.order.0.is_empty() {
                continue;
            }
            if request.edit.is_some() && self.isolation(request.isolation).is_pristine() {
                return Err(LabError::broken(
                    "other bodies for functions take forks of the collected suite",
                ));
            }
            let isolation = if request.recording.is_some() || !request.factors.process.is_plain() {
                Isolation::Cold
            } else {
                self.isolation(request.isolation)
            };
            if request.mutation.as_ref().is_some_and(|m| {
                matches!(m.code, Changed::Import { .. }) != isolation.is_pristine()
            }) {
                return Err(LabError::broken(
                    "changed bodies take forks of the collected suite, changed files take fresh interpreters",
                ));
            }
            match isolation {
                Isolation::Shared | Isolation::Fork => warm.push((number, request)),
                Isolation::Fresh => {
                    let seed = request.hash_seed.unwrap_or_else(|| {
                        let lanes = self.options.jobs.clamp(2, MOST_TEMPLATES);
                        self.seed_number(fresh.turn(request, lanes))
                    });
                    let pending = self.select(number, request, wants_all(request));
                    match self.template(seed)? {
                        Some(at) => self.templates[at].enqueue(pending),
                        None => colds.push_back(PendingCold {
                            pending,
                            hash_seed: seed,
                        }),
                    }
                }
                Isolation::Cold => {
                    let hash_seed = request
                        .hash_seed
                        .unwrap_or_else(|| self.seed_number(number));
                    let pending = self.select(number, request, wants_all(request));
                    colds.push_back(PendingCold { pending, hash_seed });
                }
            }
        }
        let again = warm.iter().any(|(_, request)| request.attempt > 0);
        let tries = merge(warm);
        // A repetition is for another hash seed.
        let least = if again { 2 } else { 1 };
        while !tries.is_empty() && self.lanes.len() < self.worth(&tries).max(least) {
            self.add_lane(None)
                .map_err(|error| self.cannot_start(&error))?;
        }
        let lanes = self.lanes.len();
        let mut places = Places::default();
        for trie in tries {
            let request = &batch[trie.leaves[0].0];
            let lane = places.turn(request, lanes);
            self.lanes[lane].enqueue(Pending::forked(trie, request));
        }
        Ok(colds)
    }

    /// How many zygotes this work is worth. The lab of a changed project is there for a few runs: another zygote has to
    /// collect the suite first, which takes as long as some tests.
    fn worth(&self, tries: &[Trie]) -> usize {
        let most = self.options.jobs.min(tries.len());
        if self.options.settled.is_none() {
            return most;
        }
        let tests: usize = tries.iter().map(|trie| trie.tests.len()).sum();
        most.min(1 + tests / WORTH_A_ZYGOTE)
    }

    fn cannot_start(&self, error: &dyn std::fmt::Display) -> LabError {
        if self.options.cancel.is_set() {
            return LabError::Interrupted;
        }
        LabError::Broken {
            message: format!("an interpreter that collected before does not start again: {error}"),
            hint: Some("try --isolation cold".into()),
        }
    }

    fn seed_number(&self, number: usize) -> u32 {
        hash_seed(self.options.seed, 10_000 + number as u32)
    }

    /// The template with a hash seed, started if there is none; `None` where that does not work.
    fn template(&mut self, seed: u32) -> Result<Option<usize>, LabError> {
        if let Some(at) = self
            .templates
            .iter()
            .position(|lane| lane.hash_seed == seed)
        {
            return Ok(Some(at));
        }
        if self.templates.len() >= MOST_TEMPLATES {
            let idle = |lane: &Lane| !lane.is_busy() && !lane.is_waiting();
            match self.templates.iter().position(idle) {
                Some(at) => drop(self.templates.remove(at)),
                None => return Ok(None),
            }
        }
        match self.add_template(seed) {
            Ok(()) => Ok(Some(self.templates.len() - 1)),
            Err(_) if self.options.cancel.is_set() => Err(LabError::Interrupted),
            Err(_) => Ok(None),
        }
    }

    /// What a fresh or cold interpreter is to collect and execute.
    fn select(&self, number: usize, request: &RunRequest, whole: bool) -> Pending {
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
        let chain = RunRequest {
            isolation: Isolation::Fork,
            ..request.clone()
        };
        let trie: Trie = merge([(number, &chain)]).pop().unwrap_or_default();
        let selection = Selection {
            mode,
            whole: selected.is_none(),
            args: selected.unwrap_or_else(|| arguments.all()),
            order: distinct
                .iter()
                .map(|test| self.suite.id(*test).to_string())
                .collect(),
        };
        Pending {
            trie,
            timeout: request.timeout,
            selection: Some(selection),
            special: Special::of(request),
            recording: request.recording.clone(),
            disturbed: Vec::new(),
        }
    }

    fn dispatch(&mut self, colds: &mut VecDeque<PendingCold>) -> Result<(), LabError> {
        while self.active() < self.options.jobs {
            if let Some(at) = self.lanes.iter().position(Lane::is_waiting) {
                self.lanes[at].dispatch(&self.reseed);
            } else if let Some(lane) = self.templates.iter_mut().find(|lane| lane.is_waiting()) {
                lane.dispatch(&[]);
            } else if let Some(PendingCold { pending, hash_seed }) = colds.pop_front() {
                self.started += 1;
                let cold = ColdRun::start(
                    &self.scratch,
                    &self.base,
                    self.started,
                    hash_seed,
                    self.as_module,
                    pending,
                    self.sandbox_roots.as_deref(),
                )
                .map_err(|error| LabError::broken(format!("failed to start a run: {error}")))?;
                self.colds.push(cold);
            } else {
                break;
            }
            self.progress.processes.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Takes in what has been said; returns the records that are complete.
    fn hear(
        &mut self,
        batch: &[RunRequest],
        colds: &mut VecDeque<PendingCold>,
    ) -> Result<Vec<RunRecord>, LabError> {
        let broken = |error: io::Error| LabError::broken(error.to_string());
        let mut records = Vec::new();
        let mut not_found = Vec::new();
        // Who has ended is asked before listening, so that last words are heard.
        let ended = |lanes: &[Lane]| -> Vec<bool> {
            lanes.iter().map(|lane| lane.worker.has_ended()).collect()
        };
        let (dead_lanes, dead_templates) = (ended(&self.lanes), ended(&self.templates));
        for lane in self.lanes.iter_mut().chain(&mut self.templates) {
            let heard = lane.hear(&mut self.buffer, &self.progress);
            records.extend(heard.records);
            for disturbed in heard.disturbed {
                if let Some(pending) = again(&mut self.accidents, disturbed, &mut records) {
                    lane.enqueue(pending);
                }
            }
            for number in heard.open {
                let apart = RunRequest {
                    isolation: Isolation::Fork,
                    ..batch[number].clone()
                };
                for trie in merge([(number, &apart)]) {
                    lane.enqueue(Pending::forked(trie, &apart));
                }
            }
            not_found.extend(
                heard
                    .not_found
                    .into_iter()
                    .map(|pending| (pending, lane.hash_seed)),
            );
        }
        for at in (0..self.lanes.len()).rev() {
            if dead_lanes[at] {
                records.extend(self.replace(at)?);
            }
        }
        for at in (0..self.templates.len()).rev() {
            if dead_templates[at] {
                let dead = self.templates.remove(at);
                let hash_seed = dead.hash_seed;
                let estate = dead.bury().map_err(broken)?;
                records.extend(estate.records);
                let disturbed = estate.disturbed.into_iter();
                let disturbed =
                    disturbed.filter_map(|run| again(&mut self.accidents, run, &mut records));
                let queue = estate.queue.into_iter().chain(disturbed);
                colds.extend(queue.map(|pending| PendingCold { pending, hash_seed }));
            }
        }
        let mut at = 0;
        while at < self.colds.len() {
            let ended = self.colds[at].worker.has_ended();
            self.colds[at].hear(&mut self.buffer, &self.progress);
            if !ended {
                at += 1;
                continue;
            }
            match self.colds.remove(at).finish().map_err(broken)? {
                Ended::Records(done) => records.extend(done),
                Ended::Disturbed(disturbed) => {
                    let hash_seed = disturbed.hash_seed;
                    let pending = again(&mut self.accidents, *disturbed, &mut records);
                    colds.extend(pending.map(|pending| PendingCold { pending, hash_seed }));
                }
                Ended::NotFound(pending) => not_found.push((*pending, 0)),
            }
        }
        for (pending, seed) in not_found {
            let number = pending.trie.leaves[0].0;
            let request = &batch[number];
            let hash_seed = request.hash_seed.unwrap_or(if seed == 0 {
                self.seed_number(number)
            } else {
                seed
            });
            let pending = self.select(number, request, true);
            colds.push_back(PendingCold { pending, hash_seed });
        }
        Ok(records)
    }

    /// A zygote died (a test killed its parent, the system ran out of memory): a new one takes the queue over.
    fn replace(&mut self, at: usize) -> Result<Vec<RunRecord>, LabError> {
        let dead = self.lanes.remove(at);
        let (was_busy, seed) = (dead.is_busy(), dead.hash_seed);
        let estate = dead.bury().map_err(|e| LabError::broken(e.to_string()))?;
        if !was_busy && !self.accidents.excuse_idle() {
            let last = estate.said.trim().lines().last();
            let last = last.unwrap_or("it said nothing");
            return Err(self.cannot_start(&format_args!("zygotes die while idle: {last}")));
        }
        self.add_lane(Some(seed))
            .map_err(|error| self.cannot_start(&error))?;
        let fresh = self.lanes.len() - 1;
        let mut records = estate.records;
        let disturbed = estate.disturbed.into_iter();
        let disturbed = disturbed.filter_map(|run| again(&mut self.accidents, run, &mut records));
        for pending in estate.queue.into_iter().chain(disturbed) {
            self.lanes[fresh].enqueue(pending);
        }
        self.lanes.swap(at, fresh);
        Ok(records)
    }

    fn kill_overdue(&mut self) {
        let now = Instant::now();
        for lane in self.lanes.iter_mut().chain(&mut self.templates) {
            lane.kill_overdue(now);
        }
        for cold in &mut self.colds {
            cold.kill_overdue(now);
        }
    }

    /// Drops everything under way. Zygotes that were at work are replaced when next needed.
    fn abandon(&mut self) {
        self.colds.clear();
        for lanes in [&mut self.lanes, &mut self.templates] {
            lanes.retain_mut(|lane| {
                lane.take_queue();
                !lane.is_busy()
            });
        }
        self.end_orphans();
    }

    fn end_orphans(&self) {
        let strangers = self.strangers.iter().copied();
        let known: Vec<i32> = self.workers().map(Worker::pid).chain(strangers).collect();
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
            if request.order.0.is_empty() && sink(empty_record(number)).is_break() {
                self.abandon();
                return Ok(());
            }
        }
        let until = batch.iter().filter_map(|request| request.until).min();
        loop {
            self.dispatch(&mut colds)?;
            if self.active() == 0 {
                break;
            }
            self.wait(self.next_deadline().into_iter().chain(until).min());
            if self.options.cancel.is_set() {
                self.abandon();
                return Err(LabError::Interrupted);
            }
            let records = self.hear(batch, &mut colds)?;
            self.kill_overdue();
            for record in records {
                if let ControlFlow::Break(()) = sink(record) {
                    self.abandon();
                    return Ok(());
                }
            }
            if until.is_some_and(|at| Instant::now() >= at) {
                self.abandon();
                return Ok(());
            }
        }
        self.end_orphans();
        Ok(())
    }
}

impl Drop for PytestLab {
    fn drop(&mut self) {
        self.colds.clear();
        self.lanes.clear();
        self.templates.clear();
        // With what zygotes had started while they collected: it is ours now.
        self.end_orphans();
    }
}

/// A run that was disturbed, if it is to be made again; else it is to blame itself, and its records count.
fn again(
    accidents: &mut Accidents,
    disturbed: Disturbed,
    records: &mut Vec<RunRecord>,
) -> Option<Pending> {
    let mut pending = disturbed.pending;
    let mut excused = false;
    for killed in &disturbed.killed {
        excused |= accidents.excuse(*killed, &pending.disturbed);
    }
    if excused {
        pending.disturbed.extend(disturbed.killed);
        return Some(pending);
    }
    records.extend(disturbed.records);
    None
}

fn wants_all(request: &RunRequest) -> bool {
    request.experiment.as_ref().is_some_and(|e| e.whole)
}

fn empty_record(request: usize) -> RunRecord {
    RunRecord {
        request,
        executions: Vec::new(),
        hash_seed: 0,
        ending: Ending::Completed,
        cpu: Duration::ZERO,
        wall: Duration::ZERO,
        plain: false,
        observation: None,
        trace: None,
        pursued: Vec::new(),
        reached: None,
    }
}
