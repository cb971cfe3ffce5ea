//! `flakelab inject evaluate`: how well `detect` finds what is known to be there.
//!
//! What was injected is known, and what the project had before is found on the unchanged project. What is reported beyond
//! both may be wrong, or another test that the deletion makes depend on the order: nobody knows, and so it is called
//! *further*, and precision is a lower bound.

use std::collections::{BTreeMap, BTreeSet};

use flakelab_detect::{Settings, Stage, Watch};
use flakelab_inject::{Class, Entry};
use flakelab_lab::orders::Kind;
use flakelab_lab::{Lab, Variants};
use flakelab_model::Class as Verdict;
use flakelab_report::inject as report;
use flakelab_stats::clopper_pearson;

use super::dataset::Dataset;
use super::verify::open;
use crate::args::EvaluateArgs;
use crate::error::{self, CliError};
use crate::workbench::{Bar, PatchedProjects, Project, Workbench, deliver, unkept};

/// Of the intervals.
const CONFIDENCE: f64 = 0.95;

/// What was reported of injected suites.
#[derive(Debug, Default, PartialEq)]
struct Score {
    found: u64,
    right: u64,
    /// Injected tests, those of the same mutant included.
    injected: u64,
    /// Tests of the project itself that depend on the order without a mutant as well.
    before: u64,
    /// Neither injected nor there before.
    others: u64,
    missed: Vec<String>,
}

impl Score {
    /// Takes what was said of the suite with an entry in it: tests by their ids, order-dependent ones only.
    fn take(
        &mut self,
        entry: &Entry,
        reported: &BTreeMap<String, Verdict>,
        before: &BTreeSet<String>,
    ) {
        let wanted = match entry.class {
            Class::Victim => Verdict::Victim,
            _ => Verdict::Brittle,
        };
        match reported.get(&entry.test) {
            Some(class) => {
                self.found += 1;
                self.right += u64::from(*class == wanted);
            }
            None => self.missed.push(entry.id.clone()),
        }
        for id in reported.keys() {
            if *id == entry.test || entry.also.contains(id) {
                self.injected += 1;
            } else if before.contains(id) {
                self.before += 1;
            } else {
                self.others += 1;
            }
        }
    }
}

pub(super) fn run(args: &EvaluateArgs) -> crate::Outcome {
    let (bench, dataset) = open(&args.dataset)?;
    let printer = bench.printer;
    let bar = Bar::new(printer.shows_progress());
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
    bar.message("detect on the project as it is");
    // Also says early what is wrong with it.
    let before: BTreeSet<String> = reported(&mut bench.open_lab(&bar)?, &settings)?
        .into_keys()
        .collect();
    bar.message("detect on injected suites");
    bar.step(0, dataset.entries.len());
    for entry in &dataset.entries {
        let reported = detect(&bench, &dataset, entry, &settings)?;
        score.take(entry, &reported, &before);
        bar.advance();
    }
    bar.clear();
    let all = dataset.entries.len() as u64;
    let document = serde_json::json!({
        "schema": {"name": "flakelab.inject.evaluate", "version": "1.0"},
        "orders": args.orders, "entries": all, "found": score.found,
        "right_class": score.right, "others": score.others, "missed": score.missed,
        "recall": share(score.found, all),
        "precision": share(score.injected, score.injected + score.others),
        "before": score.before,
        "recall_interval": interval(score.found, all),
        "precision_interval": interval(score.injected, score.injected + score.others),
    });
    for missed in &score.missed {
        printer.detail(&format!("missed: {missed}"));
    }
    let text = report::evaluated(&report::Evaluated {
        found: score.found,
        right: score.right,
        of: all,
        recall: interval(score.found, all),
        injected: score.injected,
        others: score.others,
        before: score.before,
        precision: interval(score.injected, score.injected + score.others),
    });
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

fn interval(part: u64, whole: u64) -> Option<(f64, f64)> {
    let found = clopper_pearson(part, whole, CONFIDENCE);
    (whole > 0).then_some((found.low, found.high))
}

/// The order-dependent tests that are reported of the suite with an entry in it.
fn detect(
    bench: &Workbench,
    dataset: &Dataset,
    entry: &Entry,
    settings: &Settings,
) -> Result<BTreeMap<String, Verdict>, CliError> {
    let tree = Project(bench.project.clone());
    let changed = dataset.changed(entry, &tree).map_err(|why| {
        CliError::usage(format!("`{}`: {why}", entry.id))
            .hint("check out the commit that the manifest of the data set names")
    })?;
    let mut variants = PatchedProjects {
        bench,
        settled: None,
    };
    let Some(mut lab) = variants.open(&[changed]).map_err(unkept)? else {
        return Err(CliError::usage(format!(
            "the suite does not collect with `{}`",
            entry.id
        ))
        .hint("`flakelab inject verify` says which entries this project and environment still show"));
    };
    reported(&mut *lab, settings)
}

fn reported(lab: &mut dyn Lab, settings: &Settings) -> Result<BTreeMap<String, Verdict>, CliError> {
    let detection = flakelab_detect::detect(lab, settings, &mut Nobody).map_err(unkept)?;
    let found = detection.findings.iter();
    let found = found.filter(|f| matches!(f.class, Verdict::Victim | Verdict::Brittle));
    Ok(found
        .map(|f| (lab.suite().id(f.test).to_string(), f.class))
        .collect())
}

/// The bar counts suites, not runs.
struct Nobody;

impl Watch for Nobody {
    fn stage(&mut self, _: Stage, _: usize) {}
    fn run_done(&mut self, _: Stage) {}
    fn suspects(&mut self, _: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_before_is_no_finding_of_an_injection_and_heirs_are() {
        let entry = serde_json::json!({
            "id": "m", "test": "t::a", "also": ["t::a[1]"], "file": "t.py", "line": 1, "statement": "x()",
            "valid": true, "class": "victim",
        });
        let entry: Entry = serde_json::from_value(entry).expect("an entry");
        let before = BTreeSet::from(["t::old".to_owned()]);
        let all = |ids: &[&str]| -> BTreeMap<String, Verdict> {
            let ids = ids.iter().map(|id| ((*id).to_owned(), Verdict::Victim));
            ids.collect()
        };
        let mut score = Score::default();
        score.take(
            &entry,
            &all(&["t::a", "t::a[1]", "t::old", "t::b"]),
            &before,
        );
        score.take(&entry, &all(&["t::old"]), &before);
        let expected = Score {
            found: 1,
            right: 1,
            injected: 2,
            before: 2,
            others: 1,
            missed: vec!["m".into()],
        };
        assert_eq!(score, expected);
        let (low, high) = interval(1, 2).expect("an interval");
        assert!(low < 0.02 && high > 0.98);
        assert_eq!(interval(0, 0), None);
    }
}
