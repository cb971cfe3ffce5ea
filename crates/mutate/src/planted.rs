//! What tests of the algorithms are built from: settings, a file with mutants, records.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use flakelab_model::{Ending, Failure, Outcome, Phase, Pursued, RunRecord, Suite, Timeout};
use flakelab_source::Source;
use flakelab_source::mutants::{Mutants, mutants};

use crate::chase::Chase;
use crate::priority::Candidate;
use crate::settings::{Collecting, File, Reruns, Settings};
use crate::subject::{Lane, Subject};
use crate::test_files::TestFiles;

pub(crate) fn settings() -> Settings {
    let minute = Duration::from_secs(60);
    Settings {
        seed: 1,
        collecting: Collecting::Together,
        coverage_reruns: 3,
        reruns: Reruns {
            same_process: 5,
            process_per_mutant: 5,
            process_per_pair: 5,
            fresh_interpreter: 5,
        },
        immediate: true,
        matrix: false,
        sample: None,
        mutants: BTreeSet::new(),
        lines: None,
        without: Vec::new(),
        most_hits: 100_000,
        timeout: Timeout {
            test: minute,
            run: minute,
        },
        forks: true,
        environment: String::new(),
    }
}

pub(crate) fn failed(message: &str) -> Outcome {
    Outcome::Failed(Arc::new(Failure {
        phase: Phase::Call,
        message: message.into(),
        at: String::new(),
    }))
}

pub(crate) fn record(request: usize, ending: Ending, pursued: Vec<Pursued>) -> RunRecord {
    RunRecord {
        request,
        ending,
        executions: Vec::new(),
        hash_seed: 1,
        cpu: Duration::ZERO,
        wall: Duration::ZERO,
        plain: false,
        observation: None,
        trace: None,
        pursued,
        reached: None,
    }
}

/// A file, every test of which reaches all of its mutants.
pub(crate) struct Planted {
    file: File,
    found: Mutants,
    files: TestFiles,
    order: Vec<Candidate>,
}

impl Planted {
    pub(crate) fn new(text: &str, suite: &Suite) -> Self {
        let source = Source::parse(text).expect("it parses");
        let order = suite.indices().map(|test| Candidate {
            test,
            seen: 4,
            of: 4,
            micros: 100,
        });
        Self {
            file: File {
                path: "calc.py".into(),
                absolute: "/calc.py".into(),
                text: text.into(),
            },
            found: mutants(&source),
            files: TestFiles::new(suite),
            order: order.collect(),
        }
    }

    pub(crate) fn chases(&self, lane: Lane, settings: &Settings) -> Vec<Chase<'_>> {
        let all = self.found.mutations.iter().map(|change| {
            let subject = Subject {
                file: &self.file,
                unit: &self.found.units[change.unit],
                change,
                found: &self.found,
                lane,
                order: self.order.clone(),
                files: &self.files,
            };
            Chase::new(subject, settings)
        });
        all.collect()
    }
}
