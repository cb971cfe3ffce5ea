//! Which assertions reveal bugs: those that fail on a commit that has one, or with a mutant of the code under test.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use flakelab_filter::{Identity, Kind, sort};
use flakelab_lab::{Lab, LabError};
use flakelab_model::{Isolation, Order, Outcome, Polarity, Recording, RunRequest, TestIndex};
use flakelab_runners::Scratch;
use flakelab_runners::process::git;
use flakelab_runners::pytest::OpenError;
use flakelab_source::{Assertions, Source, decode};

use super::assertions::Sources;
use super::knowledge::Knowledge;
use crate::config::Measure;
use crate::error::{self, CliError};
use crate::workbench::{Bar, Workbench, unkept};

/// Assertions that fail on a commit with something that was never seen here: a flake reveals nothing.
pub(super) fn of_commit(
    bench: &Workbench,
    commit: &str,
    knowledge: &Knowledge,
    measure: &Measure,
) -> Result<BTreeSet<Identity>, CliError> {
    let scratch = Scratch::create(&[std::env::temp_dir()])
        .map_err(|e| CliError::new(error::INTERNAL, e.to_string()))?;
    let archive = git::archive(&bench.project, commit).ok_or_else(|| {
        CliError::usage(format!("git knows no commit `{commit}` here"))
            .hint("--bad takes a commit, tag or branch of the project's repository")
    })?;
    let folder = scratch.path().join("bad");
    git::unpack(&archive, &folder)
        .map_err(|e| CliError::new(error::INTERNAL, format!("`{commit}` does not unpack: {e}")))?;
    let recording = Recording {
        failing_only: true,
        functions: false,
        sources: vec![folder.clone()],
        names: folder.clone(),
        ..super::learn::recording(bench, measure)
    };
    let (suite, _, record) = bench
        .elsewhere(&folder)
        .run_once(Arc::new(recording), None)?;
    let mut sources = Sources::new(&folder);
    let renamed = git::edits_since(&bench.project, commit)
        .unwrap_or_default()
        .renamed;
    let mut found = BTreeSet::new();
    let Some(trace) = record.trace.as_deref() else {
        return Ok(found);
    };
    for seen in &trace.tests {
        let Some(execution) = record.executions.get(seen.position as usize) else {
            continue;
        };
        let id = suite.id(execution.test).to_string();
        let text = |number: &u32| trace.texts[*number as usize].as_str();
        let observed = sources.observe(
            &id,
            seen.values.iter().map(|(e, v)| (text(e), text(v))),
            seen.verdicts.iter().map(|(e, v)| (text(e), text(v))),
        );
        for (identity, observed) in observed.into_iter().filter(|(_, o)| !o.held) {
            let identity = identity.renamed(&renamed);
            let known = knowledge.assertion(&identity);
            let kind = known.map(|known| sort(&observed.value, Some(&known.evidence), None).kind);
            if kind == Some(Kind::Changed) {
                found.insert(identity);
            }
        }
    }
    Ok(found)
}

/// Assertions that fail when a statement of the code under test is deleted.
pub(super) fn of_mutants(
    bench: &Workbench,
    knowledge: &Knowledge,
    most: usize,
    bar: &Bar,
) -> Result<BTreeSet<Identity>, CliError> {
    // Who runs which function.
    let mut tests: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (test, lessons) in &knowledge.tests {
        for function in lessons
            .iter()
            .take(1)
            .flat_map(|(_, lesson)| &lesson.functions)
        {
            tests.entry(function).or_default().push(test);
        }
    }
    let mutants = mutants(&bench.project, tests.keys().copied());
    let step = mutants.len().div_ceil(most.max(1)).max(1);
    let chosen: Vec<&Mutant> = mutants.iter().step_by(step).collect();
    bar.step(0, chosen.len());
    bar.message("mutants of the code under test");
    let mut sources = Sources::new(&bench.project);
    let mut found = BTreeSet::new();
    for mutant in chosen {
        bar.advance();
        let patched = vec![(bench.project.join(&mutant.file), mutant.text.clone())];
        let mut lab = match bench.open_variant(patched, None) {
            Ok(lab) => lab,
            Err(OpenError::Interrupted) => return Err(unkept(LabError::Interrupted)),
            // It does not collect any more.
            Err(_) => continue,
        };
        let covering = tests
            .get(mutant.function.as_str())
            .cloned()
            .unwrap_or_default();
        for (id, outcome) in alone(&mut lab, &covering, bench)? {
            let Some(failure) = outcome.failure() else {
                continue;
            };
            let identity = sources.at_line(&id, &bench.near(&failure.at));
            let known = identity
                .as_ref()
                .and_then(|identity| knowledge.assertion(identity));
            // One that fails without the mutant as well says nothing about it.
            if let (Some(identity), true) = (identity, known.is_some_and(|k| !k.evidence.wavers()))
            {
                found.insert(identity);
            }
        }
    }
    Ok(found)
}

struct Mutant {
    file: String,
    function: String,
    text: Vec<u8>,
}

/// One for each statement of functions that are no tests, if there is a program without it: a name without a value fails
/// in every test, whatever it asserts.
fn mutants<'a>(project: &Path, functions: impl Iterator<Item = &'a str>) -> Vec<Mutant> {
    let assertions = Assertions::with(std::iter::empty::<String>());
    let mut found = Vec::new();
    for function in functions {
        let Some((file, name)) = function.rsplit_once(':') else {
            continue;
        };
        let base = file.rsplit('/').next().unwrap_or(file);
        if base.starts_with("test") || base.ends_with("_test.py") || base == "conftest.py" {
            continue;
        }
        let name = name.split('@').next().unwrap_or(name);
        let path: Vec<&str> = name.split('.').collect();
        let Some(bytes) = std::fs::read(project.join(file)).ok() else {
            continue;
        };
        let Some(source) = decode(&bytes).and_then(|text| Source::parse(&text)) else {
            continue;
        };
        let Some(function_node) = source.function(&path) else {
            continue;
        };
        for statement in function_node.statements(&assertions) {
            if statement.why_not().is_some() {
                continue;
            }
            let text = statement.delete().applied(source.text());
            if let Some(text) = flakelab_source::encode(&text) {
                found.push(Mutant {
                    file: file.to_owned(),
                    function: function.to_owned(),
                    text,
                });
            }
        }
    }
    found
}

/// Each of these tests by itself.
fn alone(
    lab: &mut dyn Lab,
    tests: &[&str],
    bench: &Workbench,
) -> Result<Vec<(String, Outcome)>, CliError> {
    let suite = lab.suite().clone();
    let wanted: Vec<TestIndex> = suite
        .indices()
        .filter(|t| tests.contains(&suite.id(*t).to_string().as_str()))
        .collect();
    let batch: Vec<RunRequest> = wanted
        .iter()
        .map(|test| RunRequest::new(Order(vec![*test]), Isolation::Fork, bench.timeout))
        .collect();
    let mut found = Vec::new();
    lab.run(&batch, &mut |record| {
        for execution in record.executions {
            if execution.outcome.polarity() == Polarity::Fail {
                found.push((suite.id(execution.test).to_string(), execution.outcome));
            }
        }
        ControlFlow::Continue(())
    })
    .map_err(unkept)?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_that_gives_a_name_its_value_is_not_deleted() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = "def price(n):\n    total = n * 2\n    log(n)\n    return total\n";
        std::fs::write(folder.path().join("shop.py"), text).expect("written");
        let found = mutants(folder.path(), ["shop.py:price"].into_iter());
        let texts: Vec<String> = found
            .iter()
            .map(|mutant| String::from_utf8_lossy(&mutant.text).into_owned())
            .collect();
        assert_eq!(texts.len(), 2, "{texts:?}");
        assert!(texts.iter().all(|text| text.contains("total = n * 2")));
    }
}
