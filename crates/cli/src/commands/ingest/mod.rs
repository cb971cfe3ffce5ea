//! `flakelab ingest`: from files to rows in the store.

mod files;

use std::fs::File;
use std::io::Seek;
use std::path::Path;
use std::time::Instant;

use flakelab_history::{Broken, ReadError, Row, Sink};
use flakelab_report::history as report;
use flakelab_runners::cancel::Cancel;
use flakelab_store::{Begun, FileTotals, Ingest, StoreError};

use crate::args::IngestArgs;
use crate::error::{self, CliError, chain};
use crate::interrupt;
use crate::printer::{Printer, Volume};
use crate::project;
use crate::workbench::{Bar, Place};
use files::Candidate;

/// Characters of the longest name of a version or run.
const MOST_NAME: usize = 200;

pub(crate) fn run(args: &IngestArgs) -> crate::Outcome {
    let started = Instant::now();
    let printer = Printer::new(args.quiet, args.verbose);
    let place = Place::settle(&args.project, args.store.as_deref())?;
    let version = match &args.version {
        Some(version) => version.clone(),
        None => project::commit(&project::tree(&place.project)).ok_or_else(|| {
            CliError::usage(format!(
                "`{}` is at no commit, so there is no version to file the reports under",
                place.project.display()
            ))
            .hint("name one: --version 1.4.2")
        })?,
    };
    check_name("version", &version)?;
    if let Some(run) = &args.run {
        check_name("run", run)?;
    }
    let candidates = files::gather(&args.files);
    if candidates.is_empty() {
        return Err(
            CliError::usage("there is no *.xml or *.json file in what was given")
                .hint("name the reports themselves, if they are called something else"),
        );
    }
    let stop = interrupt::cancel();
    interrupt::install()?;
    let store = place.open_store()?;
    let bar = Bar::new(printer.shows_progress());
    let mut summary = report::Ingested {
        version: version.clone(),
        ..Default::default()
    };
    let mut ingest = store.ingest(&version);
    let broken_store = |e: StoreError| {
        CliError::usage(chain(&e))
            .hint("what was written before is kept; ingest the same files again to go on")
    };
    for (at, candidate) in candidates.iter().enumerate() {
        if stop.is_set() {
            break;
        }
        bar.step(at, candidates.len());
        let shown = candidate.path.display();
        match take(candidate, args.run.as_deref(), &mut ingest, &stop).map_err(broken_store)? {
            Taken::In(totals) => {
                summary.add(totals.tests, totals.executions, totals.flaky);
                bar.suspend(|| {
                    printer.detail(&format!("`{shown}`: {} executions", totals.executions))
                });
            }
            Taken::Known => {
                summary.known += 1;
                bar.suspend(|| printer.detail(&format!("`{shown}` is in already")));
            }
            Taken::Broken(Broken::NoReport(why)) if !candidate.named => {
                summary.others += 1;
                bar.suspend(|| printer.detail(&format!("`{shown}` is passed over: {why}")));
            }
            Taken::Broken(why) => {
                summary.skipped += 1;
                bar.suspend(|| printer.warn(&format!("`{shown}` is left out: {why}")));
            }
            Taken::Interrupted => break,
        }
    }
    ingest.commit().map_err(broken_store)?;
    drop(ingest);
    bar.clear();
    summary.seconds = started.elapsed().as_secs_f64();
    if stop.is_set() {
        printer.note("interrupted: what was read is kept; ingest the same files again to go on");
        return Ok(error::INTERRUPTED);
    }
    if summary.reports + summary.known == 0 {
        return Err(CliError::usage(format!(
            "none of {} could be taken in",
            report::files(candidates.len() as u64)
        ))
        .hint("flakelab reads JUnit XML, CTRF, and the JSON of Playwright"));
    }
    if printer.volume != Volume::Quiet {
        printer.data(&report::ingested(&summary));
    }
    printer.next("`flakelab history` shows which tests flake, and since when");
    Ok(error::CLEAN)
}

fn check_name(option: &str, name: &str) -> Result<(), CliError> {
    let length = name.chars().count();
    if name.trim().is_empty() || length > MOST_NAME {
        return Err(
            CliError::usage(format!("--{option}: a name of {length} characters")).hint(format!(
                "take 1 to {MOST_NAME}, e.g. a commit or a build number"
            )),
        );
    }
    Ok(())
}

enum Taken {
    In(FileTotals),
    Known,
    Broken(Broken),
    Interrupted,
}

/// Hands rows to the store until the user wants no more.
struct Rows<'a, 's> {
    ingest: &'a mut Ingest<'s>,
    stop: &'a Cancel,
}

enum Refusal {
    Store(StoreError),
    Interrupted,
}

impl Sink for Rows<'_, '_> {
    type Error = Refusal;

    fn row(&mut self, row: Row<'_>) -> Result<(), Refusal> {
        if self.stop.is_set() {
            return Err(Refusal::Interrupted);
        }
        self.ingest
            .execution(row.test, row.outcome, row.suite, row.sequel)
            .map_err(Refusal::Store)
    }
}

fn take(
    candidate: &Candidate,
    run: Option<&str>,
    ingest: &mut Ingest<'_>,
    stop: &Cancel,
) -> Result<Taken, StoreError> {
    let opened = open(&candidate.path).and_then(|mut file| {
        let digest = flakelab_history::digest(&mut file)?;
        file.rewind()?;
        Ok((file, digest))
    });
    let (file, digest) = match opened {
        Ok(opened) => opened,
        Err(error) => return Ok(Taken::Broken(Broken::Io(error))),
    };
    let own_name = digest.to_string();
    let run = run.unwrap_or(&own_name);
    if ingest.begin_file(run, digest.bytes())? == Begun::Known {
        return Ok(Taken::Known);
    }
    match flakelab_history::read(file, &mut Rows { ingest, stop }) {
        Ok(_) => Ok(Taken::In(ingest.end_file()?)),
        Err(ReadError::Sink(Refusal::Store(error))) => Err(error),
        Err(ReadError::Sink(Refusal::Interrupted)) => {
            ingest.abandon_file()?;
            Ok(Taken::Interrupted)
        }
        Err(ReadError::Broken(why)) => {
            ingest.abandon_file()?;
            Ok(Taken::Broken(why))
        }
    }
}

/// Pipes and devices are refused: they may never end, and cannot be read twice.
fn open(path: &Path) -> std::io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("it is no regular file"));
    }
    File::open(path)
}
