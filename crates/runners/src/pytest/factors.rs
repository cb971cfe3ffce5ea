//! Factors that an interpreter is given before it starts.

use std::ffi::OsString;
use std::time::{SystemTime, UNIX_EPOCH};

use flakelab_model::Factors;

use super::clock;
use super::worker::Launch;
use crate::process::Surroundings;

pub(super) fn give(launch: &mut Launch, factors: &Factors) {
    let process = &factors.process;
    // A network of one's own takes rights that only root has outside of a user namespace.
    launch.user_namespace |= process.offline && !rustix::process::geteuid().is_root();
    launch.surroundings = Surroundings {
        umask: process.umask,
        cpus: process.cpus,
        offline: process.offline,
        fixed_addresses: process.fixed_addresses,
    };
    let mut set = |name: &str, value: OsString| {
        launch.env.retain(|(key, _)| key != name);
        launch.env.push((name.into(), value));
    };
    if let Some(zone) = &factors.timezone {
        set("TZ", zone.into());
    }
    if let Some(locale) = &process.locale {
        set("LC_ALL", locale.into());
        set("LANG", locale.into());
        set("LANGUAGE", OsString::new());
        // Else Python takes the POSIX locale for UTF-8; the same for all, because tests look at variables.
        set("PYTHONUTF8", "0".into());
        set("PYTHONCOERCECLOCALE", "0".into());
    }
    if let Some(seconds) = factors.clock_shift {
        clock::shift(launch, seconds as f64);
    } else if let Some(start) = process.clock_start {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        clock::shift(launch, start as f64 - now.as_secs_f64());
    }
    // After the clock, whose library may be a package of the project's own environment.
    if let Some(python) = &process.python {
        launch.python.clone_from(python);
    }
}
