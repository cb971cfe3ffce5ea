//! A wrong clock: libfaketime, preloaded into an interpreter of its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::worker::Launch;

/// Where distributions put it; the name of the architecture's directory differs.
const PLACES: [&str; 3] = ["/usr/lib", "/usr/local/lib", "/usr/lib64"];
const NAME: &str = "faketime/libfaketime.so.1";
/// Where the package of the same name puts it, below `site-packages`.
const PACKAGED: &str = "libfaketime/vendor/libfaketime/src/libfaketime.so.1";

/// The library, if the interpreter's environment or the system has it.
pub fn library(python: &Path) -> Option<PathBuf> {
    let environment = python.parent()?.parent()?;
    let packaged = below(
        &environment.join("lib"),
        &Path::new("site-packages").join(PACKAGED),
    );
    packaged.or_else(|| {
        PLACES.iter().map(Path::new).find_map(|place| {
            let direct = place.join(NAME);
            direct
                .is_file()
                .then_some(direct)
                .or_else(|| below(place, Path::new(NAME)))
        })
    })
}

/// The file of that name in one of the directories below.
fn below(dir: &Path, name: &Path) -> Option<PathBuf> {
    std::fs::read_dir(dir)
        .ok()?
        .flatten()
        .map(|entry| entry.path().join(name))
        .find(|path| path.is_file())
}

/// Shifts the clock of an interpreter that is yet to start.
pub(super) fn shift(launch: &mut Launch, seconds: f64) {
    let Some(library) = library(&launch.python) else {
        return;
    };
    let mut set = |name: &str, value: OsString| {
        launch.env.retain(|(key, _)| key != name);
        launch.env.push((name.into(), value));
    };
    set("LD_PRELOAD", library.into());
    set("FAKETIME", format!("{seconds:+.6}").into());
    // Timeouts and sleeps go on as they are.
    set("FAKETIME_DONT_FAKE_MONOTONIC", "1".into());
}
