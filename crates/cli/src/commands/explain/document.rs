//! Explanations as a document.

use std::sync::atomic::Ordering;
use std::time::Duration;

use flakelab_explain::{Culprits, Explanation, Mode, Rate, Settings};
use flakelab_lab::Lab;
use flakelab_model::{Class, TestIndex};
use flakelab_report::detect::{self, Schema};
use flakelab_report::explain as report;
use flakelab_runners::pytest::PytestLab;
use flakelab_store::Totals;

use crate::workbench::{Workbench, shell};

pub(super) fn build(
    explanations: &[Explanation],
    lab: &PytestLab,
    bench: &Workbench,
    settings: &Settings,
    totals: Totals,
    wall: Duration,
) -> report::Document {
    let facts = lab.facts();
    let round = |seconds: f64| (seconds * 1000.0).round() / 1000.0;
    report::Document {
        schema: Schema::EXPLAIN,
        flakelab: env!("CARGO_PKG_VERSION").into(),
        explanations: explanations
            .iter()
            .map(|explanation| describe(explanation, lab, bench))
            .collect(),
        campaign: report::Campaign {
            seed: bench.seed,
            mode: mode_word(settings.mode).into(),
            all: settings.all,
            runs: totals.runs,
            executions: totals.executions,
            processes: lab.progress().processes.load(Ordering::Relaxed),
            cpu_seconds: round((totals.cpu + lab.start_cpu()).as_secs_f64()),
            wall_seconds: round(wall.as_secs_f64()),
            jobs: bench.jobs,
            python: facts.python.clone(),
            pytest: facts.pytest.clone(),
            notes: Vec::new(),
        },
    }
}

pub(super) fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Probe => "probe",
        Mode::Pairs => "pairs",
        Mode::Delta => "delta",
    }
}

fn describe(e: &Explanation, lab: &PytestLab, bench: &Workbench) -> report::Explanation {
    let suite = lab.suite();
    let ids = |tests: &[TestIndex]| -> Vec<String> {
        tests.iter().map(|t| suite.id(*t).to_string()).collect()
    };
    let rate = |rate: Rate| detect::Rate::new(rate.failed, rate.of);
    let steady = |c: &&Culprits| c.rate.is_none();
    let sets: Vec<Vec<String>> = e
        .culprits
        .iter()
        .filter(steady)
        .map(|c| ids(&c.tests))
        .collect();
    let (polluters, state_setters) = if e.class == Class::Brittle {
        (Vec::new(), sets)
    } else {
        (sets, Vec::new())
    };
    let zone = e.timezone.as_ref().map(|zone| format!("TZ={zone} "));
    let zone = zone.unwrap_or_default();
    report::Explanation {
        test: suite.id(e.test).to_string(),
        class: e.class,
        polluters,
        state_setters,
        intermittent: e
            .culprits
            .iter()
            .filter_map(|c| {
                Some(report::Intermittent {
                    tests: ids(&c.tests),
                    failure_rate: rate(c.rate?),
                })
            })
            .collect(),
        cleaners: e
            .cleanings
            .iter()
            .map(|c| report::Cleaning {
                polluters: ids(&c.polluters),
                cleaners: ids(&c.cleaners),
            })
            .collect(),
        leaks: e
            .leaks
            .iter()
            .map(|found| report::Leak {
                kind: found.leak.kind.clone(),
                name: found.leak.name.clone(),
                before: found.leak.before.clone(),
                after: found.leak.after.clone(),
                at: found.leak.at.clone(),
                causal: found.causal,
                group: found.group,
                left_by: e
                    .culprits
                    .get(found.culprits)
                    .map(|c| ids(&c.tests))
                    .unwrap_or_default(),
                module: found.leak.module.clone(),
            })
            .collect(),
        factors: e
            .factors
            .iter()
            .map(|found| report::Factor {
                factor: found.factor.word().into(),
                decides: found.decides,
                levels: found
                    .levels
                    .iter()
                    .map(|(setting, failures)| report::Level {
                        setting: setting.clone(),
                        failure_rate: rate(*failures),
                    })
                    .collect(),
            })
            .collect(),
        failure: e.failure.as_ref().map(|failure| detect::Failure {
            phase: failure.phase,
            message: failure.message.clone(),
            at: bench.near(&failure.at),
            signature: failure.signature(),
        }),
        reproduce: e
            .reproduce
            .as_ref()
            .map(|(order, _)| zone + &shell(lab, order, e.hash_seed)),
        // A variable sets the time zone before Python starts, flakelab before the test does.
        reproduce_verified: e.timezone.is_none()
            && e.reproduce.as_ref().is_some_and(|(_, plain)| *plain),
        unfinished: e.unfinished,
        notes: e.notes.clone(),
    }
}
