//! `flakelab measure`: from arguments to runs under controlled factors to a document.

mod document;
pub(in crate::commands) mod journal;
pub(in crate::commands) mod means;
mod plan;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use flakelab_measure::{Configuration, Factor, Layer, Wanted};
use flakelab_model::Recording;
use flakelab_report::measure as report;
use serde_json::json;

use crate::args::MeasureArgs;
use crate::config::Measure;
use crate::error::{self, CliError};
use crate::printer::Volume;
use crate::workbench::{self, Asked, Bar, Workbench, absolute, deliver, lab_error};

pub(crate) fn run(args: &MeasureArgs) -> crate::Outcome {
    let started = Instant::now();
    let what = &args.what;
    let (mut bench, config) = Workbench::settle(
        &args.project.path,
        &args.project.pytest_args,
        what.campaign.repeat.seed,
        &args.lab,
        &args.output,
    )?;
    let printer = bench.printer;
    let config = config.measure;
    let runs = what.runs.or(config.runs).unwrap_or(10);
    if runs < 2 {
        return Err(CliError::usage(format!(
            "--runs {runs}: what varies shows between two runs at least"
        ))
        .hint("give --runs 2 or more; 10 is the default"));
    }
    let layers = plan::layers(what.layers.as_ref().or(config.layers.as_ref()))?;
    let factors = plan::factors(what.factors.as_ref().or(config.factors.as_ref()))?;
    let recording = recording(args, &config, &layers, &bench)?;
    let configuration = json!({
        "runs": runs,
        "layers": layers.iter().map(|l| l.word()).collect::<Vec<_>>(),
        // A preset has its own.
        "factors": what.preset.is_none().then(|| what.factors.as_ref().or(config.factors.as_ref())),
        "preset": what.preset.map(|_| "gao"),
        "runtimes": what.runtime,
        "configurations": config.configurations,
        "unmask": recording.unmasked,
        "fields": recording.fields,
        "sources": recording.sources.iter().filter(|s| **s != bench.project).collect::<Vec<_>>(),
        "pytest_args": bench.pytest_args,
    })
    .to_string();
    let asked = Asked {
        verb: "measure",
        configuration: &configuration,
    };
    deliver::check_all(&args.output, args.html.iter().chain(&args.csv))?;
    let (early, last) = bench.earlier(what.campaign.repeat.resume, asked)?;
    let bar = Bar::new(printer.shows_progress());
    let mut lab = bench.open_lab(&bar)?;
    let runtimes: Vec<PathBuf> = if what.runtime.is_empty() {
        config.runtimes.clone().unwrap_or_default()
    } else {
        what.runtime.iter().cloned().map(absolute).collect()
    };
    let locales = plan::named_locales(&config.configurations);
    let means = means::probe(&bench, &lab, &runtimes, &locales)?;
    let configurations = plan::configurations(
        what.preset,
        factors.as_deref(),
        &config.configurations,
        &means,
        runs,
    )?;
    lab.allow_jobs(most_at_once(&configurations));
    let store = early.map_or_else(|| bench.open_store(), Ok)?;
    let resumed = last.is_some();
    let campaign = workbench::begin(&bench, &store, &lab, asked, last)?;
    let wanted = Wanted {
        seed: bench.seed,
        layers: layers.clone(),
        configurations,
        recording: Arc::new(recording),
        timeout: bench.timeout,
        impatient: bench.impatient,
        budget: what.campaign.budget,
    };
    let mut journal =
        journal::StoreJournal::new(&store, campaign).map_err(|e| lab_error(e, &bench))?;
    let measurement = flakelab_measure::measure(
        &mut lab,
        &wanted,
        &mut journal,
        &mut journal::MeasureWatch(&bar),
    );
    bar.clear();
    let measurement = measurement.map_err(|e| lab_error(e, &bench))?;
    if resumed {
        bench.tell_replayed(journal.replayed);
    }
    let asked_for = asked_for(args, factors);
    let document = document::build(
        measurement,
        &document::About {
            bench: &bench,
            lab: &lab,
            layers: &layers,
            factors: &asked_for,
            means: &means,
            runs,
            wall: started.elapsed(),
        },
    );
    let internal = |e: serde_json::Error| CliError::new(error::INTERNAL, e.to_string());
    let compact = serde_json::to_string(&document).map_err(internal)?;
    store.finish(campaign, &compact).map_err(CliError::store)?;
    let json = serde_json::to_string_pretty(&document).map_err(internal)?;
    let text = report::terminal(&document, printer.volume == Volume::Verbose);
    deliver::deliver(&json, &text, &args.output, printer)?;
    if let Some(path) = &args.csv {
        deliver::write(path, report::csv(&document))?;
    }
    match &args.html {
        Some(path) => deliver::write(path, report::page(&document))?,
        None => printer.next("`--resume --html FILE` draws it, without running it again"),
    }
    Ok(exit_code(&document))
}

fn recording(
    args: &MeasureArgs,
    config: &Measure,
    layers: &BTreeSet<Layer>,
    bench: &Workbench,
) -> Result<Recording, CliError> {
    let unmasked = args.what.unmask.clone().or(config.unmask.clone());
    let unmasked = unmasked.unwrap_or_default();
    plan::masks(&unmasked)?;
    let mut sources: Vec<PathBuf> = if args.what.source.is_empty() {
        config.sources.clone().unwrap_or_default()
    } else {
        args.what.source.iter().cloned().map(absolute).collect()
    };
    for source in &mut sources {
        *source = std::fs::canonicalize(&*source).map_err(|e| {
            CliError::usage(format!("`{}`: {e}", source.display()))
                .hint("--source takes a directory with Python files")
        })?;
    }
    if sources.is_empty() {
        sources.push(bench.project.clone());
    }
    Ok(Recording {
        assertions: layers.contains(&Layer::Assertions) || layers.contains(&Layer::Verdicts),
        functions: layers.contains(&Layer::Code),
        lines: layers.contains(&Layer::Lines),
        behaviour: layers.contains(&Layer::Behaviour),
        unmasked,
        fields: config.fields.clone(),
        sources,
        names: bench.project.clone(),
        ..Recording::default()
    })
}

/// The factors whose absence is worth a word.
fn asked_for(args: &MeasureArgs, factors: Option<Vec<Factor>>) -> Vec<Factor> {
    match (args.what.preset, factors) {
        (Some(_), _) => Factor::ALL.to_vec(),
        (None, Some(factors)) => factors,
        (None, None) => Factor::ALL
            .into_iter()
            .filter(|factor| *factor != Factor::Python)
            .collect(),
    }
}

fn most_at_once(configurations: &[Configuration]) -> usize {
    let settings = configurations.iter().flat_map(|c| &c.runs);
    settings
        .filter_map(|s| s.get(&Factor::Parallel)?.parse().ok())
        .max()
        .unwrap_or(1)
}

fn exit_code(document: &report::Document) -> u8 {
    let layers = || document.configurations.iter().flat_map(|c| &c.layers);
    let varies = |layer: &report::Layer| {
        layer.suite.entropy > 0.0 || layer.tests.iter().any(|t| t.flakiness.entropy > 0.0)
    };
    if layers().any(varies) || document.factors.iter().any(|f| !f.tests.is_empty()) {
        error::FINDINGS
    } else if layers().next().is_none() {
        error::INCONCLUSIVE
    } else {
        error::CLEAN
    }
}
