//! `flakelab filter learn`: runs the suite as it comes, and writes down what every assertion saw.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use flakelab_filter::{Identity, Seen, match_up, renamed_test};
use flakelab_lab::Lab;
use flakelab_measure::{
    Configuration, Layer, Measurement, Pool, Run, SnapshotId, Wanted, uncontrolled,
};
use flakelab_model::{Recording, TestIndex};
use flakelab_store::Lesson;
use serde_json::json;

use super::assertions::{Observed, Sources};
use super::knowledge::{Kept, Knowledge, TestLesson};
use super::version_of;
use crate::args::LearnArgs;
use crate::commands::measure::{journal, means};
use crate::config::Measure;
use crate::error::{self, CliError};
use crate::workbench::{self, Asked, Bar, Workbench, deliver, lab_error};

/// An outage: so large a part of the tests fails that it says nothing about any of them.
const OUTAGE: f64 = 0.5;
/// A suite of a few tests may well fail as a whole.
const FEWEST_TESTS: usize = 5;
const LAYERS: [Layer; 4] = [
    Layer::Outcome,
    Layer::Assertions,
    Layer::Verdicts,
    Layer::Code,
];

pub(super) fn run(args: &LearnArgs) -> crate::Outcome {
    let (mut bench, config) = Workbench::settle(
        &args.project.path,
        &args.project.pytest_args,
        args.campaign.seed,
        &args.lab,
        &args.output,
    )?;
    let printer = bench.printer;
    deliver::check_all(&args.output, [])?;
    if args.runs < 2 {
        return Err(CliError::usage(format!(
            "--runs {}: what varies shows between two runs at least",
            args.runs
        ))
        .hint("ten runs are usual"));
    }
    let version = version_of(args.version.as_deref(), &bench)?;
    let configuration = json!({
        "version": version,
        "runs": args.runs,
        "fields": config.measure.fields,
        "pytest_args": bench.pytest_args,
    })
    .to_string();
    let asked = Asked {
        verb: "filter learn",
        configuration: &configuration,
    };
    let (early, last) = bench.earlier(args.campaign.resume, asked)?;
    if last.as_ref().is_some_and(|campaign| campaign.finished) {
        return Err(
            CliError::usage("the last campaign came to its end: its runs are learned")
                .hint("without --resume the suite is run anew, and what it teaches is added"),
        );
    }
    let bar = Bar::new(printer.shows_progress());
    let mut lab = bench.open_lab(&bar)?;
    let means = means::probe(&bench, &lab, &[], &[])?;
    let store = early.map_or_else(|| bench.open_store(), Ok)?;
    let campaign = workbench::begin(&bench, &store, &lab, asked, last)?;
    let wanted = Wanted {
        seed: bench.seed,
        layers: LAYERS.into(),
        configurations: vec![Configuration::new(
            "as it comes",
            &uncontrolled(&means.unavailable),
            args.runs,
        )],
        recording: Arc::new(recording(&bench, &config.measure)),
        timeout: bench.timeout,
        impatient: bench.impatient,
        budget: None,
    };
    let mut kept =
        journal::StoreJournal::new(&store, campaign).map_err(|e| lab_error(e, &bench))?;
    let measurement = flakelab_measure::measure(
        &mut lab,
        &wanted,
        &mut kept,
        &mut journal::MeasureWatch(&bar),
    );
    bar.clear();
    let measurement = measurement.map_err(|e| lab_error(e, &bench))?;
    for note in &measurement.notes {
        printer.note(note);
    }
    let Some(runs) = measurement.configurations.first().map(|c| &c.runs) else {
        return Err(
            CliError::new(error::INCONCLUSIVE, "no run of the suite came to its end").hint(
                "`flakelab filter run -v` shows what happens; --run-timeout gives it more time",
            ),
        );
    };
    let (telling, outages) = without_outages(runs, &measurement.pool);
    if outages > 0 {
        printer.note(&format!(
            "{outages} of {} runs teach nothing: most tests failed at once",
            runs.len()
        ));
    }
    if telling.is_empty() {
        return Err(CliError::new(
            error::INCONCLUSIVE,
            "most tests failed in every run; nothing was learned",
        )
        .hint("an outage says nothing about assertions; try again when the suite works"));
    }
    let mut knowledge = Knowledge::load(&store)?;
    let before = Knowledge::load(&store)?;
    let edits = knowledge.catch_up(&bench.project);
    let moved = Moved::of(&before, &edits.renamed);
    let taught = teach(&telling, &measurement, &lab, &knowledge, &bench, &version);
    let text = super::taught::text(&taught, &version, telling.len());
    let document = super::taught::document(&taught, &version, telling.len());
    let lesson = lesson(taught, moved, version)?;
    let learned = json!({"learned": configuration}).to_string();
    store
        .learn(campaign, &learned, &lesson)
        .map_err(CliError::store)?;
    deliver::deliver(&format!("{document:#}"), &text, &args.output, printer)?;
    printer.next("`flakelab filter run` gates with it, `flakelab filter tune` draws the curves");
    Ok(error::CLEAN)
}

/// What a run writes down, the fields of objects that `measure` looks at included.
pub(super) fn recording(bench: &Workbench, measure: &Measure) -> Recording {
    Recording {
        fields: measure.fields.clone(),
        assertions: true,
        functions: true,
        sources: vec![bench.project.clone()],
        names: bench.project.clone(),
        ..Recording::default()
    }
}

/// The runs that say something, and how many do not.
fn without_outages<'a>(runs: &'a [Run], pool: &Pool) -> (Vec<&'a Run>, usize) {
    let is_outage = |run: &&Run| {
        let outcomes: Vec<&str> = run
            .snapshots
            .get(&Layer::Outcome)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|id| outcome(pool, *id))
            .collect();
        let failed = outcomes.iter().filter(|o| is_failure(o)).count();
        outcomes.len() >= FEWEST_TESTS && failed as f64 > OUTAGE * outcomes.len() as f64
    };
    let (outages, telling): (Vec<&Run>, Vec<&Run>) = runs.iter().partition(is_outage);
    (telling, outages.len())
}

fn is_failure(outcome: &str) -> bool {
    matches!(outcome, "failed" | "errored" | "timed_out" | "crashed")
}

fn pairs(pool: &Pool, id: SnapshotId) -> Vec<(&str, &str)> {
    let content = pool.content(id).iter();
    content
        .map(|(element, value)| (pool.name(*element), pool.name(*value)))
        .collect()
}

fn outcome(pool: &Pool, id: SnapshotId) -> Option<&str> {
    let found = pairs(pool, id)
        .into_iter()
        .find(|(element, _)| *element == "outcome");
    found.map(|(_, value)| value)
}

/// What a version teaches, before it is kept.
pub(super) struct Taught {
    /// The number of the assertion, if it was known.
    pub(super) assertions: Vec<(Option<i64>, Kept, Seen)>,
    pub(super) tests: BTreeMap<String, TestLesson>,
}

fn teach(
    runs: &[&Run],
    measurement: &Measurement,
    lab: &dyn Lab,
    knowledge: &Knowledge,
    bench: &Workbench,
    version: &str,
) -> Taught {
    let pool = &measurement.pool;
    let mut sources = Sources::new(&bench.project);
    let mut seen: BTreeMap<Identity, ((u32, i64), Seen)> = BTreeMap::new();
    let mut tests: BTreeMap<String, TestLesson> = BTreeMap::new();
    for run in runs {
        for test in lab.suite().indices() {
            let at = |layer: Layer| -> Vec<(&str, &str)> {
                let id = run.snapshots.get(&layer).and_then(|s| s[test.0 as usize]);
                id.map(|id| pairs(pool, id)).unwrap_or_default()
            };
            let id = lab.suite().id(TestIndex(test.0)).to_string();
            let lesson = tests.entry(id.clone()).or_default();
            let outcomes = at(Layer::Outcome);
            if outcomes.is_empty() {
                continue;
            }
            lesson.runs += 1;
            if outcomes
                .iter()
                .any(|(e, v)| *e == "outcome" && is_failure(v))
            {
                lesson.failed += 1;
                let failure = outcomes.iter().find(|(element, _)| *element == "failure");
                let signature = failure.map_or("", |(_, value)| *value);
                *lesson.signatures.entry(signature.to_owned()).or_default() += 1;
            }
            let functions: BTreeSet<&str> = at(Layer::Code).into_iter().map(|(e, _)| e).collect();
            let known: BTreeSet<&str> = lesson.functions.iter().map(String::as_str).collect();
            lesson.functions = known.union(&functions).map(|f| (*f).to_owned()).collect();
            let observed = sources.observe(
                &id,
                at(Layer::Assertions).into_iter(),
                at(Layer::Verdicts).into_iter(),
            );
            for (
                identity,
                Observed {
                    value,
                    held,
                    offset,
                    ..
                },
            ) in observed
            {
                let entry = seen.entry(identity).or_insert((offset, Seen::default()));
                entry.1.add(&value, held);
            }
        }
    }
    tests.retain(|_, lesson| lesson.runs > 0);
    let present: Vec<Identity> = seen.keys().cloned().collect();
    let earlier: Vec<Identity> = knowledge
        .assertions
        .iter()
        .map(|known| known.kept.identity.clone())
        .collect();
    let matched = match_up(&earlier, &present, &BTreeMap::new());
    // Learned once more, whenever that was: its runs count together.
    let age = knowledge.age(version);
    let same = |of: &usize| Some(*of) == age;
    for (test, lesson) in &mut tests {
        let known = knowledge.tests.get(test).into_iter().flatten();
        if let Some((_, before)) = known.into_iter().find(|(of, _)| same(of)) {
            lesson.join(before);
        }
    }
    let assertions = seen
        .into_iter()
        .zip(matched)
        .map(|((identity, (offset, mut seen)), earlier)| {
            let known = earlier.map(|at| &knowledge.assertions[at]);
            let mut evidence = known.into_iter().flat_map(|k| &k.evidence.versions);
            if let Some((_, before)) = evidence.find(|(of, _)| same(of)) {
                seen.join(before);
            }
            (known.map(|k| k.number), Kept { identity, offset }, seen)
        })
        .collect();
    Taught { assertions, tests }
}

/// What is called something else because its file was renamed, whether this version's runs met it or not.
struct Moved {
    assertions: Vec<(i64, Kept)>,
    tests: Vec<(String, String)>,
}

impl Moved {
    fn of(knowledge: &Knowledge, files: &BTreeMap<String, String>) -> Self {
        let assertions = knowledge.assertions.iter().filter_map(|known| {
            let identity = known.kept.identity.renamed(files);
            let moved = identity != known.kept.identity;
            let offset = known.kept.offset;
            moved.then_some((known.number, Kept { identity, offset }))
        });
        let labelled = knowledge.labels.iter().map(|label| &label.test);
        let tests: BTreeSet<&String> = knowledge.tests.keys().chain(labelled).collect();
        let tests = tests
            .into_iter()
            .filter_map(|test| Some((test.clone(), renamed_test(test, files)?)));
        Self {
            assertions: assertions.collect(),
            tests: tests.collect(),
        }
    }
}

fn lesson(taught: Taught, moved: Moved, version: String) -> Result<Lesson, CliError> {
    let internal = |e: serde_json::Error| CliError::new(error::INTERNAL, e.to_string());
    let mut lesson = Lesson {
        version,
        moved_tests: moved.tests,
        ..Lesson::default()
    };
    for (number, kept) in &moved.assertions {
        let kept = serde_json::to_string(kept).map_err(internal)?;
        lesson.moved_assertions.push((*number, kept));
    }
    for (number, kept, seen) in &taught.assertions {
        let kept = serde_json::to_string(kept).map_err(internal)?;
        let seen = serde_json::to_string(seen).map_err(internal)?;
        lesson.assertions.push((*number, kept, seen));
    }
    for (test, learned) in &taught.tests {
        let learned = serde_json::to_string(learned).map_err(internal)?;
        lesson.tests.push((test.clone(), learned));
    }
    Ok(lesson)
}
