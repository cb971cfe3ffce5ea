//! `flakelab inject verify`: the entries of a data set, judged by plain pytest.

use flakelab_inject::{Class, Entry};
use flakelab_lab::{Lab, LabError};
use flakelab_model::TestIndex;
use flakelab_report::inject as report;
use flakelab_runners::cancel::Cancel;
use flakelab_runners::pytest::{PlainProject, PytestLab};
use flakelab_source::encode;

use super::dataset::Dataset;
use crate::args::DatasetArgs;
use crate::error::{self, CliError};
use crate::interrupt;
use crate::workbench::{Bar, Project, Workbench, deliver, shell, unkept};

/// The project and the data set made from it.
pub(super) fn open(args: &DatasetArgs) -> Result<(Workbench, Dataset), CliError> {
    deliver::check_all(&args.output, [])?;
    let dataset = Dataset::open(&args.dataset, args.sample)?;
    let (bench, _) = Workbench::settle(
        &args.project,
        &dataset.manifest.pytest_args,
        Some(dataset.manifest.seed),
        &args.lab,
        &args.output,
    )?;
    Ok((bench, dataset))
}

pub(super) fn run(args: &DatasetArgs) -> crate::Outcome {
    let (bench, dataset) = open(args)?;
    let printer = bench.printer;
    let bar = Bar::new(printer.shows_progress());
    let lab = bench.open_lab(&bar)?;
    let copy = bench
        .plain_copy()
        .map_err(|e| CliError::new(error::INTERNAL, format!("failed to copy the project: {e}")))?;
    let judge = Judge {
        bench: &bench,
        dataset: &dataset,
        lab: &lab,
        copy: &copy,
        cancel: interrupt::cancel(),
    };
    let mut wrong: Vec<(String, String)> = Vec::new();
    let all = dataset.entries.len();
    bar.message("replayed with plain pytest");
    bar.step(0, all);
    for entry in &dataset.entries {
        let shown = judge.shows(entry);
        if judge.cancel.is_set() {
            bar.clear();
            return Err(unkept(LabError::Interrupted));
        }
        if let Err(why) = shown {
            wrong.push((entry.id.clone(), why));
        }
        bar.advance();
    }
    bar.clear();
    let shown = all - wrong.len();
    let not: Vec<_> = wrong
        .iter()
        .map(|(id, why)| serde_json::json!({"id": id, "why": why}))
        .collect();
    let document = serde_json::json!({
        "schema": {"name": "flakelab.inject.verify", "version": "1.0"},
        "entries": all, "shown": shown, "not_shown": not,
    });
    let text = report::verified(shown as u64, all as u64, &wrong);
    deliver::deliver(&format!("{document:#}"), &text, &args.output, printer)?;
    Ok(if wrong.is_empty() {
        error::CLEAN
    } else {
        error::FINDINGS
    })
}

struct Judge<'a> {
    bench: &'a Workbench,
    dataset: &'a Dataset,
    lab: &'a PytestLab,
    copy: &'a PlainProject,
    cancel: Cancel,
}

impl Judge<'_> {
    /// Whether plain pytest sees what the entry says; why not, if it does not.
    fn shows(&self, entry: &Entry) -> Result<(), String> {
        let tree = Project(self.bench.project.clone());
        let (path, text) = self.dataset.changed(entry, &tree)?;
        let text = encode(&text).ok_or("the encoding of its file does not have all of it")?;
        let before = self.copy.replace(&path, &text).map_err(|e| e.to_string())?;
        let said = self.orders(entry);
        self.copy
            .replace(&path, &before)
            .map_err(|e| e.to_string())?;
        said
    }

    fn orders(&self, entry: &Entry) -> Result<(), String> {
        let through = |numbers: &[usize]| -> Option<Vec<String>> {
            let orders = numbers
                .iter()
                .filter_map(|number| self.dataset.order(*number, &entry.test));
            orders.min_by_key(Vec::len)
        };
        let alone = vec![entry.test.clone()];
        let first = |sets: &[Vec<String>]| -> Option<Vec<String>> {
            let mut order = sets.first()?.clone();
            order.push(entry.test.clone());
            Some(order)
        };
        let (good, bad) = if entry.class == Class::Victim {
            let bad = first(&entry.polluters).or_else(|| through(&entry.failing_orders));
            (Some(alone), bad)
        } else {
            let good = first(&entry.state_setters).or_else(|| through(&entry.passing_orders));
            (good, Some(alone))
        };
        for (order, wanted) in [(good, true), (bad, false)] {
            let order = order.ok_or("no order is known that shows it")?;
            if self.passes(&order, &entry.test)? != wanted {
                return Err(format!(
                    "{} {} of {}",
                    if wanted {
                        "fails at the end"
                    } else {
                        "passes at the end"
                    },
                    "in the order",
                    order.join(" ")
                ));
            }
        }
        Ok(())
    }

    fn passes(&self, order: &[String], test: &str) -> Result<bool, String> {
        let suite = self.lab.suite();
        let tests: Option<Vec<TestIndex>> = order.iter().map(|id| suite.find(id)).collect();
        let tests = tests.ok_or("a test of its order is no longer collected")?;
        let command = shell(self.lab, &tests, None);
        let command = format!("{command} --tb=no -rfE -p no:cacheprovider");
        let said = self
            .copy
            .shell(&command, self.bench.timeout.run, &self.cancel)
            .map_err(|e| e.to_string())?
            .ok_or("pytest took too long")?;
        let failed = said.lines().any(|line| {
            let rest = line
                .strip_prefix("FAILED ")
                .or_else(|| line.strip_prefix("ERROR "));
            rest.is_some_and(|rest| {
                rest == test
                    || rest
                        .strip_prefix(test)
                        .is_some_and(|r| r.starts_with(" - "))
            })
        });
        if !failed && !said.contains(" passed") {
            return Err(format!(
                "pytest says: {}",
                said.lines().last().unwrap_or_default()
            ));
        }
        Ok(!failed)
    }
}
