//! Ctrl-C and friends: the first ends the campaign in good order, the second ends flakelab at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::error::INTERRUPTED;

/// Once for a command: a second pair of handlers would take the first signal for the second.
static INSTALLED: AtomicBool = AtomicBool::new(false);

pub(crate) fn install(flag: &Arc<AtomicBool>) -> std::io::Result<()> {
    if INSTALLED.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order: on the second signal the flag is set already, and flakelab exits. Its children
        // die with it.
        signal_hook::flag::register_conditional_shutdown(
            signal,
            i32::from(INTERRUPTED),
            Arc::clone(flag),
        )?;
        signal_hook::flag::register(signal, Arc::clone(flag))?;
    }
    Ok(())
}
