//! `flakelab fix`: from causes to verified patches.

mod apply;
mod cases;
mod document;
mod progress;

use std::time::Instant;

use flakelab_fix::{Fix, Fixes, Settings, Site, Strategy, Surroundings};
use flakelab_lab::{Lab, LabError};
use flakelab_report::fix as report;
use flakelab_store::{CampaignId, Store};
use serde_json::json;

use self::cases::Knowledge;
use super::explain;
use crate::args::{
    BudgetArgs, CampaignArgs, CauseArgs, ExplainArgs, FixArgs, Format, OutputArgs, PatchMode,
    SiteArg, StrategyArg,
};
use crate::error::{self, CliError, chain};
use crate::printer::{Printer, Volume};
use crate::workbench::{
    self, Asked, Bar, PatchedProjects, Project, Workbench, again, at_least_one, deliver, lab_error,
};

/// Suites up to this size have every other test run right before the fixed one.
const SWEEP: usize = 3_000;

pub(crate) fn run(args: &FixArgs) -> crate::Outcome {
    let started = Instant::now();
    match (&args.output.output, args.output.format) {
        (Some(folder), Format::Text) => apply::check(folder)?,
        _ => deliver::check_all(&args.output, [])?,
    }
    let (mut bench, _) = Workbench::settle(
        &args.chosen.project,
        &args.chosen.pytest_args,
        args.campaign.seed,
        &args.lab,
        &args.output,
    )?;
    bench.take_up_detected(&args.chosen.pytest_args)?;
    let printer = bench.printer;
    // Reading must not make a store.
    if !bench.location.is_taken() && args.chosen.tests.is_empty() {
        return Err(cases::nothing_found());
    }
    let store = bench.open_store()?;
    let configuration = json!({
        "tests": args.chosen.tests,
        "strategy": args.strategy,
        "site": args.site,
        "all": args.patch_mode == PatchMode::All,
        "shuffles": args.shuffles,
        "confirmations": args.confirmations,
        "pytest_args": bench.pytest_args,
        "isolation": bench.isolation,
    })
    .to_string();
    let asked = Asked {
        verb: "fix",
        configuration: &configuration,
    };
    let last = args
        .campaign
        .resume
        .then(|| bench.resume(&store, asked))
        .transpose()?;
    let settings = settings(args, &bench)?;
    let knowledge = explained(args, &bench, &store).map_err(|error| {
        if error.code != error::INTERRUPTED {
            return error;
        }
        let Ok(Some(explain)) = store.last("explain") else {
            return error;
        };
        let command = again::resumed("explain", explain.seed, &explain.configuration);
        error.hint(format!(
            "go on with `{command}`, and then with the same command"
        ))
    })?;
    let bar = Bar::new(printer.shows_progress());
    let mut lab = bench.open_lab(&bar)?;
    if args.chosen.tests.is_empty() {
        left_alone(&knowledge.without_order(lab.suite()), printer);
    }
    let (cases, restless) = knowledge.cases(&args.chosen.tests, lab.suite())?;
    let done = match &last {
        Some(campaign) => done(&store, campaign.id)?,
        None => Vec::new(),
    };
    let campaign = workbench::begin(&bench, &store, &lab, asked, last)?;
    let surroundings = Surroundings {
        variants: &mut PatchedProjects {
            bench: &bench,
            settled: Some(lab.settled()),
        },
        tree: &Project(bench.project.clone()),
        restless: &restless,
        done,
    };
    if args.apply && !args.force {
        for file in apply::uncommitted(&bench.project, &cases) {
            bar.suspend(|| {
                printer.note(&format!(
                    "`{file}` has changes that are not committed: without --force, --apply writes nothing if a patch \
                     is for it"
                ))
            });
        }
    }
    let mut watch = progress::FixWatch::new(&bar, &store, campaign, printer);
    let found = flakelab_fix::fix(&mut lab, surroundings, &cases, &settings, &mut watch);
    let dropped = watch.has_dropped;
    bar.clear();
    let Fixes { fixes, together } = found.map_err(|e| lab_error(e, &bench))?;
    let mut written = Vec::new();
    let applied = match &together.patch {
        Some(patch) => apply::apply(&bench.project, patch, args.force, &mut written),
        None => Ok(()),
    };
    let document = document::build(
        &fixes,
        written,
        together.left_out,
        &lab,
        bench.seed,
        started.elapsed(),
    );
    let told = keep(&document, &store, campaign)
        .and_then(|json| publish(&document, &json, &fixes, &args.output, printer));
    if told.is_err() && !document.written.is_empty() {
        printer.note(&format!(
            "patches were written to {}",
            document.written.join(", ")
        ));
    }
    told?;
    applied?;
    if !args.apply && document.fixes.iter().any(report::Fix::is_fixed) {
        printer.next("`flakelab fix --apply` writes the patches, `-o DIR` saves them");
    }
    let settled = document.fixes.iter().all(report::Fix::is_settled);
    if dropped && !settled && printer.volume != Volume::Verbose {
        printer.next("--verbose says why candidates did not hold");
    }
    Ok(if !settled {
        error::INCONCLUSIVE
    } else if document.fixes.iter().any(report::Fix::is_fixed) {
        error::FINDINGS
    } else {
        error::CLEAN
    })
}

/// Ends the campaign in the store; the document as JSON.
fn keep(
    document: &report::Document,
    store: &Store,
    campaign: CampaignId,
) -> Result<String, CliError> {
    let json = serde_json::to_string_pretty(document)
        .map_err(|e| CliError::new(error::INTERNAL, e.to_string()))?;
    store.finish(campaign, &json).map_err(CliError::store)?;
    Ok(json)
}

fn publish(
    document: &report::Document,
    json: &str,
    fixes: &[Fix],
    output: &OutputArgs,
    printer: Printer,
) -> Result<(), CliError> {
    let text = report::terminal(document);
    match (&output.output, output.format) {
        (Some(folder), Format::Text) => {
            apply::save(folder, fixes)?;
            if printer.volume != Volume::Quiet {
                printer.data(&text);
            }
            Ok(())
        }
        _ => deliver::deliver(json, &text, output, printer),
    }
}

/// Says which flaky tests no patch is looked for.
fn left_alone(tests: &[&str], printer: Printer) {
    let names: Vec<&str> = tests.iter().copied().take(3).collect();
    let more = tests.len() - names.len();
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    if let Some(first) = names.first() {
        printer.note(&format!(
            "no patch is looked for where it is not the order that decides: {}{more} (`flakelab explain {first}` says \
             what does)",
            names.join(", ")
        ));
    }
}

fn settings(args: &FixArgs, bench: &Workbench) -> Result<Settings, CliError> {
    Ok(Settings {
        seed: bench.seed,
        confirmations: at_least_one("confirmations", args.confirmations.unwrap_or(3))?,
        shuffles: args.shuffles.unwrap_or(20),
        sweep: SWEEP,
        timeout: bench.timeout,
        impatient: bench.impatient,
        strategy: args.strategy.map(|strategy| match strategy {
            StrategyArg::Isolate => Strategy::Isolate,
            StrategyArg::Restore => Strategy::Restore,
            StrategyArg::Reset => Strategy::Reset,
            StrategyArg::Helper => Strategy::Helper,
        }),
        site: args.site.map(|site| match site {
            SiteArg::Victim => Site::Victim,
            SiteArg::Polluter => Site::Polluter,
        }),
        all: args.patch_mode == PatchMode::All,
        together: args.apply,
    })
}

/// What is known of the tests, after what nobody has explained yet was explained.
fn explained(args: &FixArgs, bench: &Workbench, store: &Store) -> Result<Knowledge, CliError> {
    let knowledge = Knowledge::read(store)?;
    if knowledge.is_empty() && args.chosen.tests.is_empty() {
        return Err(cases::nothing_found());
    }
    let missing = knowledge.missing(&args.chosen.tests);
    if missing.is_empty() {
        return Ok(knowledge);
    }
    bench.printer.note(&match missing.as_slice() {
        [one] => format!("`{one}` is not explained yet: that comes first"),
        many => format!(
            "{} tests are not explained yet: that comes first",
            many.len()
        ),
    });
    let mut chosen = args.chosen.clone();
    chosen.tests = missing;
    chosen.pytest_args.clone_from(&bench.pytest_args);
    let (..) = explain::conduct(&ExplainArgs {
        chosen,
        causes: CauseArgs {
            campaign: BudgetArgs {
                repeat: CampaignArgs {
                    seed: Some(bench.seed),
                    resume: false,
                },
                budget: None,
            },
            ..CauseArgs::default()
        },
        lab: args.lab.clone(),
        output: OutputArgs {
            output: None,
            ..args.output.clone()
        },
        graph: None,
    })?;
    Knowledge::read(store)
}

/// What an interrupted campaign has fixed.
fn done(store: &Store, campaign: CampaignId) -> Result<Vec<Fix>, CliError> {
    let kept = store.kept(campaign).map_err(CliError::store)?;
    kept.iter()
        .map(|(test, value)| {
            serde_json::from_str(value).map_err(|e| {
                CliError::usage(format!("what the store has of `{test}` is unreadable: {e}"))
                    .hint("start anew without --resume")
            })
        })
        .collect()
}

/// A store that fails ends the campaign.
fn broken(e: impl std::error::Error) -> LabError {
    LabError::broken(chain(&e))
}
