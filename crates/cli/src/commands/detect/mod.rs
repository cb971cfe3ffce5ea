//! `flakelab detect`: from arguments to a campaign to a document.

mod document;
mod plan;
mod progress;

use std::path::Path;
use std::time::Instant;

use flakelab_lab::{Lab, LabError};
use flakelab_model::Class;
use flakelab_report::{TerminalOptions, junit, markdown, terminal};
use flakelab_runners::cancel::Cancel;
use flakelab_runners::pytest::{OpenError, PytestLab, SandboxState};
use flakelab_store::{NewCampaign, RecordingLab, Store};

use crate::args::{DetectArgs, Format, OutputArgs};
use crate::error::{self, CliError, chain};
use crate::interrupt;
use crate::printer::{Printer, Volume};
use plan::Plan;

pub(crate) fn run(args: DetectArgs) -> crate::Outcome {
    let printer = Printer {
        volume: match (args.output.quiet, args.output.verbose) {
            (true, _) => Volume::Quiet,
            (_, true) => Volume::Verbose,
            _ => Volume::Normal,
        },
    };
    let started = Instant::now();
    let cancel = Cancel::default();
    interrupt::install(&cancel.flag())
        .map_err(|e| CliError::new(error::INTERNAL, e.to_string()))?;

    let mut plan = Plan::make(&args)?;
    let location = plan.location.clone();
    let open_store = || {
        Store::open(location.clone()).map_err(|e| {
            CliError::usage(chain(&e))
                .hint("choose another place with --store, or move that file away")
        })
    };
    // A suite that does not even collect leaves no store behind.
    let early = args.search.resume.then(open_store).transpose()?;
    let last = match &early {
        Some(store) => plan.resume(store)?,
        None => None,
    };
    let bar = progress::Bar::new(printer.shows_progress());
    bar.message("collecting the suite");
    let lab = PytestLab::open(plan.lab_options(cancel)).map_err(open_error)?;
    let store = early.map_or_else(open_store, Ok)?;
    tell_facts(&lab, printer, &bar);
    plan.read_orders(lab.suite(), |note| bar.suspend(|| printer.note(note)))?;

    let resumed = last.is_some();
    let campaign = match last {
        Some(campaign) => {
            let anew = |e: CliError| e.hint("start anew without --resume");
            if campaign.environment != plan.environment(lab.facts()) {
                return Err(anew(CliError::usage(
                    "the interpreter, its packages or the commit changed since that campaign",
                )));
            }
            store
                .check_suite(campaign.id, lab.suite())
                .map_err(|e| anew(CliError::usage(chain(&e))))?;
            campaign.id
        }
        None => store
            .begin(&NewCampaign {
                verb: "detect",
                seed: plan.settings.seed,
                configuration: &plan.configuration(),
                environment: &plan.environment(lab.facts()),
                suite: lab.suite(),
            })
            .map_err(|e| CliError::usage(chain(&e)).hint("choose another place with --store"))?,
    };
    let counters = lab.progress();
    let mut lab = RecordingLab::new(lab, &store, campaign).map_err(|e| lab_error(e, &plan))?;
    let mut watch = bar.watch(counters.clone(), plan.settings.budget);
    let detection = flakelab_detect::detect(&mut lab, &plan.settings, &mut watch);
    bar.clear();
    let detection = detection.map_err(|e| lab_error(e, &plan))?;
    if resumed {
        printer.note(&format!("{} runs were taken from the store", lab.replayed));
    }
    let totals = store
        .totals(campaign)
        .map_err(|e| CliError::usage(chain(&e)))?;
    let document = document::build(&detection, lab.inner(), &plan, totals, started.elapsed());
    for note in &document.campaign.notes {
        printer.note(note);
    }
    let json = serde_json::to_string_pretty(&document)
        .map_err(|e| CliError::new(error::INTERNAL, e.to_string()))?;
    store
        .finish(campaign, &json)
        .map_err(|e| CliError::usage(chain(&e)))?;
    deliver(
        &document,
        &json,
        &args.output,
        printer,
        plan.step_summary.as_deref(),
    )?;
    Ok(exit_code(&document))
}

fn deliver(
    document: &flakelab_report::detect::Document,
    json: &str,
    output: &OutputArgs,
    printer: Printer,
    step_summary: Option<&Path>,
) -> Result<(), CliError> {
    let text = || {
        terminal(
            document,
            TerminalOptions {
                verbose: printer.volume == Volume::Verbose,
            },
        )
    };
    let body = match output.format {
        Format::Json => format!("{json}\n"),
        Format::Text => text(),
    };
    match &output.output {
        Some(path) => {
            let plain = anstream::adapter::strip_str(&body).to_string();
            write(path, &plain)?;
            if printer.volume != Volume::Quiet {
                printer.data(&text());
            }
        }
        None => printer.data(&body),
    }
    if let Some(path) = &output.junit {
        let xml = junit(document).map_err(|e| CliError::new(error::INTERNAL, chain(&e)))?;
        write(path, &xml)?;
    }
    if let Some(path) = step_summary {
        use std::io::Write;
        let appended = std::fs::File::options()
            .append(true)
            .create(true)
            .open(path)
            .and_then(|mut file| file.write_all(markdown(document).as_bytes()));
        if let Err(e) = appended {
            printer.note(&format!("the step summary could not be written: {e}"));
        }
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    std::fs::write(path, text)
        .map_err(|e| CliError::usage(format!("failed to write `{}`: {e}", path.display())))
}

fn exit_code(document: &flakelab_report::detect::Document) -> u8 {
    let has = |wanted: fn(Class) -> bool| document.tests.iter().any(|t| wanted(t.class));
    if has(|class| class.is_flaky() && class != Class::Unconfirmed) {
        error::FINDINGS
    } else if has(|class| matches!(class, Class::Unconfirmed | Class::NotRun))
        || (document.campaign.out_of_budget && document.confidence.random_orders == 0)
    {
        error::INCONCLUSIVE
    } else {
        error::CLEAN
    }
}

/// What a user should know before a long run.
fn tell_facts(lab: &PytestLab, printer: Printer, bar: &progress::Bar) {
    let facts = lab.facts();
    bar.suspend(|| {
        printer.detail(&format!(
            "{} tests, Python {}, pytest {}, plugins: {}",
            lab.suite().len(),
            facts.python,
            facts.pytest,
            if facts.plugins.is_empty() { "none".into() } else { facts.plugins.join(", ") }
        ));
        if !facts.silenced.is_empty() {
            printer.detail(&format!("silenced, because they decide about order or repetition: {}", facts.silenced.join(", ")));
        }
        if let SandboxState::Unavailable(why) = &facts.sandbox {
            printer.note(&format!(
                "no sandbox ({why}): what tests write into the project stays there; --sandbox off silences this"
            ));
        }
        if let Some(why) = &facts.cold_because {
            printer.note(&format!("every run gets an interpreter of its own, which is slower, because {why}"));
        }
        for error in &facts.collection_errors {
            let first = error.message.lines().next().unwrap_or_default();
            printer.note(&format!("`{}` does not collect and is left out: {first}", error.id));
        }
    });
}

fn open_error(open: OpenError) -> CliError {
    match open {
        OpenError::Interrupted => {
            CliError::new(error::INTERRUPTED, "interrupted during collection")
        }
        OpenError::Usage { said } => {
            CliError::usage("pytest does not accept its arguments or configuration")
                .detail(tail(&said, 15))
                .hint("run `pytest --collect-only` with the same arguments")
        }
        OpenError::DoesNotCollect { errors, said } => {
            let mut e = CliError::new(error::BROKEN_SUITE, "the suite does not collect")
                .hint("run `pytest --collect-only`; tests must be importable with the chosen interpreter (--python)");
            for error in errors.iter().take(5) {
                let message = error.message.lines().take(3).collect::<Vec<_>>().join(" ");
                e = e.detail(format!("{}: {message}", error.id));
            }
            if errors.is_empty() {
                e = e.detail(tail(&said, 15));
            }
            e
        }
        OpenError::NoTests => CliError::new(error::BROKEN_SUITE, "the suite has no tests").hint(
            "check the path, and what follows `--`; pytest looks for test_*.py and *_test.py",
        ),
        OpenError::TooSlow(_) => CliError::new(error::BROKEN_SUITE, chain(&open)).hint(
            "run `pytest --collect-only` to see what takes so long; --run-timeout raises the limit",
        ),
        OpenError::Io(_) => CliError::new(error::INTERNAL, chain(&open)),
    }
}

fn lab_error(lab: LabError, plan: &Plan) -> CliError {
    match lab {
        LabError::Interrupted => CliError::new(
            error::INTERRUPTED,
            format!(
                "interrupted; what finished is in `{}`",
                plan.location.file().display()
            ),
        )
        .hint("go on with the same command and --resume"),
        LabError::Broken { message, hint } => {
            let mut e = CliError::new(error::INTERNAL, message);
            e.hint = hint;
            e
        }
    }
}

fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.trim().lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}
