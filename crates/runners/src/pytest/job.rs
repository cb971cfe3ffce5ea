//! One trie on its way through a worker: events in, run records out.
//!
//! Keeps a stack of the lineages alive (a parent waits while its branch runs), so that a timeout kills
//! the right one and a crash is charged to the test that was running in it.

mod chase;
mod reach;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flakelab_lab::trie::{END, Trie};
use flakelab_model::{
    Ending, Execution, Failure, Leak, Observation, Outcome, Phase, RunRecord, TestIndex, Timeout,
};

use chase::Chase;
use reach::Reach;

use crate::process;
use crate::wire::OutcomeEvent;

/// Shims send fewer; a hostile suite gets no more.
const MOST_LEAKS: usize = 500;
/// How long a process may take to be forked, or to be gone once it was killed or through: as long as a
/// test may, within these bounds. It takes milliseconds, but on a machine that has other things to do.
/// A test that is limited in CPU time may take so many times longer by the clock: it may be asleep.
const MOST_WAIT: u32 = 10;
const LEAST_REPRIEVE: Duration = Duration::from_millis(50);
const LEAST_START: Duration = Duration::from_secs(10);
const MOST_START: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct Job {
    trie: Trie,
    timeout: Timeout,
    /// Outcome of each node that has one successor, and of branch points by successor.
    nodes: Vec<Option<(Outcome, u32)>>,
    branches: HashMap<(u32, i64), (Outcome, u32)>,
    lineages: Vec<Lineage>,
    /// What the next test to start is torn down for, as far as that was said.
    towards: Vec<i64>,
    failures: HashMap<Failure, Arc<Failure>>,
    started: Instant,
    lost: Option<String>,
    not_found: bool,
    /// Whether some process of the run could not be branched.
    unsharable: bool,
    ended: bool,
    killed: Vec<Killed>,
    /// So many processes at the same time ended the run.
    bomb: Option<u32>,
    /// The worker itself is to be killed, which ends everything.
    given_up: bool,
    pub(super) plain: bool,
    seen: Option<Observation>,
    pursuit: Option<Chase>,
    reached: Option<Reach>,
}

#[derive(Debug)]
struct Lineage {
    pid: i32,
    born: Instant,
    progress: Instant,
    running: Option<(u32, Option<Vec<i64>>)>,
    /// CPU time of the process when the running test began, and how long it may go on because it was not given
    /// what it was allowed to take.
    cpu: Duration,
    reprieve: Option<Instant>,
    /// Since when it is to be gone: it was killed, or said that it is through.
    over: Option<Instant>,
}

/// A process of the run was killed (signal 9), and not by flakelab: while this test was running, if one was. It may
/// have been the test itself, or a system that is out of memory, or somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Killed(pub(super) Option<TestIndex>);

/// A limit that was exceeded: what to kill.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Overdue {
    /// The process that executes, with its group.
    Lineage(i32),
    /// The worker: nothing has begun, or what is over is not gone.
    Worker,
}

impl Job {
    pub(super) fn new(trie: Trie, timeout: Timeout) -> Self {
        let nodes = vec![None; trie.tests.len()];
        Self {
            trie,
            timeout,
            nodes,
            branches: HashMap::new(),
            lineages: Vec::new(),
            towards: Vec::new(),
            failures: HashMap::new(),
            started: Instant::now(),
            lost: None,
            not_found: false,
            unsharable: false,
            ended: false,
            killed: Vec::new(),
            bomb: None,
            given_up: false,
            plain: false,
            seen: None,
            pursuit: None,
            reached: None,
        }
    }

    /// The run has changed code in it, which is counted, and its tests are limited in CPU time.
    pub(super) fn pursues(mut self, mutated: bool) -> Self {
        self.pursuit = mutated.then(Chase::default);
        self
    }

    pub(super) fn hit(&mut self) {
        if let Some(chase) = &mut self.pursuit {
            chase.hit = true;
        }
    }

    pub(super) fn circles(&mut self) {
        if let Some(chase) = &mut self.pursuit {
            chase.circles = true;
        }
    }

    /// Processes became too many. Where changed code is why, that is one way to go in circles.
    pub(super) fn bomb(&mut self, processes: u32) {
        match &mut self.pursuit {
            Some(chase) if chase.was_hit() => chase.circles = true,
            _ => self.bomb = Some(processes),
        }
    }

    pub(super) fn imported(&mut self, ranges: &[u32]) {
        self.reached.get_or_insert_default().imported(ranges);
    }

    pub(super) fn reached(&mut self, node: u32, ranges: &[u32]) {
        if (node as usize) < self.nodes.len() {
            self.reached.get_or_insert_default().reached(node, ranges);
        }
    }

    pub(super) fn leak(&mut self, leak: Leak) {
        let seen = self.seen.get_or_insert_default();
        if seen.leaks.len() < MOST_LEAKS {
            seen.leaks.push(leak);
        }
    }

    pub(super) fn wrote(&mut self, id: &str, at: String) {
        let seen = self.seen.get_or_insert_default();
        if let Some(leak) = seen.leaks.iter_mut().find(|leak| leak.id == id) {
            leak.at = Some(at);
        }
    }

    pub(super) fn stuck(&mut self, id: &str) {
        let seen = self.seen.get_or_insert_default();
        if let Some(leak) = seen.leaks.iter_mut().find(|leak| leak.id == id) {
            leak.restorable = false;
        }
    }

    pub(super) fn watched(&mut self, notes: Vec<String>, objects: u64, milliseconds: u64) {
        let seen = self.seen.get_or_insert_default();
        seen.notes = notes;
        seen.objects = objects;
        seen.milliseconds = milliseconds;
    }

    pub(super) fn begin(&mut self, pid: i32) {
        let now = Instant::now();
        self.lineages.push(Lineage {
            pid,
            born: now,
            progress: now,
            running: None,
            cpu: Duration::ZERO,
            reprieve: None,
            over: None,
        });
    }

    /// A part of what the next test to start is torn down for.
    pub(super) fn towards(&mut self, list: &[i64]) {
        // No node has more successors than there are nodes, and the end.
        let room = (self.nodes.len() + 1).saturating_sub(self.towards.len());
        self.towards.extend(list.iter().take(room));
    }

    pub(super) fn start(&mut self, node: u32) {
        let to = std::mem::take(&mut self.towards);
        let to = (!to.is_empty()).then_some(to);
        if let Some(lineage) = self.lineages.last_mut() {
            lineage.progress = Instant::now();
            lineage.running = Some((node, to));
            lineage.reprieve = None;
            if let Some(chase) = &mut self.pursuit {
                lineage.cpu = process::cpu_time(lineage.pid).unwrap_or_default();
                chase.start();
            }
        }
    }

    pub(super) fn outcome(&mut self, event: OutcomeEvent) {
        let Some(lineage) = self.lineages.last_mut() else {
            return;
        };
        lineage.progress = Instant::now();
        let started = lineage.running.take();
        let to = started.filter(|(node, _)| *node == event.n);
        let to = to.and_then(|(_, to)| to);
        let micros = u32::try_from(event.us).unwrap_or(u32::MAX);
        let outcome = match event.o.as_str() {
            "p" => Outcome::Passed,
            "s" => Outcome::Skipped,
            "xf" => Outcome::Xfailed,
            "xp" => Outcome::Xpassed,
            "n" => Outcome::NotRun,
            word => {
                let failure = self.failure(event.ph.unwrap_or(Phase::Call), event.m, event.at);
                if word == "e" {
                    Outcome::Errored(failure)
                } else {
                    Outcome::Failed(failure)
                }
            }
        };
        if let Some(chase) = &mut self.pursuit {
            chase.hit |= event.hit;
            chase.hits = event.hits;
            chase.earlier |= event.earlier;
        }
        self.put(event.n, to.as_deref(), outcome, micros);
    }

    /// A lineage said that it is through.
    pub(super) fn end(&mut self) {
        self.ended = true;
        if let Some(lineage) = self.lineages.last_mut() {
            lineage.running = None;
            lineage.over = Some(Instant::now());
        }
    }

    /// The interpreter did not find the tests it was to run.
    pub(super) fn miss(&mut self, why: String) {
        self.not_found = true;
        self.lose(why);
    }

    pub(super) fn not_found(&self) -> bool {
        self.not_found
    }

    /// A process of the run has something that no fork of it would have.
    pub(super) fn cannot_branch(&mut self) {
        self.unsharable = true;
    }

    pub(super) fn lose_unless_ended(&mut self, why: String) {
        if !self.ended {
            self.lose(why);
        }
    }

    /// The process that is executing at present.
    pub(super) fn innermost(&self) -> Option<i32> {
        self.lineages.last().map(|lineage| lineage.pid)
    }

    pub(super) fn lose(&mut self, why: String) {
        self.lost.get_or_insert(why);
    }

    /// The innermost lineage is gone; what it was running has crashed unless we killed it.
    pub(super) fn left(&mut self, status: i32, said: &str) {
        let lineage = self.lineages.pop();
        self.notice(status, lineage.as_ref());
        let Some(lineage) = lineage else {
            return;
        };
        if lineage.running.is_none() && lineage.over.is_none() {
            self.circled_at_import();
        }
        if let Some((node, to)) = lineage.running
            && lineage.over.is_none()
        {
            let circles = self.pursuit.as_ref().is_some_and(|chase| chase.circles);
            let outcome = if circles {
                let message = "the changed code was executed again and again".to_owned();
                Outcome::TimedOut(self.failure(Phase::Call, message, String::new()))
            } else {
                let message = match self.bomb.take() {
                    Some(processes) => bomb_message("the test", processes),
                    None => crash_message(status, said),
                };
                Outcome::Crashed(self.failure(Phase::Call, message, String::new()))
            };
            self.put(node, to.as_deref(), outcome, 0);
        }
        if let Some(parent) = self.lineages.last_mut() {
            parent.progress = Instant::now();
        }
    }

    fn notice(&mut self, status: i32, lineage: Option<&Lineage>) {
        let circles = self.pursuit.as_ref().is_some_and(|chase| chase.circles);
        let ours = self.given_up || lineage.is_some_and(|lineage| lineage.over.is_some());
        if !process::was_killed(status) || ours || circles || self.bomb.is_some() {
            return;
        }
        let running = lineage.and_then(|lineage| lineage.running.as_ref());
        let test = running.and_then(|(node, _)| self.trie.tests.get(*node as usize));
        self.killed.push(Killed(test.copied()));
        if test.is_none() {
            self.lose("the process was killed when no test was running".into());
        }
    }

    pub(super) fn killed(&self) -> &[Killed] {
        &self.killed
    }

    /// Whether this process is one of those that execute the run.
    pub(super) fn has(&self, pid: i32) -> bool {
        self.lineages.iter().any(|lineage| lineage.pid == pid)
    }

    /// Ends whatever the processes of the run have left in their groups. To be called when the zygote is gone: they are
    /// orphans that nobody has collected yet.
    pub(super) fn kill_lineages(&self) {
        for lineage in &self.lineages {
            process::kill_group(lineage.pid);
        }
    }

    /// Changed code that goes in circles when it is imported is charged to the first test.
    fn circled_at_import(&mut self) {
        let circles = self
            .pursuit
            .as_ref()
            .is_some_and(|chase| chase.circles && chase.is_new());
        if circles && !self.trie.tests.is_empty() {
            let message = "the changed code never came to an end when it was imported".to_owned();
            let failure = self.failure(Phase::Setup, message, String::new());
            self.put(0, None, Outcome::TimedOut(failure), 0);
        }
    }

    /// When the next limit is reached.
    pub(super) fn deadline(&self) -> Option<Instant> {
        if self.given_up {
            return None;
        }
        let start = self.timeout.test.clamp(LEAST_START, MOST_START);
        let Some(lineage) = self.lineages.last() else {
            return self.started.checked_add(start);
        };
        if let Some(over) = lineage.over {
            return over.checked_add(start);
        }
        // Starting up and collecting is nobody's test.
        let test = lineage.running.as_ref().and_then(|_| {
            let limit = lineage.progress.checked_add(self.timeout.test);
            lineage.reprieve.max(limit)
        });
        // The lineage all others come from serves every order of the trie.
        let served = u32::try_from(self.trie.leaves.len())
            .unwrap_or(u32::MAX)
            .max(1);
        let run = lineage
            .born
            .checked_add(self.timeout.run.saturating_mul(served));
        [test, run].into_iter().flatten().min()
    }

    /// Charges a reached limit to the running test, and says what to kill.
    pub(super) fn expire(&mut self, now: Instant) -> Option<Overdue> {
        if self.deadline()? > now {
            return None;
        }
        let Some(lineage) = self.lineages.last_mut().filter(|l| l.over.is_none()) else {
            self.given_up = true;
            self.lose(if self.lineages.is_empty() {
                "a forked process did not start".into()
            } else {
                "a process that was through did not end".into()
            });
            return Some(Overdue::Worker);
        };
        if self.pursuit.is_some()
            && let Some(more) = lineage.still_has(self.timeout.test, now)
        {
            lineage.reprieve = Some(now + more);
            return None;
        }
        lineage.over = Some(now);
        let pid = lineage.pid;
        let took = now - lineage.progress;
        let whole = now - lineage.born;
        match lineage.running.take() {
            Some((node, to)) => {
                let message = if took < self.timeout.test {
                    format!(
                        "the run was ended after {:.1} s, its limit, in the middle of the test",
                        whole.as_secs_f64()
                    )
                } else {
                    format!("no end after {:.1} s", took.as_secs_f64())
                };
                let failure = self.failure(Phase::Call, message, String::new());
                let micros = u32::try_from(took.as_micros()).unwrap_or(u32::MAX);
                self.put(node, to.as_deref(), Outcome::TimedOut(failure), micros);
            }
            None if self.pursuit.as_ref().is_some_and(|chase| chase.hit) => {
                self.circles();
                self.circled_at_import();
            }
            None => self.lose("the interpreter hung between two tests".into()),
        }
        Some(Overdue::Lineage(pid))
    }

    /// The requests that no process got to, because one on the way could not be branched.
    pub(super) fn take_open(&mut self) -> Vec<usize> {
        if !self.unsharable {
            return Vec::new();
        }
        let is_open = |leaf: u32| {
            let executions = self.executions(&self.trie.path(leaf));
            self.lost.is_none() && self.ending(&executions) == Ending::Stopped
        };
        let leaves = self.trie.leaves.iter().copied();
        let (open, done): (Vec<_>, Vec<_>) = leaves.partition(|(_, leaf)| is_open(*leaf));
        self.trie.leaves = done;
        open.into_iter().map(|(request, _)| request).collect()
    }

    /// One record for each request the trie serves.
    pub(super) fn records(self, hash_seed: u32, cpu: Duration) -> Vec<RunRecord> {
        let share = u32::try_from(self.trie.leaves.len()).unwrap_or(1).max(1);
        let wall = self.started.elapsed() / share;
        self.trie
            .leaves
            .iter()
            .map(|(request, leaf)| {
                let mut executions = self.executions(&self.trie.path(*leaf));
                let ending = self.ending(&executions);
                if self.trie.last_only {
                    executions.drain(..executions.len().saturating_sub(1));
                }
                let reached = self.reached.as_ref();
                let reached = reached.map(|reach| Box::new(reach.of(&self.trie.path(*leaf))));
                let (ending, executions, pursued) = match &self.pursuit {
                    Some(chase) => {
                        let first = self.trie.tests.first().copied();
                        let (ending, pursued) =
                            chase.come_to(self.lost.as_deref(), self.not_found, first);
                        (ending, Vec::new(), pursued)
                    }
                    None => (ending, executions, Vec::new()),
                };
                RunRecord {
                    request: *request,
                    ending,
                    executions,
                    hash_seed,
                    cpu: cpu / share,
                    wall,
                    plain: self.plain,
                    observation: self.seen.clone(),
                    trace: None,
                    pursued,
                    reached,
                }
            })
            .collect()
    }

    fn executions(&self, path: &[u32]) -> Vec<Execution> {
        let successors = path[1..].iter().map(|n| i64::from(*n)).chain([END]);
        path.iter()
            .zip(successors)
            .map(|(node, next)| {
                let found = if self.trie.branches.contains_key(node) {
                    self.branches.get(&(*node, next))
                } else {
                    self.nodes[*node as usize].as_ref()
                };
                let (outcome, micros) = found.cloned().unwrap_or((Outcome::NotRun, 0));
                let test: TestIndex = self.trie.tests[*node as usize];
                Execution {
                    test,
                    outcome,
                    micros,
                }
            })
            .collect()
    }

    fn ending(&self, executions: &[Execution]) -> Ending {
        for execution in executions {
            match execution.outcome {
                Outcome::TimedOut(_) => return Ending::TimedOut,
                Outcome::Crashed(_) => return Ending::Crashed,
                Outcome::NotRun => {
                    return match &self.lost {
                        Some(why) => Ending::Lost(why.clone()),
                        None => Ending::Stopped,
                    };
                }
                _ => {}
            }
        }
        Ending::Completed
    }

    fn put(&mut self, node: u32, to: Option<&[i64]>, outcome: Outcome, micros: u32) {
        if node as usize >= self.nodes.len() {
            return;
        }
        if let Some(chase) = &mut self.pursuit {
            chase.put(self.trie.tests[node as usize], node, outcome, micros);
            return;
        }
        if self.trie.branches.contains_key(&node) {
            for next in to.unwrap_or(&[i64::from(node) + 1]) {
                self.branches
                    .insert((node, *next), (outcome.clone(), micros));
            }
        } else {
            self.nodes[node as usize] = Some((outcome, micros));
        }
    }

    fn failure(&mut self, phase: Phase, message: String, at: String) -> Arc<Failure> {
        let failure = Failure { phase, message, at };
        let shared = self
            .failures
            .entry(failure)
            .or_insert_with_key(|failure| Arc::new(failure.clone()));
        Arc::clone(shared)
    }
}

impl Lineage {
    /// How much of its time the running test was not given: other processes had it.
    fn still_has(&self, limit: Duration, now: Instant) -> Option<Duration> {
        self.running.as_ref()?;
        let used = process::cpu_time(self.pid)?.saturating_sub(self.cpu);
        let waited = now.saturating_duration_since(self.progress);
        let patient = waited < limit.saturating_mul(MOST_WAIT);
        (used < limit && patient).then(|| (limit - used).max(LEAST_REPRIEVE))
    }
}

/// What a run came to whose processes became too many.
pub(super) fn bomb_message(who: &str, processes: u32) -> String {
    format!(
        "{who} forked without end: {processes} processes were alive at the same time, and all were ended"
    )
}

/// What a process that ended in the middle of a test came to.
fn crash_message(status: i32, said: &str) -> String {
    let how = if libc_signaled(status) {
        format!(
            "killed by signal {} in the middle of the test",
            status & 0x7f
        )
    } else {
        format!(
            "exited with code {} in the middle of the test",
            (status >> 8) & 0xff
        )
    };
    let said = said.trim();
    if said.is_empty() {
        how
    } else {
        let from = said.char_indices().rev().nth(1_500).map_or(0, |(at, _)| at);
        format!("{how}\n{}", &said[from..])
    }
}

fn libc_signaled(status: i32) -> bool {
    status & 0x7f != 0
}
