//! One interpreter with the shim in it: its process, its requests, its events, the tail of its output.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;

use super::job::Overdue;
use crate::process::{self, Exit, Limits, Process, Spawn, Surroundings};
use crate::wire::{self, Event};

/// How much of what a worker printed last is kept for messages.
const TAIL: usize = 16 * 1024;

#[derive(Debug)]
pub(super) struct Worker {
    process: Process,
    requests: OwnedFd,
    events: OwnedFd,
    tail: VecDeque<u8>,
}

/// Everything a worker's process needs, the same for all workers of a lab but for a few variables.
#[derive(Debug, Clone)]
pub(super) struct Launch {
    pub(super) python: std::path::PathBuf,
    pub(super) cwd: std::path::PathBuf,
    pub(super) shim: std::path::PathBuf,
    pub(super) env: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    pub(super) limits: Limits,
    pub(super) user_namespace: bool,
    pub(super) surroundings: Surroundings,
}

impl Worker {
    /// With a guard around it, for a process that executes tests and is no fork of one that does not.
    pub(super) fn start(
        launch: &Launch,
        setup: &impl Serialize,
        guarded: bool,
    ) -> io::Result<Self> {
        let (their_requests, requests) = process::request_pipe()?;
        let (events, their_events) = process::packet_pair()?;
        let keep = vec![
            process::number(&their_requests),
            process::number(&their_events),
        ];
        let program = super::shim::program(&launch.shim, keep[0], keep[1]);
        let process = process::spawn(Spawn {
            program: launch.python.clone(),
            args: vec!["-c".into(), program.into()],
            cwd: launch.cwd.clone(),
            env: launch.env.clone(),
            keep,
            limits: launch.limits,
            user_namespace: launch.user_namespace,
            surroundings: launch.surroundings,
            guarded,
        })?;
        let mut worker = Self {
            process,
            requests,
            events,
            tail: VecDeque::new(),
        };
        // A worker that died at once is noticed by its end, not by this.
        let _ = worker.send(setup);
        Ok(worker)
    }

    pub(super) fn send(&mut self, request: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        let mut rest = line.as_slice();
        while !rest.is_empty() {
            match rustix::io::write(&self.requests, rest) {
                Ok(written) => rest = &rest[written..],
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The descriptors to poll: events, output, end of process.
    pub(super) fn descriptors(&self) -> [BorrowedFd<'_>; 3] {
        [
            self.events.as_fd(),
            self.process.output(),
            self.process.ended(),
        ]
    }

    /// The next event, if one is there.
    pub(super) fn next(&mut self, buffer: &mut [u8]) -> Option<Event> {
        loop {
            match rustix::io::read(&self.events, &mut *buffer) {
                Ok(0) => return None,
                Ok(length) => {
                    if let Some(event) = wire::decode(&buffer[..length]) {
                        return Some(event);
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return None,
            }
        }
    }

    /// Takes over what was printed, keeping the end of it.
    pub(super) fn drain(&mut self, buffer: &mut [u8]) {
        loop {
            match rustix::io::read(self.process.output(), &mut *buffer) {
                Ok(length) if length > 0 => {
                    self.tail.extend(&buffer[..length]);
                    let excess = self.tail.len().saturating_sub(TAIL);
                    self.tail.drain(..excess);
                    if length < buffer.len() {
                        return;
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                _ => return,
            }
        }
    }

    pub(super) fn forget_output(&mut self) {
        self.tail.clear();
    }

    pub(super) fn output(&mut self) -> String {
        String::from_utf8_lossy(self.tail.make_contiguous()).into_owned()
    }

    pub(super) fn pid(&self) -> i32 {
        self.process.raw_pid()
    }

    /// The process that executes tests, where that is this one.
    pub(super) fn leader(&self) -> i32 {
        self.process.leader()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.process.has_ended()
    }

    /// Sleeps until this worker says something, prints, or ends.
    pub(super) fn wait(&self, most: Duration) {
        let descriptors = self.descriptors();
        let mut polled = descriptors
            .each_ref()
            .map(|fd| PollFd::new(fd, PollFlags::IN));
        let timeout = Timespec {
            tv_sec: most.as_secs() as _,
            tv_nsec: most.subsec_nanos() as _,
        };
        let _ = poll(&mut polled, Some(&timeout));
    }

    pub(super) fn kill_overdue(&self, overdue: Option<Overdue>) {
        match overdue {
            Some(Overdue::Lineage(pid)) => {
                process::kill(pid);
                // A test may have stopped the process that is to notice.
                process::wake(self.pid());
            }
            Some(Overdue::Worker) => process::kill(self.pid()),
            None => {}
        }
    }

    /// Whether the process was killed. One that has ended is collected by asking.
    pub(super) fn was_killed(&mut self) -> bool {
        self.has_ended()
            && self
                .reap()
                .is_ok_and(|exit| process::was_killed(exit.status))
    }

    pub(super) fn reap(&mut self) -> io::Result<Exit> {
        self.process.reap()
    }
}
