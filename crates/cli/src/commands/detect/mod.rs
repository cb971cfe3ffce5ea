//! `flakelab detect`: from arguments to a campaign to a document.

mod document;
mod plan;
mod progress;

use std::time::Instant;

use flakelab_lab::Lab;
use flakelab_model::Class;
use flakelab_report::{TerminalOptions, junit, markdown, terminal};
use flakelab_store::RecordingLab;

use crate::args::DetectArgs;
use crate::error::{self, CliError, chain};
use crate::printer::Volume;
use crate::workbench::{self, Asked, Bar, deliver, lab_error, read_orders};
use plan::Plan;

pub(crate) fn run(args: DetectArgs) -> crate::Outcome {
    let started = Instant::now();
    let mut plan = Plan::make(&args)?;
    let printer = plan.bench.printer;
    let configuration = plan.configuration();
    deliver::check_all(&args.output, &args.junit)?;
    let asked = Asked {
        verb: "detect",
        configuration: &configuration,
    };
    let (early, last) = plan
        .bench
        .earlier(args.search.campaign.repeat.resume, asked)?;
    plan.settings.seed = plan.bench.seed;
    let bar = Bar::new(printer.shows_progress());
    let lab = plan.bench.open_lab(&bar)?;
    let store = early.map_or_else(|| plan.bench.open_store(), Ok)?;
    plan.settings.given = read_orders(&plan.order_files, lab.suite(), |note| {
        bar.suspend(|| printer.note(note));
    })?;

    let resumed = last.is_some();
    let campaign = workbench::begin(&plan.bench, &store, &lab, asked, last)?;
    let gauge = bar.gauge(lab.progress(), plan.settings.budget);
    let mut watch = progress::SearchGauge::new(gauge);
    let mut lab =
        RecordingLab::new(lab, &store, campaign).map_err(|e| lab_error(e, &plan.bench))?;
    let detection = flakelab_detect::detect(&mut lab, &plan.settings, &mut watch);
    bar.clear();
    let detection = detection.map_err(|e| lab_error(e, &plan.bench))?;
    if resumed {
        plan.bench.tell_replayed(lab.replayed);
    }
    let totals = store.totals(campaign).map_err(CliError::store)?;
    let document = document::build(&detection, lab.inner(), &plan, totals, started.elapsed());
    for note in &document.campaign.notes {
        printer.note(note);
    }
    let json = serde_json::to_string_pretty(&document)
        .map_err(|e| CliError::new(error::INTERNAL, e.to_string()))?;
    store.finish(campaign, &json).map_err(CliError::store)?;
    let verbose = printer.volume == Volume::Verbose;
    let text = terminal(&document, TerminalOptions { verbose });
    deliver::deliver(&json, &text, &args.output, printer)?;
    if let Some(path) = &args.junit {
        let xml = junit(&document).map_err(|e| CliError::new(error::INTERNAL, chain(&e)))?;
        deliver::write(path, &xml)?;
    }
    deliver::summarise(&markdown(&document), printer);
    let code = exit_code(&document);
    if code == error::FINDINGS && document.tests.iter().any(|test| test.class.has_cause()) {
        printer.next("`flakelab explain` names the tests and the state behind them");
    }
    Ok(code)
}

fn exit_code(document: &flakelab_report::detect::Document) -> u8 {
    let has = |wanted: fn(Class) -> bool| document.tests.iter().any(|t| wanted(t.class));
    if has(Class::is_flaky) {
        error::FINDINGS
    } else if has(|class| matches!(class, Class::Unconfirmed | Class::NotRun))
        // Nothing is known of what is in files that do not collect.
        || !document.campaign.collection_errors.is_empty()
        || (document.campaign.out_of_budget && document.confidence.random_orders == 0)
    {
        error::INCONCLUSIVE
    } else {
        error::CLEAN
    }
}
