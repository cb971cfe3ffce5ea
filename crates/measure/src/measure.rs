//! The campaign: every configuration's runs, one after the other, turned into snapshots as they finish.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flakelab_lab::orders::Stream;
use flakelab_lab::{Lab, LabError};
use flakelab_model::{
    Ending, Isolation, Order, Recording, RunRecord, RunRequest, TestIndex, TestTrace, Timeout,
    Trace,
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

/// Runs whose margins are kept.
const MOST_MARGINS: usize = 50_000;

pub fn measure(
    lab: &mut dyn Lab,
    wanted: &Wanted,
    journal: &mut dyn Journal,
    watch: &mut dyn Watch,
) -> Result<Measurement, LabError> {
    let started = Instant::now();
    let mut measurement = Measurement {
        pool: journal.pool()?,
        configurations: Vec::new(),
        notes: Vec::new(),
    };
    watch.begin(wanted.configurations.iter().map(|c| c.runs.len()).sum());
    for (number, configuration) in wanted.configurations.iter().enumerate() {
        if wanted
            .budget
            .is_some_and(|budget| started.elapsed() > budget)
        {
            let left = &wanted.configurations[number..];
            let names: Vec<&str> = left.iter().map(|c| c.name.as_str()).collect();
            measurement.notes.push(format!(
                "the budget was used up before: {}",
                names.join(", ")
            ));
            break;
        }
        watch.configuration(&configuration.name);
        let mut campaign = Campaign {
            lab: &mut *lab,
            wanted,
            journal: &mut *journal,
            watch: &mut *watch,
            measurement: &mut measurement,
        };
        if let Some(runs) = campaign.runs(configuration)? {
            measurement.configurations.push(Measured {
                name: configuration.name.clone(),
                runs,
            });
        }
    }
    Ok(measurement)
}

struct Campaign<'a> {
    lab: &'a mut dyn Lab,
    wanted: &'a Wanted,
    journal: &'a mut dyn Journal,
    watch: &'a mut dyn Watch,
    measurement: &'a mut Measurement,
}

impl Campaign<'_> {
    /// `None` if its runs did not come about.
    fn runs(&mut self, configuration: &Configuration) -> Result<Option<Vec<Run>>, LabError> {
        let key = |at: usize| format!("{}#{at}", configuration.name);
        let mut runs: Vec<Option<Run>> = Vec::new();
        for (at, settings) in configuration.runs.iter().enumerate() {
            let kept = self.journal.get(&key(at))?;
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
        let missing: Vec<usize> = (0..runs.len()).filter(|at| runs[*at].is_none()).collect();
        for _ in missing.len()..runs.len() {
            self.watch.step();
        }
        for batch in batches(&missing, &configuration.runs) {
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
                self.keep(&key(at), &run, notes)?;
                runs[at] = Some(run);
            }
        }
        Ok(runs.into_iter().collect())
    }

    fn request(&self, configuration: &Configuration, at: usize) -> RunRequest {
        let settings = &configuration.runs[at];
        let chain: String = configuration
            .name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        // Apart for every run of the campaign.
        let position = |c: &Configuration| c.name == configuration.name;
        let place = self.wanted.configurations.iter().position(position);
        let number = place.unwrap_or_default() * 10_000 + at;
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
            ..RunRequest::new(Order(order), Isolation::Cold, self.wanted.timeout)
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

/// Runs that go at the same time: as many as their settings say.
fn batches<'a>(missing: &'a [usize], runs: &[Settings]) -> Vec<&'a [usize]> {
    let at_once = |at: usize| -> usize {
        let setting = runs[at].get(&Factor::Parallel);
        setting.and_then(|s| s.parse().ok()).unwrap_or(1)
    };
    let mut batches = Vec::new();
    let mut rest = missing;
    while let Some(first) = rest.first() {
        let size = at_once(*first);
        let same = rest
            .iter()
            .take(size)
            .take_while(|at| at_once(**at) == size);
        let (batch, more) = rest.split_at(same.count());
        batches.push(batch);
        rest = more;
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_go_one_by_one_unless_their_settings_say_otherwise() {
        let with = |parallel: &str| Settings::from([(Factor::Parallel, parallel.to_owned())]);
        let runs = [
            with("1"),
            with("4"),
            with("4"),
            with("4"),
            with("1"),
            with("1"),
        ];
        let missing = [0, 1, 2, 3, 4, 5];
        assert_eq!(batches(&missing, &runs), [&[0][..], &[1, 2, 3], &[4], &[5]]);
    }
}
