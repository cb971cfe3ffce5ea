//! `flakelab mutate`: from arguments to mutants to a document.

mod document;
mod files;
mod progress;
mod simulate;
mod spool;
mod toolchain;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Seek;
use std::time::Instant;

use flakelab_lab::{Lab, LabError};
use flakelab_mutate::{
    Collecting, File, Found, Matrix, MatrixMutant, MatrixSchema, MatrixTest, Mutating, Reruns,
    Settings, Surroundings, digest,
};
use flakelab_report::mutate as report;
use flakelab_runners::process::git;
use flakelab_runners::pytest::PytestLab;
use flakelab_source::mutants::Operator;
use serde_json::json;

use crate::args::{CoverageArg, MutateArgs, MutateCommand, RerunArg, WhichArgs};
use crate::config;
use crate::error::{self, CliError};
use crate::printer::Volume;
use crate::project;
use crate::workbench::{
    self, Asked, Bar, EarlierJournal, Project, StoreJournal, Workbench, deliver, lab_error,
};

/// Executions of changed code by one test that are plenty.
const MOST_HITS: u64 = 100_000;

pub(crate) fn run(args: &MutateArgs) -> crate::Outcome {
    match &args.command {
        Some(MutateCommand::Simulate(args)) => simulate::run(args),
        None => mutate(args),
    }
}

fn mutate(args: &MutateArgs) -> crate::Outcome {
    let started = Instant::now();
    let (mut bench, config) = Workbench::settle(
        &args.project.path,
        &args.project.pytest_args,
        args.campaign.seed,
        &args.lab,
        &args.output,
    )?;
    let printer = bench.printer;
    let views = &args.views;
    let matrix = args.how.matrix.as_ref().and_then(Option::as_ref);
    let others = [&views.html, &views.junit].into_iter().flatten();
    deliver::check_all(&args.output, others.chain(matrix))?;
    let mut settings = settings(args, &bench, &config.mutate)?;
    let configuration = configuration(args, &settings, &config.mutate, &bench);
    let asked = Asked {
        verb: "mutate",
        configuration: &configuration,
    };
    let (early, last) = bench.earlier(args.campaign.resume, asked)?;
    settings.seed = bench.seed;
    let bar = Bar::new(printer.shows_progress());
    let mut lab = bench.open_lab(&bar)?;
    settings.forks = lab.facts().cold_because.is_none();
    let found = wanted(args, &config.mutate, &bench, &lab)?;
    settings.environment = surroundings(&bench, &lab, &found.others);
    let store = early.map_or_else(|| bench.open_store(), Ok)?;
    let anew = args.how.fresh || !settings.mutants.is_empty();
    let before = EarlierJournal {
        store: Some(&store).filter(|_| !anew),
        verb: asked.verb,
    };
    let campaign = workbench::begin(&bench, &store, &lab, asked, last)?;
    let mut gathered = document::Gathered::new().map_err(internal)?;
    let mut rows = Vec::new();
    let mut tools = toolchain::Interpreter {
        bench: &bench,
        settled: lab.settled(),
    };
    let mutating = flakelab_mutate::mutate(
        &mut lab,
        &mut Surroundings {
            tools: &mut tools,
            tree: &Project(bench.project.clone()),
            journal: &mut StoreJournal::new(&store, campaign),
            earlier: &before,
            watch: &mut progress::MutateWatch(&bar),
        },
        &found.files,
        &settings,
        &mut |found: Found| {
            if settings.matrix {
                rows.push(MatrixMutant {
                    id: found.id.clone(),
                    pairs: found.pairs.clone(),
                });
            }
            let taken = gathered.take(found);
            taken.map_err(|e| LabError::broken(format!("the result cannot be written: {e}")))
        },
    );
    bar.clear();
    let mutating = mutating.map_err(|e| lab_error(e, &bench))?;
    if let Some(path) = matrix {
        let matrix = matrix_of(&bench, &lab, &mutating, rows);
        let json = serde_json::to_string(&matrix).map_err(internal)?;
        deliver::write(path, format!("{json}\n"))?;
    }
    let base = args.which.diff.clone();
    let wall = started.elapsed();
    let (document, all) = document::build(gathered, &mutating, &lab, &bench, &settings, base, wall)
        .map_err(internal)?;
    check(&document, &mutating, &settings, &lab)?;
    let (mut json, bytes) = spool::written(&document.with(&all)).map_err(internal)?;
    store
        .finish_from(campaign, &json, bytes)
        .map_err(CliError::store)?;
    json.rewind().map_err(internal)?;
    show(args, &document, &all, json, &found.files, &bench)?;
    Ok(exit_code(
        &document.totals,
        views.fail_under.or(config.mutate.fail_under),
        document.campaign.diff_base.is_none(),
    ))
}

fn internal(error: impl std::fmt::Display) -> CliError {
    CliError::new(error::INTERNAL, error.to_string())
}

fn exit_code(totals: &report::Totals, fail_under: Option<f64>, all_lines: bool) -> u8 {
    let decided = totals.killed + totals.survived;
    let counted = decided + totals.unknown;
    // Counts, not shares: 57 of 100 are 56.99999999999999 %.
    let low = (totals.killed * 100) as f64;
    let bad = match fail_under {
        Some(percent) => low < percent * counted as f64,
        None => totals.survived > 0,
    };
    if decided == 0 && (all_lines || totals.unknown > 0) {
        // Nothing counts, or all that does is unknown.
        error::INCONCLUSIVE
    } else if bad {
        error::FINDINGS
    } else {
        error::CLEAN
    }
}

/// What makes a campaign worth nothing.
fn check(
    document: &report::Document,
    mutating: &Mutating,
    settings: &Settings,
    lab: &PytestLab,
) -> Result<(), CliError> {
    let broken = |message: &str| CliError::new(error::BROKEN_SUITE, message);
    if mutating.set_aside.len() >= lab.suite().len() && !mutating.set_aside.is_empty() {
        let mut e =
            broken("no test passes without a mutant, so none can tell that something changed")
                .hint("make the suite green first: run it with plain pytest");
        for (test, why) in mutating.set_aside.iter().take(5) {
            e = e.detail(format!("{test}: {why}"));
        }
        return Err(e);
    }
    let of = |status| document.totals.of(status);
    let all: u64 = report::Status::ALL.into_iter().map(of).sum();
    let chosen = settings.lines.is_some() || !settings.mutants.is_empty();
    if of(report::Status::NotCovered) == all && !chosen && all > 0 {
        return Err(
            broken("no test reaches any of the code that may be changed").hint(
                "do tests import the project from where it is installed? `pip install -e .` makes them import this \
                 folder; --only and --exclude choose files",
            ),
        );
    }
    Ok(())
}

fn show(
    args: &MutateArgs,
    document: &report::Document,
    all: &spool::Spooled,
    json: std::fs::File,
    files: &[File],
    bench: &Workbench,
) -> Result<(), CliError> {
    let (views, printer) = (&args.views, bench.printer);
    // Views that show every mutant.
    let whole = if views.html.is_some() || views.junit.is_some() {
        let mutants = all.iter().and_then(Iterator::collect).map_err(internal)?;
        Some(document.with::<Vec<report::Mutant>>(mutants))
    } else {
        None
    };
    if let (Some(path), Some(document)) = (&views.html, &whole) {
        let sources: BTreeMap<String, String> = files
            .iter()
            .map(|file| (file.path.clone(), file.text.clone()))
            .collect();
        deliver::write(path, report::page(document, &sources))?;
    }
    if let (Some(path), Some(document)) = (&views.junit, &whole) {
        let xml = report::junit(document).map_err(internal)?;
        deliver::write(path, xml)?;
    }
    let text = report::terminal(document, printer.volume == Volume::Verbose);
    deliver::deliver_from(json, &text, &args.output, printer)?;
    let on_github = std::env::var_os("GITHUB_ACTIONS").is_some_and(|v| v == "true");
    if views.annotations || on_github {
        for line in report::annotations(document) {
            printer.command(&line);
        }
    }
    deliver::summarise(&report::markdown(document), printer);
    Ok(())
}

fn settings(
    args: &MutateArgs,
    bench: &Workbench,
    config: &config::Mutate,
) -> Result<Settings, CliError> {
    let how = &args.how;
    let given = how.reruns.as_ref().or(config.reruns.as_ref());
    let reruns = match given.map(Vec::as_slice) {
        None => [5; 4],
        Some([all]) => [*all; 4],
        Some([a, b, c, d]) => [*a, *b, *c, *d],
        Some(other) => {
            return Err(CliError::usage(format!(
                "--reruns: {} numbers, where there is one, or one for each of the four rungs",
                other.len()
            ))
            .hint("e.g. `--reruns 5` or `--reruns 5,5,3,1`"));
        }
    };
    let most_hits = how.hits.or(config.hits).unwrap_or(MOST_HITS);
    let sample = args.which.sample.or(config.sample);
    if most_hits == 0 || sample == Some(0) {
        return Err(
            CliError::usage("--hits 0, --sample 0: nothing would be left to run")
                .hint("leave the option out, or give a number"),
        );
    }
    let coverage = how.coverage.or(config.coverage);
    Ok(Settings {
        seed: bench.seed,
        collecting: match coverage {
            Some(CoverageArg::Isolated) => Collecting::Isolated,
            Some(CoverageArg::Default) | None => Collecting::Together,
        },
        coverage_reruns: how.coverage_reruns.or(config.coverage_reruns).unwrap_or(3),
        reruns: Reruns {
            same_process: reruns[0],
            process_per_mutant: reruns[1],
            process_per_pair: reruns[2],
            fresh_interpreter: reruns[3],
        },
        immediate: how.rerun.or(config.rerun) != Some(RerunArg::Later),
        matrix: how.matrix.is_some(),
        sample,
        mutants: args.which.mutant.iter().cloned().collect(),
        lines: lines(&args.which, bench)?,
        without: without(&args.which, config)?,
        most_hits,
        timeout: bench.timeout,
        forks: true,
        environment: String::new(),
    })
}

/// What the user asked for, as far as it decides about verdicts.
fn configuration(
    args: &MutateArgs,
    settings: &Settings,
    config: &config::Mutate,
    bench: &Workbench,
) -> String {
    let reruns = settings.reruns;
    json!({
        "coverage": settings.collecting.word(),
        "coverage_reruns": settings.coverage_reruns,
        "reruns": [reruns.same_process, reruns.process_per_mutant, reruns.process_per_pair, reruns.fresh_interpreter],
        "immediate": settings.immediate,
        "matrix": settings.matrix,
        "sample": settings.sample,
        "mutants": settings.mutants,
        "diff": args.which.diff,
        "only": given(&args.which.only, config.only.as_ref()),
        "exclude": given(&args.which.exclude, config.exclude.as_ref()),
        "without": settings.without,
        "hits": settings.most_hits,
        "pytest_args": bench.pytest_args,
    })
    .to_string()
}

fn given(arguments: &[String], configured: Option<&Vec<String>>) -> Vec<String> {
    match configured {
        Some(configured) if arguments.is_empty() => configured.clone(),
        _ => arguments.to_vec(),
    }
}

fn without(which: &WhichArgs, config: &config::Mutate) -> Result<Vec<String>, CliError> {
    let words = given(&which.without, config.without.as_ref());
    let known = Operator::ALL.map(Operator::word);
    if let Some(word) = words.iter().find(|word| !known.contains(&word.as_str())) {
        let mut e = CliError::usage(format!("`{word}` is no operator"))
            .hint("leave out one of those with --without");
        for operator in Operator::ALL {
            e = e.detail(format!("{:22} {}", operator.word(), operator.says()));
        }
        return Err(e);
    }
    Ok(words)
}

type Lines = Option<BTreeMap<String, Vec<(usize, usize)>>>;

fn lines(which: &WhichArgs, bench: &Workbench) -> Result<Lines, CliError> {
    let Some(base) = &which.diff else {
        return Ok(None);
    };
    let edits = git::edits_since(&bench.project, base).ok_or_else(|| {
        CliError::usage(format!(
            "what changed since `{base}` is unknown: git does not say"
        ))
        .hint("--diff takes a commit or branch that git knows, in a project that git knows")
    })?;
    let mut lines = edits.lines;
    for file in git::untracked(&bench.project).unwrap_or_default() {
        lines.insert(file, vec![(1, usize::MAX)]);
    }
    Ok(Some(lines))
}

fn wanted(
    args: &MutateArgs,
    config: &config::Mutate,
    bench: &Workbench,
    lab: &PytestLab,
) -> Result<files::Found, CliError> {
    let only = given(&args.which.only, config.only.as_ref());
    let exclude = given(&args.which.exclude, config.exclude.as_ref());
    let patterns = files::Patterns::new(&bench.project, &only, &exclude)?;
    let found = files::find(&bench.project, lab, &patterns);
    if found.files.is_empty() {
        return Err(CliError::usage("there is no Python file that may be changed").hint(
            "tests, `conftest.py`, `docs` and their like are left alone; --only names files all the same",
        ));
    }
    check_ids(&args.which.mutant, &found.files)?;
    Ok(found)
}

/// Mutants that were named must be there.
fn check_ids(named: &[String], files: &[File]) -> Result<(), CliError> {
    let mut missing: BTreeSet<&str> = named.iter().map(String::as_str).collect();
    for file in files {
        if missing.iter().any(|id| id.starts_with(&file.path)) {
            for id in flakelab_mutate::ids(file) {
                missing.remove(id.as_str());
            }
        }
    }
    let Some(id) = missing.first() else {
        return Ok(());
    };
    Err(CliError::usage(format!("there is no mutant `{id}`"))
        .hint("ids are in the result of `flakelab mutate`, and change when their function does"))
}

/// What verdicts depend on besides the code that is executed: see `reuse.rs`.
fn surroundings(bench: &Workbench, lab: &PytestLab, others: &[(String, String)]) -> String {
    let facts = lab.facts();
    let packages = bench.packages().unwrap_or_default();
    json!({
        "python": facts.python,
        "pytest": facts.pytest,
        "packages": packages,
        "args": bench.pytest_args,
        "settings": digest(&project::settings(&bench.project)).to_string(),
        "others": digest(&others).to_string(),
    })
    .to_string()
}

fn matrix_of(
    bench: &Workbench,
    lab: &PytestLab,
    mutating: &Mutating,
    mutants: Vec<MatrixMutant>,
) -> Matrix {
    let tests = lab.suite().ids().iter().zip(&mutating.micros);
    Matrix {
        schema: MatrixSchema::default(),
        project: bench.project_name(),
        tests: tests
            .map(|(id, micros)| MatrixTest {
                id: id.to_string(),
                micros: u64::from(*micros),
            })
            .collect(),
        mutants: mutants
            .into_iter()
            .filter(|mutant| !mutant.pairs.is_empty())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(killed: u64, survived: u64, unknown: u64, fail_under: Option<f64>) -> u8 {
        let totals = report::Totals {
            killed,
            survived,
            unknown,
            ..report::Totals::default()
        };
        exit_code(&totals, fail_under, true)
    }

    #[test]
    fn a_score_that_is_just_reached_is_reached() {
        for killed in 1..100 {
            let percent = Some(killed as f64);
            assert_eq!(code(killed, 100 - killed, 0, percent), error::CLEAN);
            assert_eq!(code(killed - 1, 101 - killed, 0, percent), error::FINDINGS);
        }
        assert_eq!(code(57, 40, 3, Some(57.0)), error::CLEAN);
        assert_eq!(code(2, 1, 0, Some(66.7)), error::FINDINGS);
    }

    #[test]
    fn nothing_decided_is_inconclusive() {
        assert_eq!(code(0, 0, 7, None), error::INCONCLUSIVE);
        assert_eq!(code(0, 0, 7, Some(50.0)), error::INCONCLUSIVE);
        assert_eq!(code(0, 0, 0, None), error::INCONCLUSIVE);
        assert_eq!(code(1, 0, 7, None), error::CLEAN);
        assert_eq!(code(0, 1, 7, None), error::FINDINGS);
        // No mutant on the lines that were changed.
        let none = report::Totals::default();
        assert_eq!(exit_code(&none, Some(80.0), false), error::CLEAN);
    }
}
