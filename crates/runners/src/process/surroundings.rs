//! What a process is given between fork and exec: file mode mask, processors, network, memory layout.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::fs::Mode;
use rustix::thread::{CpuSet, UnshareFlags};

use super::namespace;

/// What is not set stays as it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Surroundings {
    pub umask: Option<u32>,
    /// How many processors it may use.
    pub cpus: Option<u32>,
    /// A network of its own that has nothing but loopback.
    pub offline: bool,
    /// Memory is laid out the same in every process.
    pub fixed_addresses: bool,
}

impl Surroundings {
    /// To be called in the child before exec.
    pub(super) fn settle(&self) -> io::Result<()> {
        if let Some(mask) = self.umask {
            rustix::process::umask(Mode::from_raw_mode(mask));
        }
        if let Some(cpus) = self.cpus {
            let allowed = rustix::thread::sched_getaffinity(None)?;
            let mut fewer = CpuSet::new();
            let numbers = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
            for cpu in numbers.take(cpus as usize) {
                fewer.set(cpu);
            }
            rustix::thread::sched_setaffinity(None, &fewer)?;
        }
        if self.fixed_addresses {
            fix_addresses()?;
        }
        Ok(())
    }

    /// To be called in the child before exec, while it may.
    pub(super) fn offline(&self) -> io::Result<()> {
        if !self.offline {
            return Ok(());
        }
        // SAFETY: the process is single-threaded here, and no other thread shares what is unshared.
        #[allow(deprecated)]
        rustix::thread::unshare(UnshareFlags::NEWNET)?;
        loopback_up()
    }
}

fn fix_addresses() -> io::Result<()> {
    const ASK: libc::c_ulong = 0xffff_ffff;
    // SAFETY: a system call without pointers.
    let done = unsafe {
        let present = libc::personality(ASK);
        present != -1
            && libc::personality(
                present as libc::c_ulong | libc::ADDR_NO_RANDOMIZE as libc::c_ulong,
            ) != -1
    };
    if done {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// A new network comes with its loopback interface down.
fn loopback_up() -> io::Result<()> {
    // SAFETY: system calls; the request is a local of the right type, all zero but for name and flags.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
        let done = libc::ioctl(socket, libc::SIOCSIFFLAGS, &request);
        let error = io::Error::last_os_error();
        libc::close(socket);
        if done == 0 { Ok(()) } else { Err(error) }
    }
}

/// Why processes cannot be cut off from the network here, if so.
pub fn offline_works() -> Result<(), String> {
    let surroundings = Surroundings {
        offline: true,
        ..Surroundings::default()
    };
    attempt(surroundings, !rustix::process::geteuid().is_root())
}

/// Why memory cannot be laid out the same in every process here, if so.
pub fn fixed_addresses_work() -> Result<(), String> {
    let surroundings = Surroundings {
        fixed_addresses: true,
        ..Surroundings::default()
    };
    attempt(surroundings, false)
}

fn attempt(surroundings: Surroundings, user_namespace: bool) -> Result<(), String> {
    let identity = namespace::Identity::current();
    let mut command = Command::new("/proc/self/exe");
    command
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // SAFETY: as in `spawn`.
    unsafe {
        command.pre_exec(move || {
            if user_namespace {
                namespace::enter(&identity, || surroundings.offline())?;
            } else {
                surroundings.offline()?;
            }
            surroundings.settle()
        });
    }
    command
        .status()
        .map(drop)
        .map_err(|error| error.to_string())
}
