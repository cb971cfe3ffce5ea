//! An interpreter that is started for one order and ends with it.

use std::io;
use std::path::PathBuf;
use std::time::Instant;

use flakelab_model::{Recording, RunRecord};

use super::factors;
use super::job::Job;
use super::lab::Progress;
use super::lane::{Disturbed, Pending, Selection, Special, hear};
use super::launch::{Nest, RecordingSetup};
use super::trace;
use super::worker::{Launch, Worker};
use crate::scratch::Scratch;

#[derive(Debug)]
pub(super) struct ColdRun {
    pub(super) worker: Worker,
    hash_seed: u32,
    job: Job,
    pending: Pending,
    // After the worker, so that the directories outlive it.
    nest: Nest,
}

/// What a cold interpreter that has ended leaves behind.
pub(super) enum Ended {
    Records(Vec<RunRecord>),
    /// Something in it was killed.
    Disturbed(Box<Disturbed>),
    /// Its tests were not found by name.
    NotFound(Box<Pending>),
}

/// An interpreter that was told what to collect, and the directories it uses.
pub(super) struct Started {
    pub(super) worker: Worker,
    hash_seed: u32,
    nest: Nest,
}

impl Started {
    #[allow(
        clippy::too_many_arguments,
        reason = "called from two places, both plain"
    )]
    pub(super) fn new(
        scratch: &Scratch,
        base: &Launch,
        number: u32,
        hash_seed: u32,
        as_module: bool,
        selection: Selection,
        special: &Special,
        recording: Option<&Recording>,
        sandbox_roots: Option<&[PathBuf]>,
    ) -> io::Result<Self> {
        let nest = match &special.factors.process.lasting_state {
            Some(name) => Nest::lasting(scratch.path(), name)?,
            None => Nest::of_cold(scratch.path(), number)?,
        };
        let Selection {
            mode, args, order, ..
        } = selection;
        let mut setup = nest.setup(mode, as_module, args, order, sandbox_roots);
        setup.special = special.clone();
        setup.layers =
            recording.map(|recording| RecordingSetup::new(recording, &nest, scratch.path()));
        let mut launch = nest.launch(base, hash_seed);
        factors::give(&mut launch, &special.factors);
        if recording.is_some() {
            // Of the run before, where directories last.
            let _ = std::fs::remove_file(nest.trace());
        }
        let worker = Worker::start(&launch, &setup, true)?;
        Ok(Self {
            worker,
            hash_seed,
            nest,
        })
    }
}

impl ColdRun {
    pub(super) fn start(
        scratch: &Scratch,
        base: &Launch,
        number: u32,
        hash_seed: u32,
        as_module: bool,
        pending: Pending,
        sandbox_roots: Option<&[PathBuf]>,
    ) -> io::Result<Self> {
        let Some(selection) = pending.selection.clone() else {
            return Err(io::Error::other("a cold run needs a selection"));
        };
        let started = Started::new(
            scratch,
            base,
            number,
            hash_seed,
            as_module,
            selection,
            &pending.special,
            pending.recording.as_deref(),
            sandbox_roots,
        )?;
        Ok(Self::begin(started, pending))
    }

    pub(super) fn begin(started: Started, pending: Pending) -> Self {
        let Started {
            worker,
            hash_seed,
            nest,
        } = started;
        let mut job = pending.job();
        job.begin(worker.leader());
        Self {
            worker,
            hash_seed,
            job,
            pending,
            nest,
        }
    }

    pub(super) fn job(&self) -> &Job {
        &self.job
    }

    pub(super) fn hear(&mut self, buffer: &mut [u8], progress: &Progress) {
        self.worker.drain(buffer);
        while let Some(event) = self.worker.next(buffer) {
            hear(&mut self.job, event, progress);
        }
    }

    pub(super) fn kill_overdue(&mut self, now: Instant) {
        self.worker.kill_overdue(self.job.expire(now));
    }

    /// To be called once the process has ended and everything it said was heard.
    pub(super) fn finish(mut self) -> io::Result<Ended> {
        let said = self.worker.output();
        let exit = self.worker.reap()?;
        if self.job.not_found() && self.pending.may_search() {
            return Ok(Ended::NotFound(Box::new(self.pending)));
        }
        self.job.left(exit.status, &said);
        let last = said
            .trim()
            .lines()
            .last()
            .unwrap_or("it said nothing")
            .to_owned();
        self.job
            .lose_unless_ended(format!("the interpreter ended early: {last}"));
        let killed = self.job.killed().to_vec();
        let mut records = self.job.records(self.hash_seed, exit.cpu);
        if self.pending.recording.is_some() {
            let trace = trace::read(&self.nest.trace())?;
            for record in &mut records {
                record.trace = Some(Box::new(trace.clone()));
            }
        }
        if killed.is_empty() {
            return Ok(Ended::Records(records));
        }
        Ok(Ended::Disturbed(Box::new(Disturbed {
            killed,
            pending: self.pending,
            records,
            hash_seed: self.hash_seed,
        })))
    }
}
