//! A detection as a document.

use std::sync::atomic::Ordering;
use std::time::Duration;

use flakelab_detect::{Detection, Finding, Tally};
use flakelab_lab::Lab;
use flakelab_model::{Class, TestIndex};
use flakelab_report::detect::{
    Campaign, Confidence, Counts, Document, Evidence, Failure, Rate, Reproduce, Schema, Test,
};
use flakelab_runners::pytest::{PytestLab, SandboxState};

use flakelab_store::Totals;

use super::plan::Plan;
use crate::workbench::{not_collected, shell};

pub(super) fn build(
    detection: &Detection,
    lab: &PytestLab,
    plan: &Plan,
    totals: Totals,
    wall: Duration,
) -> Document {
    let facts = lab.facts();
    let suite = lab.suite();
    let mut tests: Vec<Test> = suite
        .indices()
        .map(|test| {
            let finding = detection
                .findings
                .binary_search_by_key(&test, |f| f.test)
                .ok()
                .map(|at| &detection.findings[at]);
            describe(lab, plan, test, finding, detection)
        })
        .collect();
    tests.extend(facts.unstable.iter().map(|id| unstable(id)));
    let counters = lab.progress();
    Document {
        schema: Schema::DETECT,
        flakelab: env!("CARGO_PKG_VERSION").into(),
        tests,
        confidence: Confidence::new(detection.random_orders()),
        campaign: Campaign {
            seed: plan.settings.seed,
            orders: detection.orders.values().sum(),
            orders_by_kind: detection
                .orders
                .iter()
                .map(|(kind, count)| (kind.word().to_owned(), *count))
                .collect(),
            runs: totals.runs,
            executions: totals.executions,
            processes: counters.processes.load(Ordering::Relaxed),
            cpu_seconds: round((totals.cpu + lab.start_cpu()).as_secs_f64()),
            wall_seconds: round(wall.as_secs_f64()),
            jobs: plan.bench.jobs,
            python: facts.python.clone(),
            pytest: facts.pytest.clone(),
            plugins: facts.plugins.clone(),
            silenced_plugins: facts.silenced.clone(),
            isolation: if facts.cold_because.is_some() {
                "cold".into()
            } else {
                "fork".into()
            },
            sandbox: match facts.sandbox {
                SandboxState::On => "overlay".into(),
                SandboxState::Off => "off".into(),
                SandboxState::Unavailable(_) => "unavailable".into(),
            },
            out_of_budget: detection.out_of_budget,
            collection_errors: not_collected(facts),
            notes: detection.notes.clone(),
        },
    }
}

fn round(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

fn describe(
    lab: &PytestLab,
    plan: &Plan,
    test: TestIndex,
    finding: Option<&Finding>,
    detection: &Detection,
) -> Test {
    let suite = lab.suite();
    let rate = detection.rates[test.at()];
    let ids = |order: &[TestIndex]| {
        order
            .iter()
            .map(|t| suite.id(*t).to_string())
            .collect::<Vec<_>>()
    };
    Test {
        id: suite.id(test).to_string(),
        class: finding.map_or(Class::Stable, |f| f.class),
        also: finding.map(|f| f.also.clone()).unwrap_or_default(),
        failure_rate: Rate::new(rate.failed, rate.of),
        failure: finding
            .and_then(|f| f.failure.as_ref())
            .map(|failure| Failure {
                phase: failure.phase,
                message: failure.message.clone(),
                at: plan.bench.near(&failure.at),
                signature: failure.signature(),
            }),
        reproduce: finding
            .and_then(|f| f.reproduce.as_ref())
            .map(|command| Reproduce {
                command: shell(lab, &command.order, command.hash_seed),
                verified: command.plain,
                order: ids(&command.order),
                hash_seed: command.hash_seed,
            }),
        passing_order: finding.and_then(|f| f.passing_order.as_deref()).map(ids),
        evidence: finding.map(|f| Evidence {
            reruns: counts(f.reruns),
            isolated: counts(f.isolated),
            confirmed: counts(f.confirmed),
            order_effect_p_value: f.order_effect,
        }),
        why: finding.map(|f| f.why.clone()).unwrap_or_default(),
    }
}

fn counts(tally: Tally) -> Counts {
    Counts {
        passed: tally.passed,
        failed: tally.failed,
    }
}

fn unstable(id: &str) -> Test {
    Test {
        id: id.to_owned(),
        class: Class::UnstableParametrisation,
        also: Vec::new(),
        failure_rate: Rate::new(0, 0),
        failure: None,
        reproduce: None,
        passing_order: None,
        evidence: None,
        why: "its id differs from collection to collection, so it cannot be selected or compared"
            .into(),
    }
}
