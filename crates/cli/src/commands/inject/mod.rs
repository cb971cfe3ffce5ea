//! `flakelab inject`: from stable tests to a data set.

mod causes;
mod dataset;
mod document;
mod evaluate;
mod progress;
mod verify;

use std::time::Instant;

use flakelab_inject::{Metrics, Scope, Settings, Surroundings};
use flakelab_lab::Lab;
use flakelab_report::inject as report;
use serde_json::json;

use crate::args::{Format, InjectArgs, InjectCommand, ScopeArg};
use crate::error::{self, CliError};
use crate::printer::Volume;
use crate::workbench::{
    self, Asked, Bar, PatchedProjects, Project, StoreJournal, Workbench, lab_error,
};

pub(crate) fn run(args: &InjectArgs) -> crate::Outcome {
    match &args.command {
        Some(InjectCommand::Verify(args)) => verify::run(&args.dataset),
        Some(InjectCommand::Evaluate(args)) => evaluate::run(args),
        None => inject(args),
    }
}

fn inject(args: &InjectArgs) -> crate::Outcome {
    let started = Instant::now();
    let mutation = &args.mutation;
    let (mut bench, config) = Workbench::settle(
        &args.project.path,
        &args.project.pytest_args,
        mutation.campaign.seed,
        &args.lab,
        &args.output,
    )?;
    let printer = bench.printer;
    let mut settings = settings(args, &bench, &config.inject)?;
    let configuration = json!({
        "reruns": settings.reruns,
        "orders": settings.orders,
        "scope": settings.scope,
        "include_fixtures": settings.include_fixtures,
        "assertions": settings.assertions,
        "pytest_args": bench.pytest_args,
    })
    .to_string();
    let asked = Asked {
        verb: "inject",
        configuration: &configuration,
    };
    let (early, last) = bench.earlier(mutation.campaign.resume, asked)?;
    settings.seed = bench.seed;
    let bar = Bar::new(printer.shows_progress());
    let mut lab = bench.open_lab(&bar)?;
    if let Some(why) = &lab.facts().cold_because {
        return Err(CliError::new(
            error::BROKEN_SUITE,
            format!("mutants are evaluated in forks of the collected suite, and {why}"),
        )
        .hint("leave out what starts threads with `-- --ignore=FILE`"));
    }
    let store = early.map_or_else(|| bench.open_store(), Ok)?;
    let campaign = workbench::begin(&bench, &store, &lab, asked, last)?;
    let tree = Project(bench.project.clone());
    let mut out = dataset::Writer::new(args.output.output.as_deref(), &tree)?;
    let mut variants = PatchedProjects {
        bench: &bench,
        settled: Some(lab.settled()),
    };
    let injection = flakelab_inject::inject(
        &mut lab,
        &mut Surroundings {
            variants: &mut variants,
            tree: &tree,
            explain: &mut causes::Causes::new(&settings),
            journal: &mut StoreJournal::new(&store, campaign),
            watch: &mut progress::InjectWatch(&bar),
        },
        &settings,
        &mut |mutant, entry| out.take(mutant, entry),
    );
    bar.clear();
    let injection = injection.map_err(|e| lab_error(e, &bench))?;
    let metrics = Metrics::new(&injection, lab.suite(), &tree);
    let document = document::build(
        &injection,
        &metrics,
        &lab,
        &bench,
        &settings,
        started.elapsed(),
    );
    let json = serde_json::to_string_pretty(&document)
        .map_err(|e| CliError::new(error::INTERNAL, e.to_string()))?;
    store.finish(campaign, &json).map_err(CliError::store)?;
    let manifest = dataset::Manifest::new(&bench, &lab, &settings)?;
    out.finish(&manifest, &injection, lab.suite(), &document)?;
    let text = report::terminal(&document);
    match args.output.format {
        Format::Json => printer.data(&format!("{json}\n")),
        Format::Text if args.output.output.is_some() && printer.volume == Volume::Quiet => {}
        Format::Text => printer.data(&text),
    }
    if args.output.output.is_none() {
        printer
            .next("`flakelab inject --resume -o DIR` writes the data set without running it again");
    }
    Ok(if document.totals.order_dependent > 0 {
        error::FINDINGS
    } else {
        error::CLEAN
    })
}

fn settings(
    args: &InjectArgs,
    bench: &Workbench,
    config: &crate::config::Inject,
) -> Result<Settings, CliError> {
    let mutation = &args.mutation;
    let reruns = mutation.reruns.or(config.reruns).unwrap_or(100);
    if reruns == 0 {
        return Err(
            CliError::usage("--reruns 0: a test that never ran is not stable")
                .hint("the paper has 100"),
        );
    }
    let mut assertions = config.assertions.clone().unwrap_or_default();
    assertions.extend(mutation.assertion.iter().cloned());
    Ok(Settings {
        seed: bench.seed,
        reruns,
        orders: mutation.orders.or(config.orders).unwrap_or(20),
        scope: match mutation.scope.or(config.scope) {
            Some(ScopeArg::Class) => Scope::Class,
            Some(ScopeArg::Module) => Scope::Module,
            Some(ScopeArg::Suite) | None => Scope::Suite,
        },
        include_fixtures: mutation.include_fixtures,
        assertions,
        confirmations: 3,
        timeout: bench.timeout,
        impatient: bench.impatient,
    })
}
