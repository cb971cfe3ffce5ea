//! A lab that wraps a lab: writes down each run as it finishes, and answers what was asked before.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use flakelab_lab::{Lab, LabError, Sink};
use flakelab_model::{
    Ending, Execution, Failure, Order, Outcome, Phase, RunRecord, RunRequest, Suite, TestIndex,
};
use rusqlite::{Connection, OptionalExtension, params};

use crate::campaign::now;
use crate::{CampaignId, Store, StoreErrorKind};

/// What makes two requests the same: the algorithm numbers its repeats.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    isolation: &'static str,
    attempt: u32,
    hash_seed: Option<u32>,
    tests: Vec<u8>,
    special: Option<String>,
}

impl Key {
    fn of(request: &RunRequest) -> Self {
        Self {
            isolation: request.isolation.word(),
            attempt: request.attempt,
            hash_seed: request.hash_seed,
            tests: encode(&request.order),
            special: special(request),
        }
    }
}

/// What sets a run apart besides its order, as JSON: experiments and factors.
fn special(request: &RunRequest) -> Option<String> {
    if request.experiment.is_none() && request.factors.is_plain() {
        return None;
    }
    serde_json::to_string(&(&request.experiment, &request.factors)).ok()
}

fn encode(order: &Order) -> Vec<u8> {
    order
        .0
        .iter()
        .flat_map(|test| test.0.to_le_bytes())
        .collect()
}

#[derive(Debug)]
pub struct RecordingLab<'s, L> {
    inner: L,
    store: &'s Store,
    campaign: CampaignId,
    known: HashMap<Key, i64>,
    /// Runs answered from the store.
    pub replayed: u64,
}

impl<'s, L: Lab> RecordingLab<'s, L> {
    /// Goes on with a campaign: what it has in the store already is not executed again.
    pub fn new(inner: L, store: &'s Store, campaign: CampaignId) -> Result<Self, LabError> {
        let known = load_keys(&store.connection, campaign).map_err(|e| unusable(store, e))?;
        Ok(Self {
            inner,
            store,
            campaign,
            known,
            replayed: 0,
        })
    }

    pub fn inner(&self) -> &L {
        &self.inner
    }
}

fn unusable(store: &Store, kind: impl Into<StoreErrorKind>) -> LabError {
    let error = store.failed("use", kind);
    LabError::Broken {
        message: format!("{error}: {}", error.kind),
        hint: Some("is the disk full, or the file in use by another flakelab? --store chooses another place".into()),
    }
}

impl<L: Lab> Lab for RecordingLab<'_, L> {
    fn suite(&self) -> &Suite {
        self.inner.suite()
    }

    fn run(&mut self, batch: &[RunRequest], sink: &mut Sink<'_>) -> Result<(), LabError> {
        // For each run that is missing, all requests that ask for it: a resumed campaign would answer them with one, too.
        let mut missing: Vec<Vec<usize>> = Vec::new();
        let mut places: HashMap<Key, usize> = HashMap::new();
        for (number, request) in batch.iter().enumerate() {
            let key = Key::of(request);
            let Some(run) = self.known.get(&key) else {
                let place = *places.entry(key).or_insert(missing.len());
                if place == missing.len() {
                    missing.push(Vec::new());
                }
                missing[place].push(number);
                continue;
            };
            let record = load(&self.store.connection, *run, number, &request.order)
                .map_err(|e| unusable(self.store, e))?;
            self.replayed += 1;
            if let ControlFlow::Break(()) = sink(record) {
                return Ok(());
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let rest: Vec<RunRequest> = missing
            .iter()
            .map(|numbers| batch[numbers[0]].clone())
            .collect();
        let (store, campaign, known) = (self.store, self.campaign, &mut self.known);
        let mut broken = None;
        self.inner.run(&rest, &mut |record| {
            let request = &rest[record.request];
            match save(&store.connection, campaign, request, &record) {
                Ok(run) => known.insert(Key::of(request), run),
                Err(error) => {
                    broken = Some(error);
                    return ControlFlow::Break(());
                }
            };
            missing[record.request].iter().try_for_each(|number| {
                sink(RunRecord {
                    request: *number,
                    ..record.clone()
                })
            })
        })?;
        broken.map_or(Ok(()), |error| Err(unusable(store, error)))
    }
}

fn load_keys(connection: &Connection, campaign: CampaignId) -> rusqlite::Result<HashMap<Key, i64>> {
    let mut statement = connection.prepare(
        "SELECT id, isolation, attempt, asked_hash_seed, tests, special FROM runs
         WHERE campaign = ? AND ending <> 'lost'",
    )?;
    let rows = statement.query_map([campaign.0], |row| {
        let isolation: String = row.get(1)?;
        let key = Key {
            isolation: match isolation.as_str() {
                "shared" => "shared",
                "fork" => "fork",
                "fresh" => "fresh",
                _ => "cold",
            },
            attempt: row.get(2)?,
            hash_seed: row.get(3)?,
            tests: row.get(4)?,
            special: row.get(5)?,
        };
        Ok((key, row.get(0)?))
    })?;
    rows.collect()
}

fn save(
    connection: &Connection,
    campaign: CampaignId,
    request: &RunRequest,
    record: &RunRecord,
) -> rusqlite::Result<i64> {
    let transaction = connection.unchecked_transaction()?;
    let (ending, why) = match &record.ending {
        Ending::Completed => ("completed", None),
        Ending::TimedOut => ("timed_out", None),
        Ending::Crashed => ("crashed", None),
        Ending::Stopped => ("stopped", None),
        Ending::Lost(why) => ("lost", Some(why.as_str())),
    };
    transaction
        .prepare_cached(
            "INSERT INTO runs (campaign, isolation, attempt, asked_hash_seed, tests, hash_seed,
                               ending, why, cpu_us, wall_us, plain, finished, special, observation)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            campaign.0,
            request.isolation.word(),
            request.attempt,
            request.hash_seed,
            encode(&request.order),
            record.hash_seed,
            ending,
            why,
            micros(record.cpu),
            micros(record.wall),
            record.plain,
            now(),
            special(request),
            record
                .observation
                .as_ref()
                .and_then(|seen| serde_json::to_string(seen).ok()),
        ])?;
    let run = transaction.last_insert_rowid();
    {
        let mut insert = transaction.prepare_cached(
            "INSERT INTO executions (run, position, outcome, micros, failure) VALUES (?, ?, ?, ?, ?)",
        )?;
        let mut failures: HashMap<*const Failure, i64> = HashMap::new();
        for (position, execution) in record.executions.iter().enumerate() {
            let failure = match execution.outcome.failure() {
                None => None,
                Some(failure) => Some(match failures.get(&Arc::as_ptr(failure)) {
                    Some(id) => *id,
                    None => {
                        let id = save_failure(&transaction, failure)?;
                        failures.insert(Arc::as_ptr(failure), id);
                        id
                    }
                }),
            };
            insert.execute(params![
                run,
                position as i64,
                execution.outcome.word(),
                execution.micros,
                failure
            ])?;
        }
    }
    transaction.commit()?;
    Ok(run)
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

fn phase_word(phase: Phase) -> &'static str {
    match phase {
        Phase::Setup => "setup",
        Phase::Call => "call",
        Phase::Teardown => "teardown",
    }
}

fn save_failure(connection: &Connection, failure: &Failure) -> rusqlite::Result<i64> {
    let key = params![phase_word(failure.phase), failure.message, failure.at];
    let found: Option<i64> = connection
        .prepare_cached("SELECT id FROM failures WHERE phase = ? AND message = ? AND place = ?")?
        .query_row(key, |row| row.get(0))
        .optional()?;
    if let Some(id) = found {
        return Ok(id);
    }
    connection
        .prepare_cached("INSERT INTO failures (phase, message, place) VALUES (?, ?, ?)")?
        .execute(key)?;
    Ok(connection.last_insert_rowid())
}

fn load(
    connection: &Connection,
    run: i64,
    request: usize,
    order: &Order,
) -> Result<RunRecord, StoreErrorKind> {
    let (hash_seed, ending, cpu, wall, plain, why, seen) = connection
        .prepare_cached(
            "SELECT hash_seed, ending, cpu_us, wall_us, plain, why, observation
             FROM runs WHERE id = ?",
        )?
        .query_row([run], |row| {
            Ok((
                row.get::<_, u32>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, i64>(2)?,
                row.get::<_, i64>(3)?,
                row.get::<_, bool>(4)?,
                row.get::<_, Option<String>>(5)?,
                row.get::<_, Option<String>>(6)?,
            ))
        })?;
    let mut statement = connection.prepare_cached(
        "SELECT e.outcome, e.micros, f.phase, f.message, f.place
         FROM executions e LEFT JOIN failures f ON f.id = e.failure
         WHERE e.run = ? ORDER BY e.position",
    )?;
    let mut rows = statement.query([run])?;
    let mut executions = Vec::with_capacity(order.0.len());
    while let Some(row) = rows.next()? {
        let test: TestIndex = *order
            .0
            .get(executions.len())
            .ok_or_else(|| StoreErrorKind::Corrupt(format!("run {run} is too long")))?;
        let phase: Option<String> = row.get(2)?;
        let failure = match phase.as_deref() {
            None => None,
            Some(word) => Some(Arc::new(Failure {
                phase: match word {
                    "setup" => Phase::Setup,
                    "teardown" => Phase::Teardown,
                    _ => Phase::Call,
                },
                message: row.get(3)?,
                at: row.get(4)?,
            })),
        };
        let word: String = row.get(0)?;
        let outcome = Outcome::from_word(&word, failure).ok_or_else(|| {
            StoreErrorKind::Corrupt(format!("run {run} has the outcome `{word}`"))
        })?;
        executions.push(Execution {
            test,
            outcome,
            micros: row.get(1)?,
        });
    }
    if executions.len() != order.0.len() {
        return Err(StoreErrorKind::Corrupt(format!("run {run} is too short")));
    }
    Ok(RunRecord {
        request,
        executions,
        hash_seed,
        ending: match ending.as_str() {
            "timed_out" => Ending::TimedOut,
            "crashed" => Ending::Crashed,
            "stopped" => Ending::Stopped,
            "lost" => Ending::Lost(why.unwrap_or_default()),
            _ => Ending::Completed,
        },
        cpu: Duration::from_micros(cpu.unsigned_abs()),
        wall: Duration::from_micros(wall.unsigned_abs()),
        plain,
        trace: None,
        pursued: Vec::new(),
        reached: None,
        observation: seen
            .map(|text| serde_json::from_str(&text))
            .transpose()
            .map_err(|e| StoreErrorKind::Corrupt(format!("run {run} saw nonsense: {e}")))?,
    })
}

#[cfg(test)]
mod tests {
    use flakelab_lab::fake::{FakeLab, Rule};
    use flakelab_model::{Experiment, Isolation, Timeout};

    use super::*;
    use crate::{Location, NewCampaign};

    fn requests(count: u32) -> Vec<RunRequest> {
        (0..count)
            .map(|attempt| {
                let order = Order(vec![TestIndex(0), TestIndex(1), TestIndex(0)]);
                let timeout = Timeout {
                    test: Duration::from_secs(1),
                    run: Duration::from_secs(1),
                };
                RunRequest {
                    attempt,
                    hash_seed: (attempt % 2 == 1).then_some(attempt),
                    experiment: (attempt % 3 == 1).then(Experiment::default),
                    ..RunRequest::new(order, Isolation::Fork, timeout)
                }
            })
            .collect()
    }

    fn run(lab: &mut impl Lab, batch: &[RunRequest], most: usize) -> Vec<RunRecord> {
        let mut records = Vec::new();
        lab.run(batch, &mut |record| {
            records.push(record);
            if records.len() < most {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })
        .expect("runs");
        records.sort_by_key(|record| record.request);
        records
    }

    #[test]
    fn an_interrupted_campaign_goes_on_where_it_stopped() {
        let dir = tempfile::tempdir().expect("tempdir");
        let rules = vec![Rule::Flaky { percent: 50 }, Rule::Once];
        let store = Store::open(Location::given(dir.path())).expect("store");
        let fake = FakeLab::new(rules.clone(), 1);
        let campaign = store
            .begin(&NewCampaign {
                verb: "detect",
                seed: u64::MAX,
                configuration: "{}",
                environment: "{}",
                suite: fake.suite(),
            })
            .expect("campaign");
        let mut lab = RecordingLab::new(fake, &store, campaign).expect("lab");
        let first = run(&mut lab, &requests(10), 4);
        drop(lab);
        drop(store);

        let store = Store::open(Location::given(dir.path())).expect("store");
        let last = store.last("detect").expect("readable").expect("one");
        assert_eq!(
            (last.id, last.seed, last.finished),
            (campaign, u64::MAX, false)
        );
        let mut lab = RecordingLab::new(FakeLab::new(rules, 2), &store, campaign).expect("lab");
        store
            .check_suite(campaign, lab.suite())
            .expect("same suite");
        let all = run(&mut lab, &requests(10), usize::MAX);
        assert_eq!(all.len(), 10);
        assert_eq!(all[..4], first[..]);
        assert_eq!((lab.replayed, lab.inner().runs), (4, 6));
        let again = run(&mut lab, &requests(10), usize::MAX);
        assert_eq!(again, all);
        assert_eq!(lab.inner().runs, 6);
    }

    #[test]
    fn equal_requests_of_a_batch_are_one_run() {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Store::open(Location::given(dir.path())).expect("store");
        let fake = FakeLab::new(vec![Rule::Flaky { percent: 50 }, Rule::Passes], 1);
        let campaign = begin(&store, fake.suite());
        let mut lab = RecordingLab::new(fake, &store, campaign).expect("lab");
        let batch: Vec<RunRequest> = requests(3).into_iter().cycle().take(7).collect();
        let records = run(&mut lab, &batch, usize::MAX);
        let asked: Vec<usize> = records.iter().map(|record| record.request).collect();
        assert_eq!(asked, [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(lab.inner().runs, 3);
        assert_eq!(records[6].executions, records[0].executions);
        // So is a resumed one.
        let again = run(&mut lab, &batch, usize::MAX);
        assert_eq!((again, lab.inner().runs), (records, 3));
    }

    fn begin(store: &Store, suite: &Suite) -> CampaignId {
        let campaign = NewCampaign {
            verb: "detect",
            seed: 1,
            configuration: "{}",
            environment: "{}",
            suite,
        };
        store.begin(&campaign).expect("campaign")
    }

    #[test]
    fn another_suite_cannot_go_on() {
        let dir = tempfile::tempdir().expect("tempdir");
        let store = Store::open(Location::given(dir.path())).expect("store");
        let fake = FakeLab::new(vec![Rule::Passes], 1);
        let campaign = begin(&store, fake.suite());
        let other = FakeLab::new(vec![Rule::Passes, Rule::Passes], 1);
        let error = store
            .check_suite(campaign, other.suite())
            .expect_err("changed");
        assert!(matches!(error.kind, StoreErrorKind::SuiteChanged));
    }
}
