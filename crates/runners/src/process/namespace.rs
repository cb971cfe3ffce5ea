//! A user namespace for those who are not root, so that a run can mount its private view.
//!
//! Only what overlay mounts take is kept, over this namespace. The shim makes it effective while it mounts
//! and not while tests run, so file permissions hold for tests as they did before.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::thread::{CapabilitySet, CapabilitySets, UnshareFlags};

/// The numeric identity, formatted before the fork because nothing may be allocated after it.
#[derive(Debug)]
pub(super) struct Identity {
    uid_map: String,
    gid_map: String,
}

impl Identity {
    pub(super) fn current() -> Self {
        let uid = rustix::process::getuid().as_raw();
        let gid = rustix::process::getgid().as_raw();
        Self {
            uid_map: format!("{uid} {uid} 1"),
            gid_map: format!("{gid} {gid} 1"),
        }
    }
}

/// To be called in the child before exec; `then` while the new namespace gives every right.
pub(super) fn enter(identity: &Identity, then: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    // SAFETY: the process is single-threaded here, and no other thread shares what is unshared.
    #[allow(deprecated)]
    rustix::thread::unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
    put("/proc/self/setgroups", "deny")?;
    put("/proc/self/uid_map", &identity.uid_map)?;
    put("/proc/self/gid_map", &identity.gid_map)?;
    then()?;
    // To mount, and to open the work directory that overlayfs closes to everybody.
    let admin = CapabilitySet::SYS_ADMIN | CapabilitySet::DAC_OVERRIDE;
    rustix::thread::set_capabilities(
        None,
        CapabilitySets {
            effective: admin,
            permitted: admin,
            inheritable: admin,
        },
    )?;
    for capability in [CapabilitySet::SYS_ADMIN, CapabilitySet::DAC_OVERRIDE] {
        rustix::thread::configure_capability_in_ambient_set(capability, true)?;
    }
    Ok(())
}

fn put(path: &str, text: &str) -> io::Result<()> {
    File::options()
        .write(true)
        .open(path)?
        .write_all(text.as_bytes())
}

/// Whether this system lets us create one.
pub fn user_namespaces_work() -> bool {
    let identity = Identity::current();
    let mut command = Command::new("/proc/self/exe");
    command
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // SAFETY: as in `spawn`.
    unsafe {
        command.pre_exec(move || enter(&identity, || Ok(())));
    }
    command.status().is_ok()
}
