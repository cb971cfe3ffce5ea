//! `flakelab inject evaluate`: how well `detect` finds what is known to be there.

use flakelab_detect::{Settings, Stage, Watch};
use flakelab_inject::{Class, Entry};
use flakelab_lab::Variants;
use flakelab_lab::orders::Kind;
use flakelab_model::Class as Verdict;
use flakelab_report::inject as report;

use super::dataset::Dataset;
use super::verify::open;
use crate::args::EvaluateArgs;
use crate::error::{self, CliError};
use crate::workbench::{Bar, PatchedProjects, Project, Workbench, deliver, unkept};

#[derive(Debug, Default)]
struct Score {
    found: u64,
    right: u64,
    /// Reported, and not injected.
    others: u64,
    missed: Vec<String>,
}

pub(super) fn run(args: &EvaluateArgs) -> crate::Outcome {
    let (bench, dataset) = open(&args.dataset)?;
    let printer = bench.printer;
    let bar = Bar::new(printer.shows_progress());
    // Collecting the project as it is says early what is wrong with it.
    drop(bench.open_lab(&bar)?);
    let settings = Settings {
        seed: bench.seed,
        orders: args.orders,
        mix: vec![Kind::Global, Kind::Nested],
        given: Vec::new(),
        rerun_orders: 3,
        reruns: 3,
        isolated: 10,
        confirmations: 3,
        budget: None,
        timeout: bench.timeout,
        impatient: bench.impatient,
        alone: true,
        twice: false,
        pairs: 0,
    };
    let mut score = Score::default();
    bar.message("detect on injected suites");
    bar.step(0, dataset.entries.len());
    for entry in &dataset.entries {
        detect(&bench, &dataset, entry, &settings, &mut score)?;
        bar.advance();
    }
    bar.clear();
    let all = dataset.entries.len() as u64;
    let document = serde_json::json!({
        "schema": {"name": "flakelab.inject.evaluate", "version": "1.0"},
        "orders": args.orders, "entries": all, "found": score.found,
        "right_class": score.right, "others": score.others, "missed": score.missed,
        "recall": share(score.found, all),
        "precision": share(score.found, score.found + score.others),
    });
    for missed in &score.missed {
        printer.detail(&format!("missed: {missed}"));
    }
    let text = report::evaluated(score.found, score.right, all, score.others);
    let output = &args.dataset.output;
    deliver::deliver(&format!("{document:#}"), &text, output, printer)?;
    Ok(if score.found < all {
        error::FINDINGS
    } else {
        error::CLEAN
    })
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn detect(
    bench: &Workbench,
    dataset: &Dataset,
    entry: &Entry,
    settings: &Settings,
    score: &mut Score,
) -> Result<(), CliError> {
    let tree = Project(bench.project.clone());
    let changed = dataset.changed(entry, &tree).map_err(|why| {
        CliError::usage(format!("`{}`: {why}", entry.id))
            .hint("check out the commit that the manifest of the data set names")
    })?;
    let broken = unkept;
    let mut variants = PatchedProjects {
        bench,
        settled: None,
    };
    let Some(mut lab) = variants.open(&[changed]).map_err(broken)? else {
        return Err(CliError::usage(format!(
            "the suite does not collect with `{}`",
            entry.id
        ))
        .hint("`flakelab inject verify` says which entries this project and environment still show"));
    };
    let detection = flakelab_detect::detect(&mut *lab, settings, &mut Nobody).map_err(broken)?;
    let wanted = match entry.class {
        Class::Victim => Verdict::Victim,
        _ => Verdict::Brittle,
    };
    let mut found = false;
    for finding in &detection.findings {
        if !matches!(finding.class, Verdict::Victim | Verdict::Brittle) {
            continue;
        }
        let id = lab.suite().id(finding.test).to_string();
        if id == entry.test || entry.also.contains(&id) {
            if id == entry.test {
                found = true;
                score.right += u64::from(finding.class == wanted);
            }
        } else {
            score.others += 1;
        }
    }
    if found {
        score.found += 1;
    } else {
        score.missed.push(entry.id.clone());
    }
    Ok(())
}

/// The bar counts suites, not runs.
struct Nobody;

impl Watch for Nobody {
    fn stage(&mut self, _: Stage, _: usize) {}
    fn run_done(&mut self, _: Stage) {}
    fn suspects(&mut self, _: usize) {}
}
