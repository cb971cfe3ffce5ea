//! A campaign as a document.

use std::io;
use std::time::Duration;

use flakelab_mutate::{Found, Mutating, Rung, Settings, Share, Status};
use flakelab_report::detect::Schema;
use flakelab_report::mutate as report;
use flakelab_runners::pytest::PytestLab;

use super::spool::{Spool, Spooled};
use crate::workbench::Workbench;

/// Pairs whose coverage varies that are listed.
const MOST_VARYING: usize = 200;

/// Mutants as they come, and what they add up to.
pub(super) struct Gathered {
    all: Spool,
    /// Those that people read of; of the others they read how many there are.
    told: Vec<report::Mutant>,
    totals: report::Totals,
    pairs: report::Pairs,
}

impl Gathered {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            all: Spool::new()?,
            told: Vec::new(),
            totals: report::Totals::default(),
            pairs: report::Pairs::default(),
        })
    }

    pub(super) fn take(&mut self, found: Found) -> io::Result<()> {
        let verdict = found.verdict;
        let status = status(verdict.status);
        self.totals.add(status);
        self.pairs.killed += verdict.counts.killed;
        self.pairs.survived += verdict.counts.survived;
        self.pairs.unknown += verdict.counts.unknown;
        self.pairs.timeout += verdict.counts.timeout;
        let mutant = report::Mutant {
            id: found.id,
            file: found.file,
            line: found.line,
            column: found.column,
            scope: found.scope,
            operator: found.operator.to_owned(),
            says: found.says,
            status,
            why: verdict.why,
            confirmed: status == report::Status::Killed,
            killed_by: verdict.killed_by,
            failure: verdict.failure,
            diff: found.diff,
            tests: found.tests,
            unknown_pairs: verdict.unknown_pairs,
            reused: found.reused,
        };
        self.all.push(&mutant)?;
        if !matches!(status, report::Status::Killed | report::Status::NotCovered) {
            self.told.push(mutant);
        }
        Ok(())
    }
}

fn status(status: Status) -> report::Status {
    match status {
        Status::Killed => report::Status::Killed,
        Status::Survived => report::Status::Survived,
        Status::Unknown => report::Status::Unknown,
        Status::Timeout => report::Status::Timeout,
        Status::Error => report::Status::Error,
        Status::NotCovered => report::Status::NotCovered,
    }
}

/// The document for people, which tells those of its mutants that they read of; and all mutants.
pub(super) fn build(
    gathered: Gathered,
    mutating: &Mutating,
    lab: &PytestLab,
    bench: &Workbench,
    settings: &Settings,
    diff_base: Option<String>,
    wall: Duration,
) -> io::Result<(report::Document, Spooled)> {
    let Gathered {
        all,
        told: mutants,
        mut totals,
        pairs,
    } = gathered;
    totals.equal = mutating.equal;
    totals.duplicate = mutating.duplicate;
    totals.excluded = mutating.excluded;
    let round = |seconds: f64| (seconds * 1000.0).round() / 1000.0;
    let steps = settings.reruns.steps().into_iter();
    let document = report::Document {
        schema: Schema::MUTATE,
        flakelab: env!("CARGO_PKG_VERSION").into(),
        project: bench.project_name(),
        score: report::Score::of_sample(&totals, settings.sample),
        mutants,
        totals,
        pairs,
        coverage: coverage(mutating, lab),
        ladder: steps
            .zip(&mutating.ladder.steps)
            .map(|((rung, attempt), (pairs, mutants))| report::Rung {
                rung: rung.words().into(),
                attempt,
                pairs: *pairs,
                mutants: *mutants,
            })
            .collect(),
        unknown_at_first: mutating.ladder.unknown_at_first,
        set_aside: mutating
            .set_aside
            .iter()
            .chain(&mutating.unreliable)
            .map(|(test, why)| report::SetAside {
                test: test.clone(),
                why: why.clone(),
            })
            .collect(),
        campaign: report::Campaign {
            seed: settings.seed,
            coverage: settings.collecting.word().into(),
            coverage_reruns: settings.coverage_reruns,
            reruns: Rung::ALL.map(|rung| settings.reruns.of(rung)),
            strategy: if settings.immediate {
                "immediate".into()
            } else {
                "later".into()
            },
            matrix: settings.matrix,
            runs: mutating.spent.runs,
            cpu_seconds: round(mutating.spent.cpu.as_secs_f64()),
            wall_seconds: round(wall.as_secs_f64()),
            python: lab.facts().python.clone(),
            pytest: lab.facts().pytest.clone(),
            diff_base,
            sample: settings.sample,
        },
    };
    Ok((document, all.finish()?))
}

fn coverage(mutating: &Mutating, lab: &PytestLab) -> report::Coverage {
    let share = |share: Share| report::Share {
        varying: share.varying,
        of: share.of,
    };
    let stability = &mutating.stability;
    let suite = flakelab_lab::Lab::suite(lab);
    report::Coverage {
        statements: share(stability.statements),
        tests: share(stability.tests),
        pairs: share(stability.pairs),
        varying: stability
            .varying
            .iter()
            .take(MOST_VARYING)
            .filter_map(|varying| {
                let (file, line) = mutating.statements.get(varying.statement)?;
                Some(report::Varying {
                    file: file.clone(),
                    line: *line,
                    test: suite.id(varying.test).to_string(),
                    seen: varying.seen,
                    of: varying.of,
                })
            })
            .collect(),
    }
}
