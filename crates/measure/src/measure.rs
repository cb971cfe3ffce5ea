//! The campaign: every configuration's runs, one after the other, turned into snapshots as they finish.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flakelab_lab::orders::Stream;
use flakelab_lab::{Lab, LabError, patience};
use flakelab_model::{
    Ending, Isolation, Order, Outcome, Recording, RunRecord, RunRequest, TestIndex, TestTrace,
    Timeout, Trace,
};
use serde::{Deserialize, Serialize};

use crate::factor::{Factor, Settings, given};
use crate::layer::Layer;
use crate::plan::Configuration;
use crate::pool::{Pool, SnapshotId, Text};

#[derive(Debug, Clone)]
pub struct Wanted {
    pub seed: u64,
    pub layers: BTreeSet<Layer>,
    pub configurations: Vec<Configuration>,
    pub recording: Arc<Recording>,
    pub timeout: Timeout,
    /// Whether a test that takes far longer than others counts as hung.
    pub impatient: bool,
    pub budget: Option<Duration>,
}

/// One run of the suite.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    pub settings: Settings,
    /// By layer, for each test of the suite.
    pub snapshots: BTreeMap<Layer, Vec<Option<SnapshotId>>>,
    /// (test, element, distance to the bound), the smallest of a run.
    pub margins: Vec<(u32, Text, f64)>,
    pub cpu: Duration,
}

/// A configuration and its runs.
#[derive(Debug)]
pub struct Measured {
    pub name: String,
    pub runs: Vec<Run>,
}

#[derive(Debug)]
pub struct Measurement {
    pub pool: Pool,
    /// The name of the configuration that the others are compared with: the first that was planned. It may have no runs.
    pub base: String,
    pub configurations: Vec<Measured>,
    pub notes: Vec<String>,
}

/// Told how far it is.
pub trait Watch {
    fn begin(&mut self, runs: usize);
    fn configuration(&mut self, name: &str);
    fn step(&mut self);
}

/// What a run came to, as it is kept.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Kept {
    snapshots: BTreeMap<String, Vec<Option<u32>>>,
    margins: Vec<(u32, Text, f64)>,
    cpu_us: u64,
    #[serde(default)]
    notes: Vec<String>,
}

/// Keeps runs as they finish, for `--resume`.
pub trait Journal {
    /// Texts and snapshots kept so far, in the order of their numbers.
    fn pool(&mut self) -> Result<Pool, LabError>;
    fn get(&self, key: &str) -> Result<Option<Kept>, LabError>;
    /// Also keeps what is new in the pool.
    fn put(&mut self, key: &str, run: &Kept, pool: &Pool) -> Result<(), LabError>;
}

/// Margins kept of a run.
const MOST_MARGINS: usize = 50_000;
/// No test is called hung before.
const SHORTEST_LIMIT: Duration = Duration::from_secs(5);

pub fn measure(
    lab: &mut dyn Lab,
    wanted: &Wanted,
    journal: &mut dyn Journal,
    watch: &mut dyn Watch,
) -> Result<Measurement, LabError> {
    let started = Instant::now();
    let mut campaign = Campaign {
        measurement: Measurement {
            pool: journal.pool()?,
            base: wanted
                .configurations
                .first()
                .map(|c| c.name.clone())
                .unwrap_or_default(),
            configurations: Vec::new(),
            notes: Vec::new(),
        },
        timeout: wanted.timeout,
        lab,
        wanted,
        journal,
        watch,
    };
    let plan = &wanted.configurations;
    campaign
        .watch
        .begin(plan.iter().map(|c| c.runs.len()).sum());
    let mut runs: Vec<Vec<Option<Run>>> = Vec::new();
    for configuration in plan {
        runs.push(campaign.kept(configuration)?);
    }
    // Configurations whose runs do not come about.
    let mut lost: BTreeSet<usize> = BTreeSet::new();
    let batches = rounds(plan, &runs, wanted.seed);
    if !batches.is_empty() {
        campaign.warm_up()?;
    }
    for (number, batch) in batches {
        if lost.contains(&number) {
            continue;
        }
        if wanted
            .budget
            .is_some_and(|budget| started.elapsed() > budget)
        {
            let note = "the budget was used up: some configurations have fewer runs".to_owned();
            campaign.measurement.notes.push(note);
            break;
        }
        match campaign.run(&plan[number], &batch)? {
            Some(done) => {
                for (at, run) in done {
                    runs[number][at] = Some(run);
                }
            }
            None => {
                lost.insert(number);
            }
        }
    }
    let mut measurement = campaign.measurement;
    for (number, (configuration, runs)) in plan.iter().zip(runs).enumerate() {
        let runs: Vec<Run> = runs.into_iter().flatten().collect();
        if !lost.contains(&number) && runs.len() > 1 {
            measurement.configurations.push(Measured {
                name: configuration.name.clone(),
                runs,
            });
        }
    }
    Ok(measurement)
}

/// The runs that are missing, in the order they are made: one of each configuration in turn, so that what drifts with
/// time drifts through all of them alike. The first configuration goes first: a campaign that ends early has what the
/// others are compared with. Runs that are to go at once go at once.
fn rounds(
    plan: &[Configuration],
    done: &[Vec<Option<Run>>],
    seed: u64,
) -> Vec<(usize, Vec<usize>)> {
    let most = plan.iter().map(|c| c.runs.len()).max().unwrap_or(0);
    let mut stream = Stream::new(seed, "rounds");
    let mut batches = Vec::new();
    for round in 0..most {
        let mut order: Vec<usize> = (0..plan.len()).collect();
        if let Some((_, others)) = order.split_first_mut() {
            stream.shuffle(others);
        }
        for number in order {
            let runs = &plan[number].runs;
            let Some(settings) = runs.get(round) else {
                continue;
            };
            let at_once: usize = settings
                .get(&Factor::Parallel)
                .and_then(|s| s.parse().ok())
                .unwrap_or(1);
            if round % at_once.max(1) != 0 {
                continue;
            }
            let batch: Vec<usize> = (round..runs.len().min(round + at_once))
                .filter(|at| done[number][*at].is_none())
                .collect();
            if !batch.is_empty() {
                batches.push((number, batch));
            }
        }
    }
    batches
}

struct Campaign<'a> {
    lab: &'a mut dyn Lab,
    wanted: &'a Wanted,
    journal: &'a mut dyn Journal,
    watch: &'a mut dyn Watch,
    measurement: Measurement,
    timeout: Timeout,
}

fn key(configuration: &Configuration, at: usize) -> String {
    format!("{}#{at}", configuration.name)
}

impl Campaign<'_> {
    /// Runs of an earlier session.
    fn kept(&mut self, configuration: &Configuration) -> Result<Vec<Option<Run>>, LabError> {
        let mut runs: Vec<Option<Run>> = Vec::new();
        for (at, settings) in configuration.runs.iter().enumerate() {
            let kept = self.journal.get(&key(configuration, at))?;
            runs.push(kept.map(|kept| self.revive(kept, settings)));
        }
        // Runs that find what the one before has left are had together or not at all.
        let chained = configuration
            .runs
            .iter()
            .any(|s| is(s, Factor::State, "left"));
        if chained && runs.iter().any(Option::is_none) {
            runs.fill(None);
        }
        for _ in runs.iter().flatten() {
            self.watch.step();
        }
        Ok(runs)
    }

    /// A run that nobody looks at: it fills caches that would make the first one differ from the others, and shows how
    /// long tests take.
    fn warm_up(&mut self) -> Result<(), LabError> {
        let Some(configuration) = self.wanted.configurations.first() else {
            return Ok(());
        };
        self.watch.configuration("warming up");
        let request = self.request(configuration, 0);
        let mut slowest = Duration::ZERO;
        self.lab.run(&[request], &mut |record| {
            for execution in &record.executions {
                if !matches!(execution.outcome, Outcome::TimedOut(_)) {
                    slowest = slowest.max(Duration::from_micros(execution.micros.into()));
                }
            }
            ControlFlow::Continue(())
        })?;
        if self.wanted.impatient {
            self.timeout.test = patience::limit(slowest, SHORTEST_LIMIT, self.timeout.test);
        }
        Ok(())
    }

    /// `None` if a run did not come about.
    fn run(
        &mut self,
        configuration: &Configuration,
        batch: &[usize],
    ) -> Result<Option<Vec<(usize, Run)>>, LabError> {
        self.watch.configuration(&configuration.name);
        let requests: Vec<RunRequest> = batch
            .iter()
            .map(|at| self.request(configuration, *at))
            .collect();
        let mut records: Vec<RunRecord> = Vec::new();
        let watch = &mut *self.watch;
        self.lab.run(&requests, &mut |record| {
            watch.step();
            records.push(record);
            ControlFlow::Continue(())
        })?;
        records.sort_by_key(|record| record.request);
        let mut done = Vec::new();
        for record in records {
            if let Ending::Lost(why) = &record.ending {
                self.measurement.notes.push(format!(
                    "the configuration `{}` could not be run: {why}",
                    configuration.name
                ));
                return Ok(None);
            }
            let at = batch[record.request];
            let (run, notes) = self.take(&record, &configuration.runs[at]);
            self.keep(&key(configuration, at), &run, notes)?;
            done.push((at, run));
        }
        Ok(Some(done))
    }

    fn request(&self, configuration: &Configuration, at: usize) -> RunRequest {
        let settings = &configuration.runs[at];
        // Apart for every run of the campaign.
        let position = |c: &Configuration| c.name == configuration.name;
        let place = self.wanted.configurations.iter().position(position);
        let place = place.unwrap_or_default();
        let number = place * 10_000 + at;
        let chain = place.to_string();
        let (hash_seed, factors) = given(settings, self.wanted.seed, &chain, number);
        let mut order: Vec<TestIndex> = (0..self.lab.suite().len() as u32).map(TestIndex).collect();
        match settings.get(&Factor::Order).map(String::as_str) {
            Some("reverse") => order.reverse(),
            Some("random") => {
                Stream::new(self.wanted.seed, &format!("order {number}")).shuffle(&mut order);
            }
            _ => {}
        }
        RunRequest {
            hash_seed: Some(hash_seed),
            factors,
            recording: Some(Arc::clone(&self.wanted.recording)),
            attempt: at as u32,
            ..RunRequest::new(Order(order), Isolation::Cold, self.timeout)
        }
    }

    /// A record as snapshots.
    fn take(&mut self, record: &RunRecord, settings: &Settings) -> (Run, Vec<String>) {
        let nothing = Trace::default();
        let trace = record.trace.as_deref().unwrap_or(&nothing);
        let mut seen: BTreeMap<u32, &TestTrace> = BTreeMap::new();
        for test in &trace.tests {
            seen.insert(test.position, test);
        }
        let tests = self.lab.suite().len();
        let pool = &mut self.measurement.pool;
        let mut run = Run {
            settings: settings.clone(),
            cpu: record.cpu,
            ..Run::default()
        };
        for layer in &self.wanted.layers {
            let mut snapshots = vec![None; tests];
            for (position, execution) in record.executions.iter().enumerate() {
                let seen = seen.get(&(position as u32)).copied();
                snapshots[execution.test.0 as usize] = layer.snapshot(pool, execution, trace, seen);
            }
            run.snapshots.insert(*layer, snapshots);
        }
        let mut smallest: BTreeMap<(u32, Text), f64> = BTreeMap::new();
        for (position, execution) in record.executions.iter().enumerate() {
            for (element, margin) in seen
                .get(&(position as u32))
                .map_or(&[][..], |test| &test.margins)
            {
                let element = pool.text(&trace.texts[*element as usize]);
                let entry = smallest
                    .entry((execution.test.0, element))
                    .or_insert(*margin);
                *entry = entry.min(*margin);
            }
        }
        run.margins = smallest
            .into_iter()
            .take(MOST_MARGINS)
            .map(|((test, element), margin)| (test, element, margin))
            .collect();
        for note in &trace.notes {
            self.note(note);
        }
        (run, trace.notes.clone())
    }

    fn note(&mut self, note: &str) {
        if !self.measurement.notes.iter().any(|known| known == note) {
            self.measurement.notes.push(note.to_owned());
        }
    }

    fn keep(&mut self, key: &str, run: &Run, notes: Vec<String>) -> Result<(), LabError> {
        let kept = Kept {
            snapshots: run
                .snapshots
                .iter()
                .map(|(layer, ids)| {
                    let ids = ids.iter().map(|id| id.map(|id| id.0)).collect();
                    (layer.word().to_owned(), ids)
                })
                .collect(),
            margins: run.margins.clone(),
            cpu_us: run.cpu.as_micros() as u64,
            notes,
        };
        self.journal.put(key, &kept, &self.measurement.pool)
    }

    fn revive(&mut self, kept: Kept, settings: &Settings) -> Run {
        for note in &kept.notes {
            self.note(note);
        }
        Run {
            settings: settings.clone(),
            snapshots: kept
                .snapshots
                .into_iter()
                .filter_map(|(layer, ids)| {
                    let ids = ids.into_iter().map(|id| id.map(SnapshotId)).collect();
                    Some((Layer::from_word(&layer)?, ids))
                })
                .collect(),
            margins: kept.margins,
            cpu: Duration::from_micros(kept.cpu_us),
        }
    }
}

fn is(settings: &Settings, factor: Factor, setting: &str) -> bool {
    settings.get(&factor).is_some_and(|s| s == setting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_take_turns_and_parallel_runs_go_at_once() {
        let with = |name: &str, parallel: &str, runs: u32| {
            let settings = Settings::from([(Factor::Parallel, parallel.to_owned())]);
            Configuration::new(name, &settings, runs)
        };
        let plan = [with("a", "1", 3), with("b", "2", 3), with("c", "1", 2)];
        let mut done: Vec<Vec<Option<Run>>> =
            plan.iter().map(|c| vec![None; c.runs.len()]).collect();
        done[0][1] = Some(Run::default());
        let batches = rounds(&plan, &done, 7);
        for seed in 0..20 {
            let batches = rounds(&plan, &vec![vec![None; 3]; 3], seed);
            let places: Vec<usize> = batches.iter().map(|(number, _)| *number).collect();
            let first = [places[0], places[3]];
            assert_eq!(first, [0, 0], "the base first in each round: {places:?}");
        }
        let first: BTreeSet<usize> = batches[..3].iter().map(|(number, _)| *number).collect();
        assert_eq!(
            first,
            BTreeSet::from([0, 1, 2]),
            "one of each in the first round"
        );
        let of = |wanted: usize| -> Vec<Vec<usize>> {
            let own = batches.iter().filter(|(number, _)| *number == wanted);
            own.map(|(_, batch)| batch.clone()).collect()
        };
        assert_eq!(of(0), [[0], [2]], "what is done is not done again");
        assert_eq!(of(1), [vec![0, 1], vec![2]]);
        assert_eq!(of(2), [[0], [1]]);
        assert_eq!(
            batches,
            rounds(&plan, &done, 7),
            "the same seed, the same order"
        );
    }
}
