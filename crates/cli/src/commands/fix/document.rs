//! Fixes as a document.

use std::time::Duration;

use flakelab_fix::{Fix, Status, VerifiedPatch};
use flakelab_report::detect::Schema;
use flakelab_report::fix as report;
use flakelab_runners::pytest::PytestLab;

pub(super) fn build(
    fixes: &[Fix],
    written: Vec<String>,
    not_written: Vec<String>,
    lab: &PytestLab,
    seed: u64,
    wall: Duration,
) -> report::Document {
    report::Document {
        schema: Schema::FIX,
        flakelab: env!("CARGO_PKG_VERSION").into(),
        fixes: fixes
            .iter()
            .map(|fix| report::Fix {
                test: fix.test.clone(),
                status: match fix.status {
                    Status::Fixed => "fixed".into(),
                    Status::Partial => "partial".into(),
                    Status::None | Status::ExpectedToFail => "none".into(),
                    Status::Passing => "passing".into(),
                },
                patches: fix.patches.iter().map(patch).collect(),
                reason: fix.reason.clone(),
            })
            .collect(),
        written,
        not_written,
        campaign: report::Campaign {
            seed,
            wall_seconds: (wall.as_secs_f64() * 1000.0).round() / 1000.0,
            python: lab.facts().python.clone(),
            pytest: lab.facts().pytest.clone(),
        },
    }
}

fn patch(held: &VerifiedPatch) -> report::Patch {
    let v = &held.verified;
    report::Patch {
        strategy: held.patch.strategy.word().into(),
        site: held.patch.site.word().into(),
        reason: held.patch.reason.clone(),
        diff: held.patch.diff(),
        verified: report::Verified {
            alone: [v.alone.0, v.alone.1],
            after: v
                .after
                .iter()
                .map(|(tests, passed, of)| report::After {
                    tests: tests.clone(),
                    passed: *passed,
                    of: *of,
                })
                .collect(),
            default_order: v.default_order,
            shuffles: [v.shuffles.0, v.shuffles.1],
            others: v.others,
            assertions_untouched: v.assertions_untouched,
            broken: v.broken.clone(),
        },
    }
}
