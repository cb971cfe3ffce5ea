//! `flakelab history`: from tallies in the store to the tests that flake.

mod document;

use std::collections::HashMap;
use std::time::Instant;

use flakelab_history::{Score, Standing};
use flakelab_report::history as report;
use flakelab_store::{Store, StoreError};

use crate::args::HistoryArgs;
use crate::error::{self, CliError, chain};
use crate::nearest::nearest;
use crate::printer::Printer;
use crate::workbench::{Place, deliver, existing_store, means};

/// A test with its score.
pub(super) struct Scored {
    pub(super) test: i64,
    pub(super) score: Score,
}

pub(crate) fn run(args: &HistoryArgs) -> crate::Outcome {
    let printer = Printer::new(args.output.quiet, args.output.verbose);
    let place = Place::settle(&args.project, args.output.store.as_deref())?;
    let unreadable = |e: StoreError| CliError::usage(chain(&e)).hint("choose another with --store");
    let missing = || {
        CliError::usage("there is no history yet")
            .hint("take reports in with `flakelab ingest build/reports`")
    };
    let store = existing_store(&place.location)?.ok_or_else(missing)?;
    let totals = store.history_totals().map_err(unreadable)?;
    if totals.files == 0 {
        return Err(missing());
    }
    let started = Instant::now();
    let standings = standings(&store).map_err(unreadable)?;
    let chosen = if args.tests.is_empty() {
        varying(&standings)
    } else {
        named(&store, &args.tests, &standings)?
    };
    printer.detail(&format!(
        "{} tests scored in {:.3} s",
        standings.len(),
        started.elapsed().as_secs_f64()
    ));
    let limit = if args.limit > 0 {
        args.limit
    } else {
        usize::MAX
    };
    let in_detail = !args.tests.is_empty();
    let document = shown(&store, &standings, chosen, limit, in_detail).map_err(unreadable)?;
    let json = serde_json::to_string_pretty(&document)
        .map_err(|e| CliError::new(error::INTERNAL, e.to_string()))?;
    deliver::deliver(&json, &report::terminal(&document), &args.output, printer)?;
    let found = document.tests.iter().any(|t| t.first_bad_version.is_some());
    Ok(if found { error::FINDINGS } else { error::CLEAN })
}

/// The tests that vary, the worst first, at most so many; `None` if no report was taken in.
pub(super) fn worst(store: &Store, limit: usize) -> Result<Option<report::Document>, StoreError> {
    if store.history_totals()?.files == 0 {
        return Ok(None);
    }
    let standings = standings(store)?;
    shown(store, &standings, varying(&standings), limit, false).map(Some)
}

fn varying(standings: &HashMap<i64, Standing>) -> Vec<Scored> {
    let varying = standings.iter().filter(|(_, s)| s.varies());
    varying.map(|(test, s)| scored(*test, s)).collect()
}

/// The document of the worst of the chosen tests.
fn shown(
    store: &Store,
    standings: &HashMap<i64, Standing>,
    mut chosen: Vec<Scored>,
    limit: usize,
    in_detail: bool,
) -> Result<report::Document, StoreError> {
    let about = document::About {
        totals: store.history_totals()?,
        flaky: standings.values().filter(|s| s.is_flaky()).count() as u64,
        found: chosen.len() as u64,
        in_detail,
    };
    chosen.sort_by(|a, b| a.score.worst_first(&b.score).then(a.test.cmp(&b.test)));
    chosen.truncate(limit);
    document::build(store, &chosen, &about)
}

fn scored(test: i64, standing: &Standing) -> Scored {
    Scored {
        test,
        score: standing.score(),
    }
}

/// Every test over all versions: one scan of the tallies.
fn standings(store: &Store) -> Result<HashMap<i64, Standing>, StoreError> {
    let mut all: HashMap<i64, Standing> = HashMap::new();
    store.history_tallies(|version, test, tally| {
        all.entry(test).or_default().add(version, &tally);
    })?;
    Ok(all)
}

/// Tests that the user means: by id, file or class, else by any part of the id.
fn named(
    store: &Store,
    names: &[String],
    standings: &HashMap<i64, Standing>,
) -> Result<Vec<Scored>, CliError> {
    let mut ids = Vec::new();
    store
        .history_tests(|test, id| ids.push((test, id.to_owned())))
        .map_err(CliError::store)?;
    let mut chosen = Vec::new();
    for name in names {
        let pick = |test: &dyn Fn(&str) -> bool| -> Vec<i64> {
            let fitting = ids.iter().filter(|(_, id)| test(id));
            fitting.map(|(number, _)| *number).collect()
        };
        let mut fitting = pick(&|id| means(name, id));
        if fitting.is_empty() {
            fitting = pick(&|id| id.contains(name.as_str()));
        }
        if fitting.is_empty() {
            let error = CliError::usage(format!("no test of the history is called `{name}`"));
            return Err(match nearest(name, ids.iter().map(|(_, id)| id.as_str())) {
                Some(meant) => error.hint(format!("did you mean `{meant}`?")),
                None => error.hint("`flakelab history` lists the tests that vary"),
            });
        }
        chosen.extend(fitting);
    }
    chosen.sort_unstable();
    chosen.dedup();
    let standing = |test: &i64| standings.get(test).map(|s| scored(*test, s));
    Ok(chosen.iter().filter_map(standing).collect())
}
