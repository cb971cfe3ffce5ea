//! An injection as a document.

use std::time::Duration;

use flakelab_inject::{Injection, Metrics, Relations, Settings, Totals};
use flakelab_report::detect::Schema;
use flakelab_report::inject as report;
use flakelab_runners::pytest::PytestLab;

use crate::workbench::Workbench;

pub(super) fn build(
    injection: &Injection,
    metrics: &Metrics,
    lab: &PytestLab,
    bench: &Workbench,
    settings: &Settings,
    wall: Duration,
) -> report::Document {
    let round = |seconds: f64| (seconds * 1000.0).round() / 1000.0;
    report::Document {
        schema: Schema::INJECT,
        flakelab: env!("CARGO_PKG_VERSION").into(),
        project: bench.project_name(),
        totals: totals(&metrics.totals),
        classes_affected: metrics.classes_affected,
        classes: metrics
            .classes
            .iter()
            .map(|row| report::ClassRow {
                class: row.class.clone(),
                size: row.size,
                shared_fields: row.shared_fields,
                fixture: row.fixture,
                seconds: round(row.seconds),
                totals: totals(&row.totals),
            })
            .collect(),
        relations: relations(&metrics.relations),
        excluded: injection
            .selection
            .excluded
            .iter()
            .map(|excluded| report::Excluded {
                test: excluded.test.clone(),
                why: excluded.why.clone(),
            })
            .chain(injection.without_code.iter().map(|test| report::Excluded {
                test: test.clone(),
                why: "its code is not in the project".into(),
            }))
            .collect(),
        campaign: report::Campaign {
            seed: settings.seed,
            reruns: settings.reruns,
            orders: settings.orders,
            scope: settings.scope.word().into(),
            include_fixtures: settings.include_fixtures,
            evaluations: injection.evaluation.runs,
            evaluation_cpu_seconds: round(injection.evaluation.cpu.as_secs_f64()),
            wall_seconds: round(wall.as_secs_f64()),
            python: lab.facts().python.clone(),
            pytest: lab.facts().pytest.clone(),
        },
    }
}

fn totals(t: &Totals) -> report::Totals {
    report::Totals {
        stable_tests: t.stable_tests,
        mutants: t.mutants,
        valid: t.valid,
        order_dependent: t.order_dependent,
        victims: t.victims,
        brittles: t.brittles,
        non_deterministic: t.non_deterministic,
        assertion_failures: t.assertion_failures,
        other_failures: t.other_failures,
        tests_affected: t.tests_affected,
    }
}

fn relations(r: &Relations) -> report::Relations {
    let spearman = |s: &flakelab_stats::Spearman| report::Coefficient {
        value: s.rho,
        interval: s.interval.as_ref().map(|i| [i.low, i.high]),
        p: Some(s.p_value),
        magnitude: None,
    };
    report::Relations {
        class_size: r.size.as_ref().map(spearman),
        shared_fields: r.shared_fields.as_ref().map(spearman),
        fixture: r.fixture.as_ref().map(|u| report::Coefficient {
            value: u.u,
            interval: None,
            p: Some(u.p_value),
            magnitude: None,
        }),
        fixture_effect: r.fixture_effect.as_ref().map(|d| report::Coefficient {
            value: d.delta,
            interval: d.interval.as_ref().map(|i| [i.low, i.high]),
            p: None,
            magnitude: Some(d.magnitude.word().into()),
        }),
    }
}
