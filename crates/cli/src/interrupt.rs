//! Ctrl-C and friends: the first ends the campaign in good order, the second ends flakelab at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use flakelab_runners::cancel::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::error::{self, CliError};

/// One for the process, however many campaigns a command has: `fix` explains first.
static CANCEL: OnceLock<Cancel> = OnceLock::new();
/// A second pair of handlers would take the first signal for the second.
static INSTALLED: AtomicBool = AtomicBool::new(false);

/// What the first signal sets.
pub(crate) fn cancel() -> Cancel {
    CANCEL.get_or_init(Cancel::default).clone()
}

/// From now on signals are heard.
pub(crate) fn install() -> Result<(), CliError> {
    if INSTALLED.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    let flag = cancel().flag();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order: on the second signal the flag is set already, and flakelab exits. Its children
        // die with it.
        signal_hook::flag::register_conditional_shutdown(
            signal,
            i32::from(error::INTERRUPTED),
            Arc::clone(&flag),
        )
        .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
        .map_err(|e| CliError::new(error::INTERNAL, e.to_string()))?;
    }
    Ok(())
}
