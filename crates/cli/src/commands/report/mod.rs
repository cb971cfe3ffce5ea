//! `flakelab report`: from the store to one page.

mod gather;
mod sources;

use std::path::{Path, PathBuf};

use flakelab_report::whole;

use crate::args::ReportArgs;
use crate::error::{CLEAN, CliError};
use crate::printer::{Printer, Volume};
use crate::workbench::{Place, deliver, existing_store};

pub(crate) fn run(args: &ReportArgs) -> crate::Outcome {
    let printer = Printer::new(args.quiet, false);
    let place = Place::settle(&args.path, args.store.as_deref())?;
    let store = existing_store(&place.location)?.ok_or_else(nothing_yet)?;
    let path = match &args.output {
        Some(path) => {
            deliver::check(path)?;
            path.clone()
        }
        None => place.location.file().with_file_name("report.html"),
    };
    let found = gather::gather(&store, &place)?.ok_or_else(nothing_yet)?;
    deliver::write(&path, whole::page(&found))?;
    if printer.volume != Volume::Quiet {
        printer.data(&format!("{}\n", near(&path).display()));
    }
    Ok(CLEAN)
}

fn nothing_yet() -> CliError {
    CliError::usage("nothing is known of this suite yet")
        .hint("run `flakelab detect` first, or take reports in with `flakelab ingest`")
}

/// As somebody here would write it.
fn near(path: &Path) -> PathBuf {
    let here = std::env::current_dir().and_then(std::fs::canonicalize);
    let below = here
        .ok()
        .and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    below.unwrap_or_else(|| path.to_owned())
}
