//! Many orders, each test alone, each test twice: which tests vary?

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use flakelab_lab::orders::{self, Kind, Stream};
use flakelab_lab::{LabError, pristine};
use flakelab_model::{Isolation, Order, Outcome, Polarity, TestIndex};

use crate::baseline::BASELINE_ATTEMPTS;
use crate::evidence::Purpose;
use crate::session::{Session, Stage};

/// What the search noticed, in suite order.
#[derive(Debug, Default)]
pub(crate) struct Suspects {
    /// Passed in some runs and failed in others.
    pub(crate) varying: Vec<TestIndex>,
    /// Failed in every run.
    pub(crate) failing: Vec<TestIndex>,
    /// Never both passed and failed, but was not always reported the same.
    pub(crate) masked: Vec<TestIndex>,
    /// Passed at first and failed when run again in the same process.
    pub(crate) repeating: Vec<TestIndex>,
}

/// Orders between two looks at which tests keep ending runs.
const CHUNK: usize = 24;
/// So many runs ended by one test that otherwise passes are enough to suspect it.
const ENOUGH_ENDINGS: usize = 3;
/// Files run on their own, by chance where there are more. Each imports what it needs of the project once again: a second
/// each, where much of it is imported, are five minutes of one processor.
const MOST_FILES: usize = 300;
/// Attempts of files on their own: a file of one test is asked for again later. A multiple of the number of hash seeds.
const FILE_ATTEMPT: u32 = 40_000;
/// Those of tests that forks do not suit, likewise.
const APART_ATTEMPT: u32 = 44_000;
/// Runs that the pass of every test twice may take when tests keep ending them.
const MOST_TWICE: usize = 20;

pub(crate) fn search(session: &mut Session<'_>, tests: &[TestIndex]) -> Result<Suspects, LabError> {
    let mut batch = plan(session, tests);
    let files = by_file(session, tests).len();
    let on_their_own = batch.iter().filter(|(p, _)| *p == Purpose::File).count();
    if (1..files).contains(&on_their_own) {
        session.notes.push(format!(
            "{on_their_own} of {files} files were also run without the others, chosen by the seed"
        ));
    }
    session.watch.stage(Stage::Search, batch.len());
    let mut total = batch.len();
    let mut twice = 0;
    let mut done = 0;
    let mut retired: Vec<TestIndex> = Vec::new();
    let mut endings: BTreeMap<TestIndex, usize> = BTreeMap::new();
    let mut looked_at = 0;
    while !batch.is_empty() {
        let rest = batch.split_off(batch.len().min(CHUNK));
        let runs = session.run(Stage::Search, batch)?;
        done += runs.iter().flatten().count();
        batch = rest;
        let cut_short = runs
            .iter()
            .flatten()
            .find_map(|run| twice_after(session, *run));
        if let Some(order) = cut_short.filter(|_| twice < MOST_TWICE) {
            let request = session.request(order, session.warm, 0);
            batch.insert(0, (Purpose::Twice, request));
            twice += 1;
            total += 1;
        }
        let varying = tests
            .iter()
            .filter(|test| session.evidence.tally(**test).mixed())
            .count();
        session.calm = varying == 0;
        session.watch.suspects(varying);
        count_endings(session, looked_at, &mut endings);
        looked_at = session.evidence.runs.len();
        for test in ending_runs(session, tests, &endings) {
            if !retired.contains(&test) {
                retired.push(test);
                let id = session.lab.suite().id(test).clone();
                session.notes.push(format!(
                    "`{id}` hung or ended the process in {ENOUGH_ENDINGS} runs; the orders after that leave it out"
                ));
            }
        }
        if !retired.is_empty() {
            leave_out(&mut batch, &retired);
        }
    }
    if session.out_of_budget {
        session.notes.push(format!(
            "the budget ended the search after {done} of {total} runs"
        ));
    }
    let suspects = suspects(session, tests);
    session.watch.suspects(suspects.varying.len());
    Ok(suspects)
}

/// What is left of a run of every test twice that ended early: the tests behind the one that ended it.
fn twice_after(session: &Session<'_>, run: usize) -> Option<Order> {
    let run = session.at(run);
    if run.purpose != Purpose::Twice {
        return None;
    }
    let end = run.outcomes.iter().position(|o| *o == Outcome::NotRun)?;
    let ended_it = run.order.0[..end].last()?;
    let rest = run.order.0[end..].iter().skip_while(|t| *t == ended_it);
    let rest: Vec<TestIndex> = rest.copied().collect();
    (!rest.is_empty()).then_some(Order(rest))
}

/// Adds up which tests ended the runs from number `from` on.
fn count_endings(session: &Session<'_>, from: usize, endings: &mut BTreeMap<TestIndex, usize>) {
    let ends = |outcome: &Outcome| matches!(outcome, Outcome::TimedOut(_) | Outcome::Crashed(_));
    for run in &session.evidence.runs[from..] {
        if run.order.0.len() > 1
            && let Some(at) = run.outcomes.iter().position(ends)
        {
            *endings.entry(run.order.0[at]).or_default() += 1;
        }
    }
}

/// Tests that pass at times and end the whole run at others: they cost the tests behind them.
fn ending_runs(
    session: &Session<'_>,
    tests: &[TestIndex],
    endings: &BTreeMap<TestIndex, usize>,
) -> Vec<TestIndex> {
    endings
        .iter()
        .filter(|(test, count)| **count >= ENOUGH_ENDINGS && tests.contains(test))
        .filter(|(test, _)| session.evidence.tally(**test).mixed())
        .map(|(test, _)| *test)
        .collect()
}

fn leave_out(batch: &mut Vec<(Purpose, flakelab_model::RunRequest)>, retired: &[TestIndex]) {
    for (purpose, request) in batch.iter_mut() {
        if !matches!(purpose, Purpose::Order(Kind::Given) | Purpose::Alone) {
            request.order.0.retain(|test| !retired.contains(test));
        }
    }
    batch.retain(|(_, request)| !request.order.0.is_empty());
}

/// Cheap and telling runs first: a budget may end the search anywhere.
fn plan(session: &Session<'_>, tests: &[TestIndex]) -> Vec<(Purpose, flakelab_model::RunRequest)> {
    let settings = session.settings;
    let suite = session.lab.suite();
    let ordered = |kind: Kind, count: usize| {
        orders::generate(suite, tests, kind, count, settings.seed)
            .into_iter()
            .map(move |order| (Purpose::Order(kind), order))
    };
    let mut runs: Vec<(Purpose, Order)> = settings
        .given
        .iter()
        .map(|order| (Purpose::Order(Kind::Given), order.clone()))
        .collect();
    if settings.orders > 0 {
        runs.extend(ordered(Kind::Original, 1));
        runs.extend(ordered(Kind::Reverse, 1));
    }
    let twice: Vec<TestIndex> = tests.iter().flat_map(|test| [*test, *test]).collect();
    if settings.twice {
        runs.push((Purpose::Twice, Order(twice)));
    }
    let random = orders::alternate(suite, tests, &settings.mix, settings.orders, settings.seed);
    runs.extend(
        random
            .into_iter()
            .map(|(kind, order)| (Purpose::Order(kind), order)),
    );
    if settings.alone {
        let forked = tests
            .iter()
            .filter(|test| session.warm.is_pristine() || !session.evidence.is_apart(**test));
        runs.extend(forked.map(|test| (Purpose::Alone, Order(vec![*test]))));
    }
    if settings.pairs > 0 {
        // Every ordered pair where that takes few rows, else the pairs within classes and modules.
        let kind = if tests.len() <= settings.pairs {
            Kind::Tuscan
        } else {
            Kind::TuscanClasses
        };
        let rows = match kind {
            Kind::Tuscan => settings.pairs + 1,
            // A supplement, not the bulk of the work.
            _ => settings.orders.div_ceil(10),
        };
        runs.extend(ordered(kind, rows));
    }
    let files = if settings.alone && !session.warm.is_pristine() {
        files(session, tests)
    } else {
        Vec::new()
    };
    let original = Order(tests.to_vec());
    // Forks share their zygote's hash seed; these runs see others. Who wants few orders wants few interpreters.
    let seeds = settings.orders.div_ceil(8);
    let hashes = pristine::ATTEMPTS.into_iter().take(seeds).map(|attempt| {
        let request = session.request(original.clone(), Isolation::Fresh, attempt);
        (Purpose::Baseline, request)
    });
    // An order that comes again is a new draw, not an old answer; the baseline has had the original.
    let mut draws: HashMap<u64, u32> = HashMap::from([(mark(&original), BASELINE_ATTEMPTS)]);
    let orders = runs
        .into_iter()
        .map(|(purpose, order)| {
            let attempt = draws.entry(mark(&order)).or_default();
            *attempt += 1;
            (purpose, session.request(order, session.warm, *attempt - 1))
        })
        // The baseline has run the original order, unless forks turned out to be useless.
        .filter(|(purpose, _)| {
            session.warm.is_pristine() || *purpose != Purpose::Order(Kind::Original)
        });
    let apart = apart(session, tests);
    hashes.chain(apart).chain(orders).chain(files).collect()
}

/// Tests that forks do not suit, alone: pristine runs of whole orders are few.
fn apart(session: &Session<'_>, tests: &[TestIndex]) -> Vec<(Purpose, flakelab_model::RunRequest)> {
    if session.warm.is_pristine() {
        return Vec::new();
    }
    tests
        .iter()
        .filter(|test| session.evidence.is_apart(**test))
        .flat_map(|test| (0..session.settings.isolated).map(move |nth| (*test, nth)))
        .map(|(test, nth)| {
            let order = Order(vec![test]);
            let request = session.request(order, Isolation::Fresh, APART_ATTEMPT + nth);
            (Purpose::Alone, request)
        })
        .collect()
}

fn by_file<'a>(session: &'a Session<'_>, tests: &[TestIndex]) -> BTreeMap<&'a str, Vec<TestIndex>> {
    let suite = session.lab.suite();
    let mut files: BTreeMap<&str, Vec<TestIndex>> = BTreeMap::new();
    for test in tests {
        let file = suite.id(*test).module();
        files.entry(file).or_default().push(*test);
    }
    files
}

/// The tests of each file without the other files: every fork has imported them all, and so has every pristine run of the
/// original order. Nothing else shows a test that needs what another file imports.
fn files(session: &Session<'_>, tests: &[TestIndex]) -> Vec<(Purpose, flakelab_model::RunRequest)> {
    let files = by_file(session, tests);
    // Alone, a file is the original order.
    if files.len() < 2 {
        return Vec::new();
    }
    let mut files: Vec<Vec<TestIndex>> = files.into_values().collect();
    Stream::new(session.settings.seed, "files").shuffle(&mut files);
    files.truncate(MOST_FILES);
    // Hash seeds of templates that are there in any case.
    let seeds = pristine::ATTEMPTS
        .len()
        .min(session.settings.orders.div_ceil(8) + 1);
    let attempts = pristine::ATTEMPTS
        .into_iter()
        .cycle()
        .skip(pristine::ATTEMPTS.len() - 1);
    let mut attempts: Vec<u32> = attempts.take(seeds).collect();
    attempts.sort_unstable();
    files
        .into_iter()
        .zip(attempts.into_iter().cycle())
        .map(|(file, attempt)| {
            let request = session.request(Order(file), Isolation::Fresh, FILE_ATTEMPT + attempt);
            (Purpose::File, request)
        })
        .collect()
}

/// Tells orders apart without keeping them twice: two that are taken for one would only count as two draws of it.
fn mark(order: &Order) -> u64 {
    let mut hasher = DefaultHasher::new();
    order.hash(&mut hasher);
    hasher.finish()
}

fn suspects(session: &Session<'_>, tests: &[TestIndex]) -> Suspects {
    let evidence = &session.evidence;
    let mut found = Suspects::default();
    for test in tests {
        let tally = evidence.tally(*test);
        if tally.mixed() {
            found.varying.push(*test);
        } else if tally.always_failed() && !skipped_at_times(session, *test) {
            found.failing.push(*test);
        } else if words_vary(session, *test) {
            found.masked.push(*test);
        }
    }
    for run in evidence
        .runs
        .iter()
        .filter(|run| run.purpose == Purpose::Twice)
    {
        for (at, pair) in run.outcomes.chunks(2).enumerate() {
            if let [first, second] = pair
                && first.polarity() == Polarity::Pass
                && second.polarity() == Polarity::Fail
            {
                found.repeating.push(run.order.0[2 * at]);
            }
        }
    }
    found
}

fn words_vary(session: &Session<'_>, test: TestIndex) -> bool {
    let mut outcomes = session
        .evidence
        .sightings(test)
        .iter()
        .map(|sighting| session.evidence.outcome(*sighting))
        .filter(|outcome| **outcome != Outcome::NotRun);
    let first = outcomes.next().map(Outcome::word);
    outcomes.any(|outcome| Some(outcome.word()) != first)
}

fn skipped_at_times(session: &Session<'_>, test: TestIndex) -> bool {
    let evidence = &session.evidence;
    let mut sightings = evidence.sightings(test).iter();
    sightings.any(|s| *evidence.outcome(*s) == Outcome::Skipped)
}
