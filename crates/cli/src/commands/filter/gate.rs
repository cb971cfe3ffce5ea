//! `flakelab filter run`: the suite once, with known flakes passed over.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use flakelab_filter::{Identity, Kind, Quarantine, Seen, place, shown, sort, today};
use flakelab_model::{Outcome, Polarity, Recording, RunRecord, Suite, TestIndex, TestTrace, Trace};
use flakelab_report::detect::Schema;
use flakelab_report::filter as report;
use flakelab_runners::process::git::Edits;

use super::assertions::{Observed, Sources};
use super::edited;
use super::knowledge::Knowledge;
use super::present::Present;
use crate::args::{GateArgs, OutputArgs};
use crate::error::{self, CliError, chain};
use crate::printer::{Printer, Volume};
use crate::workbench::{Bar, Workbench, deliver, not_collected};

pub(super) fn run(args: &GateArgs) -> crate::Outcome {
    let started = Instant::now();
    deliver::check_all(&args.output, args.junit.iter())?;
    let (bench, config) = Workbench::settle(
        &args.project.path,
        &args.project.pytest_args,
        None,
        &args.lab,
        &args.output,
    )?;
    let printer = bench.printer;
    let threshold = args
        .threshold
        .or(config.filter.threshold)
        .unwrap_or(super::THRESHOLD);
    let mut knowledge = Knowledge::at(&bench.location)?;
    let quarantine = super::quarantine(args.quarantine.as_deref(), &bench)?;
    if quarantine.entries.is_empty()
        && let Some(error) = knowledge.nothing_learned()
    {
        return Err(error);
    }
    let edits = knowledge.catch_up(&bench.project);
    let day = today(0);
    let mut sources = Sources::new(&bench.project);
    let present = Present::find(&knowledge, &quarantine, &day, threshold, &mut sources);
    let bar = Bar::new(printer.shows_progress());
    bar.message("running the suite once");
    let recording = Recording {
        failing_only: true,
        // Rewritten tests stay, so that the next gate does not rewrite them.
        bytecode: bench.location.bytecode(),
        functions: false,
        filtered: present
            .filtered
            .iter()
            .map(|(test, sites)| (test.clone(), sites.keys().cloned().collect()))
            .collect(),
        ..super::learn::recording(&bench, &config.measure)
    };
    let recording = Arc::new(recording);
    let (suite, facts, record) = bench.run_once(Arc::clone(&recording), None)?;
    let mut gate = Gate {
        knowledge: &knowledge,
        quarantine: &quarantine,
        present: &present,
        edits: &edits,
        day: &day,
        sources,
        reruns: BTreeMap::new(),
    };
    let open = gate.unexplained(&suite, &record);
    if args.reruns > 0 && !open.is_empty() {
        bar.message("running what failed again");
        for _ in 0..args.reruns {
            let Some(selected) = facts.arguments.selecting(&suite, &open) else {
                bar.suspend(|| {
                    printer.note(&format!(
                        "what failed is not run again: no command names just these {} tests",
                        open.len()
                    ))
                });
                break;
            };
            let (suite, _, record) = bench.run_once(Arc::clone(&recording), Some(selected))?;
            gate.rerun(&suite, &record);
        }
    }
    bar.clear();
    let tests = gate.tests(&suite, &record);
    let expired = expired(&quarantine, &day);
    let gated = |test: &report::Test| matches!(test.verdict, "failed" | "not_run");
    let failed = tests.iter().any(gated);
    let document = report::Document {
        schema: Schema::FILTER,
        flakelab: env!("CARGO_PKG_VERSION").into(),
        project: bench.project_name(),
        learned: knowledge.versions.clone(),
        threshold,
        filtered_assertions: present.count(),
        collection_errors: not_collected(&facts),
        unread: Vec::new(),
        passed: !failed && expired.is_empty() && facts.collection_errors.is_empty(),
        tests,
        expired,
        seconds: started.elapsed().as_secs_f64(),
    };
    publish(&document, &args.output, args.junit.as_deref(), printer)
}

/// Entries past their day.
pub(super) fn expired(quarantine: &Quarantine, day: &str) -> Vec<report::Expired> {
    quarantine
        .expired(day)
        .into_iter()
        .map(|entry| report::Expired {
            test: entry.test.clone(),
            expires: entry.expires.clone(),
            owner: entry.owner.clone(),
            reason: entry.reason.clone(),
        })
        .collect()
}

/// Everywhere a result goes; the exit code.
pub(super) fn publish(
    document: &report::Document,
    output: &OutputArgs,
    junit: Option<&Path>,
    printer: Printer,
) -> crate::Outcome {
    let json = serde_json::to_string_pretty(document)
        .map_err(|e| CliError::new(error::INTERNAL, e.to_string()))?;
    let text = report::terminal(document, printer.volume == Volume::Verbose);
    deliver::deliver(&json, &text, output, printer)?;
    if let Some(path) = junit {
        let xml = report::junit(document).map_err(|e| CliError::new(error::INTERNAL, chain(&e)))?;
        deliver::write(path, &xml)?;
    }
    deliver::summarise(&report::markdown(document), printer);
    if std::env::var_os("GITHUB_ACTIONS").is_some_and(|v| v == "true") {
        for line in report::annotations(document) {
            printer.command(&line);
        }
    }
    Ok(if document.passed {
        error::CLEAN
    } else if document.is_inconclusive() {
        error::INCONCLUSIVE
    } else {
        error::FINDINGS
    })
}

struct Gate<'a> {
    knowledge: &'a Knowledge,
    quarantine: &'a Quarantine,
    present: &'a Present,
    edits: &'a Edits,
    day: &'a str,
    sources: Sources,
    /// What reruns on this version saw of a test: held or not.
    reruns: BTreeMap<String, Seen>,
}

/// The traces of a record by position.
fn traces(record: &RunRecord) -> (Option<&Trace>, BTreeMap<u32, &TestTrace>) {
    let trace = record.trace.as_deref();
    let tests = trace.into_iter().flat_map(|t| &t.tests);
    (trace, tests.map(|test| (test.position, test)).collect())
}

impl Gate<'_> {
    /// Tests whose failure is not known to be a flake: worth another run.
    fn unexplained(&mut self, suite: &Suite, record: &RunRecord) -> Vec<TestIndex> {
        let tests = self.tests(suite, record);
        let open = |test: &report::Test| {
            let kinds = test.failures.iter().filter(|f| !f.filtered).map(|f| f.kind);
            test.verdict == "failed" && kinds.clone().any(|kind| kind != Kind::Flaky.word())
        };
        suite
            .indices()
            .zip(&tests)
            .filter(|(_, test)| open(test))
            .map(|(index, _)| index)
            .collect()
    }

    fn rerun(&mut self, suite: &Suite, record: &RunRecord) {
        let (_, seen) = traces(record);
        for (position, execution) in record.executions.iter().enumerate() {
            if execution.outcome == Outcome::NotRun {
                continue;
            }
            let seen = seen.get(&(position as u32));
            // A test that passes because failures of it were passed over does not hold.
            let held = execution.outcome.polarity() == Polarity::Pass
                && seen.is_some_and(|seen| seen.filtered.is_empty());
            let id = suite.id(execution.test).to_string();
            self.reruns.entry(id).or_default().add("", held);
        }
    }

    fn tests(&mut self, suite: &Suite, record: &RunRecord) -> Vec<report::Test> {
        let (trace, seen) = traces(record);
        let mut tests = Vec::with_capacity(record.executions.len());
        for (position, execution) in record.executions.iter().enumerate() {
            let id = suite.id(execution.test).to_string();
            let seen = seen.get(&(position as u32)).copied();
            let failures = self.failures(&id, &execution.outcome, trace.zip(seen));
            let verdict = match &execution.outcome {
                Outcome::Skipped => "skipped",
                Outcome::NotRun => "not_run",
                _ if failures.iter().any(|f| !f.filtered) => "failed",
                _ if failures.is_empty() => "passed",
                _ => "filtered",
            };
            tests.push(report::Test {
                id,
                outcome: execution.outcome.word().to_owned(),
                verdict,
                seconds: f64::from(execution.micros) / 1e6,
                failures,
            });
        }
        tests
    }

    fn failures(
        &mut self,
        id: &str,
        outcome: &Outcome,
        seen: Option<(&Trace, &TestTrace)>,
    ) -> Vec<report::Failure> {
        let mut found = Vec::new();
        let mut explained = false;
        if let Some((trace, seen)) = seen {
            let text = |number: u32| trace.texts[number as usize].as_str();
            let pairs = |pairs: &'_ [(u32, u32)]| -> Vec<(String, String)> {
                pairs
                    .iter()
                    .map(|(e, v)| (text(*e).to_owned(), text(*v).to_owned()))
                    .collect()
            };
            let (values, verdicts) = (pairs(&seen.values), pairs(&seen.verdicts));
            let passed_over: BTreeMap<(&str, u32, u32), &str> = seen
                .filtered
                .iter()
                .filter_map(|(element, message)| Some((place(text(*element))?, text(*message))))
                .collect();
            let observed = self.sources.observe(
                id,
                values.iter().map(|(e, v)| (e.as_str(), v.as_str())),
                verdicts.iter().map(|(e, v)| (e.as_str(), v.as_str())),
            );
            for (identity, observed) in observed.into_iter().filter(|(_, o)| !o.held) {
                let (file, line, column) = &observed.site;
                let message = passed_over.get(&(file.as_str(), *line, *column)).copied();
                let raised = message.is_none();
                explained |= raised;
                let message = message.map_or_else(
                    || {
                        outcome
                            .failure()
                            .map(|f| f.message.clone())
                            .unwrap_or_default()
                    },
                    str::to_owned,
                );
                // An assertion that failed and was caught by the test itself is the test's own business.
                if raised && outcome.failure().is_none() {
                    continue;
                }
                found.push(self.assertion(&identity, &observed, message, !raised));
            }
        }
        if let (Some(failure), false) = (outcome.failure(), explained) {
            found.push(self.error(id, failure));
        }
        let whole = self
            .quarantine
            .covering(id, None)
            .filter(|e| !e.is_expired(self.day));
        if let Some(entry) = whole {
            for failure in &mut found {
                failure.filtered = true;
                failure.because = Some(format!(
                    "the test is in quarantine until {}: {}",
                    entry.expires, entry.reason
                ));
            }
        }
        found
    }

    fn assertion(
        &mut self,
        identity: &Identity,
        observed: &Observed,
        message: String,
        passed_over: bool,
    ) -> report::Failure {
        let known = self
            .present
            .known(identity, self.knowledge, &mut self.sources);
        let evidence = known.map(|known| &known.evidence);
        let sorted = sort(&observed.value, evidence, self.reruns.get(&identity.test));
        let reason = self.present.reason(&identity.test, &observed.site);
        let in_quarantine = self
            .quarantine
            .covering(&identity.test, Some(&identity.text))
            .is_some();
        // What varies is passed over as far as it varies: anything else is news.
        let filtered = passed_over && (in_quarantine || sorted.kind == Kind::Flaky);
        let label = self.knowledge.label(&identity.test, &identity.text);
        report::Failure {
            assertion: Some(identity.text.clone()),
            at: format!("{}:{}", observed.site.0, observed.site.1),
            message,
            value: Some(shown(&observed.value)),
            kind: sorted.kind.word(),
            evidence: sorted.evidence,
            score: evidence.map_or(0.0, |e| e.score()),
            filtered,
            because: reason
                .filter(|_| filtered)
                .map(|reason| reason.because.clone()),
            edited: (sorted.kind == Kind::Changed).then(|| self.edited(&identity.test)),
            label: label.map(|label| label.label.clone()),
        }
    }

    /// A failure that is no assertion: known by how it fails.
    fn error(&mut self, id: &str, failure: &flakelab_model::Failure) -> report::Failure {
        let signature = failure.signature();
        let lessons = self.knowledge.living(id);
        let runs: u64 = lessons.iter().map(|lesson| lesson.runs).sum();
        let wavering = lessons.iter().filter(|lesson| lesson.wavers());
        let same: u64 = wavering
            .filter_map(|lesson| lesson.signatures.get(&signature))
            .sum();
        let reruns = self.reruns.get(id).filter(|seen| seen.passed > 0);
        let (kind, evidence) = if let Some(seen) = reruns {
            (
                Kind::Flaky,
                format!(
                    "passed in {} of {} reruns on this very version",
                    seen.passed,
                    seen.runs()
                ),
            )
        } else if runs == 0 {
            (
                Kind::New,
                "no version that was learned has this test".to_owned(),
            )
        } else if same > 0 {
            (
                Kind::Flaky,
                format!("failed like this in {same} of {runs} runs that were learned"),
            )
        } else {
            (
                Kind::Changed,
                format!("never failed like this in {runs} runs that were learned"),
            )
        };
        report::Failure {
            assertion: None,
            at: failure.at.clone(),
            message: failure.message.clone(),
            value: None,
            kind: kind.word(),
            evidence,
            score: self.knowledge.test_score(id),
            filtered: false,
            because: None,
            edited: (kind == Kind::Changed).then(|| self.edited(id)),
            label: self
                .knowledge
                .label(id, "")
                .map(|label| label.label.clone()),
        }
    }

    fn edited(&mut self, test: &str) -> &'static str {
        let newest = self
            .knowledge
            .tests
            .get(test)
            .and_then(|lessons| lessons.first());
        let functions = newest.map_or(&[][..], |(_, lesson)| &lesson.functions);
        edited::concerning(test, functions, self.edits, &mut self.sources)
    }
}
