//! A process between flakelab and a child, so that a test that kills or stops its parent hits that one.
//!
//! It waits, ends what its child left in its process group, and ends the way its child did.

use std::io;

use rustix::process::Signal;

/// To be called in a child before exec, where only system calls may be made. Returns in a child of that
/// child, which leads a process group of its own.
pub(super) fn stand_between() -> io::Result<()> {
    // SAFETY: the process is single-threaded here; what follows in either process are system calls.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            rustix::process::setpgid(None, None)?;
            Ok(())
        }
        child => watch(child),
    }
}

fn watch(child: i32) -> ! {
    let mut status = 0;
    // SAFETY: system calls on our own child; both pointers are to locals of the right type.
    unsafe {
        // The descriptors are the child's; whoever waits for their end must not wait for us.
        libc::close_range(0, libc::c_uint::MAX, 0);
        let mut ended: libc::siginfo_t = std::mem::zeroed();
        // Not collected yet, so that the number of its group is still its own.
        while libc::waitid(
            libc::P_PID,
            child.unsigned_abs(),
            &mut ended,
            libc::WEXITED | libc::WNOWAIT,
        ) != 0
            && *libc::__errno_location() == libc::EINTR
        {}
        libc::kill(-child, libc::SIGKILL);
        while libc::waitpid(child, &mut status, 0) < 0 && *libc::__errno_location() == libc::EINTR {
        }
        if libc::WIFSIGNALED(status) {
            let signal = libc::WTERMSIG(status);
            libc::signal(signal, libc::SIG_DFL);
            libc::kill(libc::getpid(), signal);
        }
        libc::_exit(libc::WEXITSTATUS(status))
    }
}
