//! A wrong clock: libfaketime, preloaded into an interpreter of its own.

use std::ffi::OsString;
use std::path::PathBuf;

use super::worker::Launch;

/// Where distributions put it; the name of the architecture's directory differs.
const PLACES: [&str; 4] = [
    "/usr/lib",
    "/usr/local/lib",
    "/usr/lib64",
    "/opt/homebrew/lib",
];
const NAME: &str = "faketime/libfaketime.so.1";

/// The library, if it is installed.
pub fn library() -> Option<PathBuf> {
    PLACES.iter().map(PathBuf::from).find_map(|place| {
        let direct = place.join(NAME);
        if direct.is_file() {
            return Some(direct);
        }
        let below = std::fs::read_dir(&place).ok()?;
        below
            .flatten()
            .map(|entry| entry.path().join(NAME))
            .find(|path| path.is_file())
    })
}

/// Shifts the clock of an interpreter that is yet to start.
pub(super) fn shift(launch: &mut Launch, seconds: i64) {
    let Some(library) = library() else {
        return;
    };
    let mut set = |name: &str, value: OsString| {
        launch.env.retain(|(key, _)| key != name);
        launch.env.push((name.into(), value));
    };
    set("LD_PRELOAD", library.into());
    set("FAKETIME", format!("{seconds:+}").into());
    // Timeouts and sleeps go on as they are.
    set("FAKETIME_DONT_FAKE_MONOTONIC", "1".into());
}
