//! `flakelab filter tune`: flaky assertions removed against bug-revealing ones kept, over the threshold.

use std::collections::BTreeMap;

use flakelab_filter::{Identity, Scored, balance, curve, lossless, of_test};
use flakelab_report::detect::Schema;
use flakelab_report::tune as report;
use flakelab_store::Label;

use super::bugs;
use super::knowledge::Knowledge;
use crate::args::TuneArgs;
use crate::error::{self, CliError};
use crate::workbench::{Bar, Workbench, deliver};

pub(super) fn run(args: &TuneArgs) -> crate::Outcome {
    let (bench, config) = Workbench::settle(
        &args.project.path,
        &args.project.pytest_args,
        None,
        &args.lab,
        &args.output,
    )?;
    let printer = bench.printer;
    deliver::check_all(&args.output, args.html.iter())?;
    let knowledge = Knowledge::at(&bench.location)?;
    if let Some(error) = knowledge.nothing_learned() {
        return Err(error);
    }
    let store = bench.open_store()?;
    let bar = Bar::new(printer.shows_progress());
    let mut revealing: BTreeMap<Identity, String> = BTreeMap::new();
    for commit in &args.bad {
        bar.say(format!("the suite on {commit}"));
        for identity in bugs::of_commit(&bench, commit, &knowledge, &config.measure)? {
            revealing.entry(identity).or_insert_with(|| commit.clone());
        }
    }
    if args.mutants > 0 {
        for identity in bugs::of_mutants(&bench, &knowledge, args.mutants, &bar)? {
            revealing
                .entry(identity)
                .or_insert_with(|| "a mutant".into());
        }
    }
    bar.clear();
    // Kept, so that nobody quarantines a test that catches bugs without a word.
    for (identity, source) in &revealing {
        let label = Label {
            test: identity.test.clone(),
            assertion: identity.text.clone(),
            label: "bug".into(),
            version: source.clone(),
        };
        store.label(&label).map_err(CliError::store)?;
    }
    let knowledge = Knowledge::load(&store)?;
    let document = document(&knowledge, bench.project_name());
    let json = serde_json::to_string_pretty(&document)
        .map_err(|e| CliError::new(error::INTERNAL, e.to_string()))?;
    deliver::deliver(&json, &report::terminal(&document), &args.output, printer)?;
    if let Some(path) = &args.html {
        deliver::write(path, report::page(&document))?;
    }
    Ok(error::CLEAN)
}

/// The curves of what is known.
pub(super) fn document(knowledge: &Knowledge, project: String) -> report::Document {
    let bug = |label: Option<&Label>| label.is_some_and(|label| label.label == "bug");
    let assertions: Vec<Scored> = knowledge
        .assertions
        .iter()
        .map(|known| Scored {
            score: known.evidence.score(),
            // Of a test that was called a bug as a whole nobody knows which of its assertions showed it.
            reveals_bug: bug(knowledge.label_of(&known.kept.identity)),
        })
        .collect();
    let mut by_test: BTreeMap<&str, (Vec<f64>, bool)> = BTreeMap::new();
    for known in &knowledge.assertions {
        let test = by_test.entry(&known.kept.identity.test).or_default();
        test.0.push(known.evidence.score());
        let identity = &known.kept.identity;
        test.1 |= bug(knowledge.label(&identity.test, &identity.text));
    }
    let tests: Vec<Scored> = by_test
        .into_values()
        .map(|(scores, reveals_bug)| Scored {
            score: of_test(scores),
            reveals_bug,
        })
        .collect();
    report::Document {
        schema: Schema::TUNE,
        flakelab: env!("CARGO_PKG_VERSION").into(),
        project,
        learned: knowledge.versions.clone(),
        threshold: super::THRESHOLD,
        assertions: described(&assertions),
        tests: described(&tests),
    }
}

fn described(scored: &[Scored]) -> report::Curves {
    let points = curve(scored);
    report::Curves {
        all: scored.len(),
        flaky: scored.iter().filter(|s| s.score > 0.0).count(),
        revealing: scored.iter().filter(|s| s.reveals_bug).count(),
        balance: balance(&points).map(|(threshold, share)| report::Balance { threshold, share }),
        lossless: lossless(&points),
        points: points
            .into_iter()
            .map(|point| report::Point {
                threshold: (point.threshold * 10.0).round() / 10.0,
                removed: point.removed,
                kept: point.kept,
            })
            .collect(),
    }
}
