//! `flakelab explain`: from flaky tests to their causes.

mod document;
mod progress;
mod targets;

use std::time::Instant;

use flakelab_explain::{Mode, Settings};
use flakelab_lab::Lab;
use flakelab_model::Class;
use flakelab_report::explain::{self as report, GraphFormat};
use flakelab_store::RecordingLab;
use serde_json::json;

use crate::args::{ExplainArgs, GraphArg, ModeArg};
use crate::error::{self, CliError};
use crate::machine;
use crate::printer::{Printer, Volume};
use crate::workbench::{
    self, Asked, Bar, Workbench, at_least_one, deliver, lab_error, read_orders,
};

pub(crate) fn run(args: &ExplainArgs) -> crate::Outcome {
    deliver::check_all(&args.output, [])?;
    let (document, json, printer) = conduct(args)?;
    let text = match args.graph {
        Some(GraphArg::Dot) => report::graph(&document, GraphFormat::Dot),
        Some(GraphArg::Mermaid) => report::graph(&document, GraphFormat::Mermaid),
        None => report::terminal(&document, printer.volume == Volume::Verbose),
    };
    deliver::deliver(&json, &text, &args.output, printer)?;
    let code = exit_code(&document);
    let by_order = |e: &report::Explanation| matches!(e.class, Class::Victim | Class::Brittle);
    if code == error::FINDINGS && document.explanations.iter().any(by_order) {
        printer.next("`flakelab fix` tries patches for the order-dependent ones");
    }
    Ok(code)
}

/// The whole campaign, recorded; nothing is delivered.
pub(super) fn conduct(args: &ExplainArgs) -> Result<(report::Document, String, Printer), CliError> {
    let started = Instant::now();
    let causes = &args.causes;
    let (mut bench, config) = Workbench::settle(
        &args.chosen.project,
        &args.chosen.pytest_args,
        causes.campaign.repeat.seed,
        &args.lab,
        &args.output,
    )?;
    bench.take_up_detected(&args.chosen.pytest_args)?;
    let printer = bench.printer;
    let explain = config.explain;
    let confirmations = causes.confirmations.or(explain.confirmations).unwrap_or(3);
    let mut settings = Settings {
        seed: bench.seed,
        mode: match causes.mode {
            None | Some(ModeArg::Probe) => Mode::Probe,
            Some(ModeArg::Pairs) => Mode::Pairs,
            Some(ModeArg::Delta) => Mode::Delta,
        },
        all: causes.all,
        state: !causes.no_state,
        confirmations: at_least_one("confirmations", confirmations)?,
        orders: causes.orders.or(explain.orders).unwrap_or(100),
        budget: causes.campaign.budget.or(explain.budget.map(|t| t.0)),
        timeout: bench.timeout,
        impatient: bench.impatient,
        clock: machine::clock(&bench.python().executable).is_ok(),
    };
    let configuration = json!({
        "tests": args.chosen.tests,
        "mode": document::mode_word(settings.mode),
        "all": settings.all,
        "state": settings.state,
        "orders": settings.orders,
        "order_files": causes.order,
        "confirmations": settings.confirmations,
        "pytest_args": bench.pytest_args,
        "isolation": bench.isolation,
    })
    .to_string();
    let asked = Asked {
        verb: "explain",
        configuration: &configuration,
    };
    // Without anything to look for there is no need to collect, nor to make a store.
    let named = !args.chosen.tests.is_empty() || !causes.order.is_empty();
    if !named && !bench.location.is_taken() {
        return Err(targets::nothing_yet());
    }
    let (early, last) = bench.earlier(causes.campaign.repeat.resume, asked)?;
    settings.seed = bench.seed;
    let bar = Bar::new(printer.shows_progress());
    let lab = bench.open_lab(&bar)?;
    let store = early.map_or_else(|| bench.open_store(), Ok)?;
    let note = |text: &str| bar.suspend(|| printer.note(text));
    let orders = read_orders(&causes.order, lab.suite(), note)?;
    let mut targets = if orders.is_empty() || !args.chosen.tests.is_empty() {
        targets::choose(&args.chosen.tests, lab.suite(), &store, note)?
    } else {
        Vec::new()
    };
    let resumed = last.is_some();
    let campaign = workbench::begin(&bench, &store, &lab, asked, last)?;
    let mut watch = progress::CauseGauge::new(bar.gauge(lab.progress(), settings.budget));
    let mut lab = RecordingLab::new(lab, &store, campaign).map_err(|e| lab_error(e, &bench))?;
    if !orders.is_empty() {
        let began = Instant::now();
        let (found, cut_short) =
            flakelab_explain::failing_in(&mut lab, &settings, &mut watch, &orders)
                .map_err(|e| lab_error(e, &bench))?;
        // One budget for both.
        settings.budget = settings
            .budget
            .map(|budget| budget.saturating_sub(began.elapsed()));
        if cut_short && found.is_empty() && args.chosen.tests.is_empty() {
            bar.clear();
            return Err(CliError::new(
                error::INCONCLUSIVE,
                "the budget ended before it was known what fails in these orders",
            )
            .hint("go on with the same command, --resume and a larger --budget"));
        }
        if args.chosen.tests.is_empty() {
            targets = found;
        } else {
            for target in &mut targets {
                let same = found.iter().find(|f| f.test == target.test);
                target
                    .orders
                    .extend(same.into_iter().flat_map(|f| f.orders.clone()));
            }
        }
    }
    let explanations = flakelab_explain::explain(&mut lab, &settings, &mut watch, targets);
    bar.clear();
    let explanations = explanations.map_err(|e| lab_error(e, &bench))?;
    if resumed {
        bench.tell_replayed(lab.replayed);
    }
    let totals = store.totals(campaign).map_err(CliError::store)?;
    let document = document::build(
        &explanations,
        lab.inner(),
        &bench,
        &settings,
        totals,
        started.elapsed(),
    );
    let json = serde_json::to_string_pretty(&document)
        .map_err(|e| CliError::new(error::INTERNAL, e.to_string()))?;
    store.finish(campaign, &json).map_err(CliError::store)?;
    Ok((document, json, printer))
}

fn exit_code(document: &report::Document) -> u8 {
    if document.explanations.is_empty() {
        error::CLEAN
    } else if document
        .explanations
        .iter()
        .any(report::Explanation::has_cause)
    {
        error::FINDINGS
    } else {
        error::INCONCLUSIVE
    }
}
