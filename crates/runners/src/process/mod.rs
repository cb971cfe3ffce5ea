//! Child processes: the only place that spawns, signals and reaps.
//!
//! Every child leads a process group of its own, dies with flakelab, may not dump core, and is bounded
//! in what it writes and allocates. The unsafe code of flakelab is here: what has to happen between
//! fork and exec, and `wait4`, have no safe wrapper.
#![allow(unsafe_code)]

pub mod git;
mod guard;
mod namespace;
mod surroundings;

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal};

pub use namespace::user_namespaces_work;
pub use surroundings::{Surroundings, fixed_addresses_work, offline_works};

use crate::cancel::Cancel;

/// Looks up at least this often, for a flag that was set without a signal.
const NAP: Duration = Duration::from_millis(250);

/// What a child may use up; `None` leaves the limit as it is.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of any one file it writes.
    pub file: Option<u64>,
    /// Bytes of private memory.
    pub memory: Option<u64>,
}

#[derive(Debug)]
pub struct Spawn {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub cwd: PathBuf,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// Descriptors the child keeps, under the same numbers.
    pub keep: Vec<RawFd>,
    pub limits: Limits,
    /// A user namespace of its own, in which it may mount.
    pub user_namespace: bool,
    pub surroundings: Surroundings,
    /// With a process in between, which is hit when the child kills its parent.
    pub guarded: bool,
}

/// A running child and its combined output.
#[derive(Debug)]
pub struct Process {
    pid: Pid,
    /// The one that executes the program: another one where a guard stands between.
    leader: i32,
    pidfd: OwnedFd,
    output: OwnedFd,
    reaped: bool,
}

/// How a child ended.
#[derive(Debug, Clone, Copy)]
pub struct Exit {
    /// As `waitpid` gives it.
    pub status: i32,
    pub cpu: Duration,
}

/// Whether a process with this status, as `waitpid` gives it, was ended by a signal that none survives.
pub fn was_killed(status: i32) -> bool {
    libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGKILL
}

pub fn spawn(spawn: Spawn) -> io::Result<Process> {
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&reader, true)?;
    let mut command = Command::new(&spawn.program);
    command
        .args(&spawn.args)
        .current_dir(&spawn.cwd)
        .env_clear()
        .envs(spawn.env.iter().map(|(k, v)| (k, v)))
        .stdin(Stdio::null())
        .stdout(Stdio::from(writer.try_clone()?))
        .stderr(Stdio::from(writer))
        .process_group(0);
    let identity = namespace::Identity::current();
    // SAFETY: between fork and exec only system calls are made and nothing is allocated.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            limit(Resource::Core, Some(0))?;
            if spawn.guarded {
                guard::stand_between()?;
            }
            limit(Resource::Fsize, spawn.limits.file)?;
            limit(Resource::Data, spawn.limits.memory)?;
            for fd in &spawn.keep {
                let fd = BorrowedFd::borrow_raw(*fd);
                rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::empty())?;
            }
            if spawn.user_namespace {
                namespace::enter(&identity, || spawn.surroundings.offline())?;
            } else {
                spawn.surroundings.offline()?;
            }
            spawn.surroundings.settle()?;
            Ok(())
        });
    }
    let child = command.spawn()?;
    let pid = Pid::from_child(&child);
    // `spawn` returns after exec: by then a guard has its child.
    let guarded = if spawn.guarded {
        children(child.id()).first().copied()
    } else {
        None
    };
    let leader = guarded.unwrap_or(pid.as_raw_pid());
    // Out of memory is the fault of the suite, so the suite is what the kernel should end.
    let _ = std::fs::write(format!("/proc/{leader}/oom_score_adj"), "1000");
    let pidfd = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
    Ok(Process {
        pid,
        leader,
        pidfd,
        output: reader,
        reaped: false,
    })
}

fn limit(resource: Resource, most: Option<u64>) -> io::Result<()> {
    let Some(most) = most else { return Ok(()) };
    let present = rustix::process::getrlimit(resource);
    let most = present.maximum.map_or(most, |hard| hard.min(most));
    rustix::process::setrlimit(
        resource,
        Rlimit {
            current: Some(most),
            maximum: Some(most),
        },
    )?;
    Ok(())
}

impl Process {
    /// Readable once the process has ended.
    pub fn ended(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    pub fn has_ended(&self) -> bool {
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        poll(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], Some(&now)).is_ok_and(|n| n > 0)
    }

    pub fn output(&self) -> BorrowedFd<'_> {
        self.output.as_fd()
    }

    pub fn raw_pid(&self) -> i32 {
        self.pid.as_raw_pid()
    }

    /// The process that executes the program, to be killed with its group.
    pub fn leader(&self) -> i32 {
        self.leader
    }

    pub fn kill_group(&self) {
        kill_group(self.raw_pid());
    }

    /// What it prints until it ends, the last `most` bytes of it; `None` if it does not end in time, or nobody waits any more.
    pub fn hear_out(
        &mut self,
        patience: Duration,
        most: usize,
        cancel: &Cancel,
    ) -> io::Result<Option<Vec<u8>>> {
        let deadline = Instant::now() + patience;
        let (mut said, mut buffer) = (Vec::new(), [0; 4096]);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || cancel.is_set() {
                return Ok(None);
            }
            let timeout = Timespec::try_from(left.min(NAP)).map_err(io::Error::other)?;
            let mut polled = [
                PollFd::new(&self.output, PollFlags::IN),
                PollFd::new(&self.pidfd, PollFlags::IN),
            ];
            match poll(&mut polled, Some(&timeout)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let ended = !polled[1].revents().is_empty();
            while let Ok(length @ 1..) = rustix::io::read(&self.output, &mut buffer) {
                said.extend(&buffer[..length]);
                said.drain(..said.len().saturating_sub(most));
                if Instant::now() > deadline {
                    return Ok(None);
                }
            }
            if ended {
                self.reap()?;
                return Ok(Some(said));
            }
        }
    }

    /// Ends the whole group and collects the child.
    pub fn reap(&mut self) -> io::Result<Exit> {
        if self.reaped {
            return Err(io::Error::other("the process was collected before"));
        }
        let mut status = 0;
        // SAFETY: both pointers are to locals of the right type.
        let (got, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            let got = libc::wait4(self.raw_pid(), &mut status, 0, &mut usage);
            (got, usage)
        };
        if got < 0 {
            return Err(io::Error::last_os_error());
        }
        self.reaped = true;
        self.kill_group();
        let time = |t: libc::timeval| {
            Duration::from_secs(t.tv_sec.unsigned_abs())
                + Duration::from_micros(t.tv_usec.unsigned_abs())
        };
        Ok(Exit {
            status,
            cpu: time(usage.ru_utime) + time(usage.ru_stime),
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.reaped {
            // A guard that ended has collected its child, whose number may be somebody else's by now.
            if !self.has_ended() {
                kill(self.leader);
            }
            kill(self.raw_pid());
            let _ = self.reap();
        }
    }
}

/// Kills every process of a group. Groups are led by our children, so the number is theirs until we
/// collect them.
pub fn kill_group(leader: i32) {
    if leader > 1
        && let Some(pid) = Pid::from_raw(leader)
    {
        let _ = rustix::process::kill_process_group(pid, Signal::KILL);
    }
}

/// Kills a process that has not been collected yet and its group, which it may have left.
pub fn kill(leader: i32) {
    kill_group(leader);
    if leader > 1
        && let Some(pid) = Pid::from_raw(leader)
    {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}

/// Lets a child of ours go on that was stopped.
pub fn wake(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = rustix::process::kill_process(pid, Signal::CONT);
    }
}

/// Makes flakelab the parent of processes whose own parent died, so that daemons a test started can be
/// found. Returns the children it has already: they are somebody else's.
pub fn adopt_orphans() -> Vec<i32> {
    let strangers = children(std::process::id());
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    strangers
}

/// Kills and collects adopted children, except those in `known`; whatever they leave behind as well.
pub fn end_orphans(known: &[i32]) {
    end_each(known, || children(std::process::id()), end_orphan);
}

/// Whether it is gone. One that may not be killed (what a test has started as somebody else, with sudo say) would be
/// waited for as long as it likes.
fn end_orphan(pid: i32) -> bool {
    let Some(target) = Pid::from_raw(pid) else {
        return false;
    };
    match rustix::process::kill_process(target, Signal::KILL) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => {
            let _ = rustix::process::waitpid(Some(target), rustix::process::WaitOptions::empty());
            true
        }
        Err(_) => false,
    }
}

fn end_each(known: &[i32], list: impl Fn() -> Vec<i32>, mut end: impl FnMut(i32) -> bool) {
    let mut not_ours = known.to_vec();
    // A killed orphan's own children become ours in turn. Trees are not deep, but for those of fork bombs.
    for _ in 0..4_096 {
        let mut orphans = list();
        orphans.retain(|pid| !not_ours.contains(pid));
        if orphans.is_empty() {
            return;
        }
        not_ours.extend(orphans.into_iter().filter(|pid| !end(*pid)));
    }
}

fn children(parent: u32) -> Vec<i32> {
    let path = format!("/proc/{parent}/task/{parent}/children");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .collect()
}

/// CPU time of a process and of the children it has waited for.
pub fn cpu_time(pid: i32) -> Option<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may contain anything.
    let fields = text.get(text.rfind(')')? + 2..)?;
    let ticks: u64 = fields
        .split(' ')
        .skip(11)
        .take(4)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Some(Duration::from_millis(ticks * 1_000 / per_second))
}

/// A pair of connected packet sockets: ours (non-blocking), the child's.
pub fn packet_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    let (ours, theirs) = socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )?;
    rustix::io::ioctl_fionbio(&ours, true)?;
    Ok((ours, theirs))
}

/// A pipe: (child's read end, our write end).
pub fn request_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?)
}

/// The number of a descriptor, to be named in [`Spawn::keep`].
pub fn number(fd: &impl AsFd) -> RawFd {
    fd.as_fd().as_raw_fd()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn an_orphan_that_may_not_be_killed_is_asked_once_and_the_others_end() {
        // What 5 leaves behind when it ends is 8.
        let alive = RefCell::new(vec![3, 4, 5]);
        let mut asked = Vec::new();
        end_each(
            &[3],
            || alive.borrow().clone(),
            |pid| {
                asked.push(pid);
                if pid == 4 {
                    return false;
                }
                alive.borrow_mut().retain(|other| *other != pid);
                if pid == 5 {
                    alive.borrow_mut().push(8);
                }
                true
            },
        );
        assert_eq!(asked, [4, 5, 8]);
        assert_eq!(*alive.borrow(), [3, 4]);
    }
}
