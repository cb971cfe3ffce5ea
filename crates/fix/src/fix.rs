//! From causes to patches: candidates in turn, and patches that already hold for others first.

use std::collections::BTreeSet;
use std::time::Duration;

use flakelab_lab::orders::{self, Kind};
use flakelab_lab::{Lab, LabError, patience};
use flakelab_model::{Isolation, Polarity, RunRequest, Timeout};

use crate::case::{Case, Tree};
use crate::patch::{Patch, Strategy};
use crate::propose;
use crate::verify::{self, Known, Variants, Verified};

/// A test gets at least this long before it counts as hung.
const LEAST_PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
pub struct Settings {
    pub seed: u64,
    /// Fresh interpreters that must agree.
    pub confirmations: u32,
    /// Random orders of the whole suite with the patch in place.
    pub shuffles: usize,
    /// Other tests that are each run right before the fixed one, at most.
    pub sweep: usize,
    pub timeout: Timeout,
    /// Whether tests that take far longer than any did without a patch may be ended earlier.
    pub impatient: bool,
    pub strategy: Option<Strategy>,
    /// All patches that hold, not only the first.
    pub all: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Fixed,
    Partial,
    None,
}

#[derive(Debug, Clone)]
pub struct VerifiedPatch {
    pub patch: Patch,
    pub verified: Verified,
}

#[derive(Debug, Clone)]
pub struct Fix {
    pub test: String,
    pub status: Status,
    pub patches: Vec<VerifiedPatch>,
    /// Why there is none, or what is left.
    pub reason: String,
}

/// Sees a campaign go by.
pub trait Watch {
    fn test(&mut self, test: &str, number: usize, of: usize);
}

/// `lab` is the project as it is; `flaky` are tests known to vary.
pub fn fix(
    lab: &mut dyn Lab,
    variants: &mut dyn Variants,
    tree: &dyn Tree,
    cases: &[Case],
    flaky: &BTreeSet<String>,
    settings: &Settings,
    watch: &mut dyn Watch,
) -> Result<Vec<Fix>, LabError> {
    let (mut known, slowest) = baseline(lab, settings)?;
    let mut settings = settings.clone();
    if settings.impatient {
        // A patch may make a test loop for ever.
        let most = settings.timeout.test;
        settings.timeout.test = patience::limit(slowest, LEAST_PATIENCE, most);
    }
    known.failing.extend(flaky.iter().cloned());
    let mut fixes: Vec<Fix> = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        watch.test(&case.test, number, cases.len());
        let accepted: Vec<Patch> = fixes
            .iter()
            .filter(|fix| fix.status == Status::Fixed)
            .flat_map(|fix| &fix.patches)
            .map(|held| held.patch.clone())
            .collect();
        fixes.push(fix_one(variants, tree, case, accepted, &known, &settings)?);
    }
    Ok(fixes)
}

fn fix_one(
    variants: &mut dyn Variants,
    tree: &dyn Tree,
    case: &Case,
    accepted: Vec<Patch>,
    known: &Known,
    settings: &Settings,
) -> Result<Fix, LabError> {
    let mut found = Fix {
        test: case.test.clone(),
        status: Status::None,
        patches: Vec::new(),
        reason: String::new(),
    };
    let own = propose::candidates(case, tree);
    if own.is_empty() {
        found.reason = "no strategy has a candidate for what is known of it".into();
    }
    // A patch that holds for another test with the same cause comes first.
    let (mut candidates, rest): (Vec<Patch>, Vec<Patch>) = own
        .into_iter()
        .partition(|patch| accepted.iter().any(|a| a.changes == patch.changes));
    candidates.extend(rest);
    candidates.retain(|patch| {
        settings
            .strategy
            .is_none_or(|wanted| wanted == patch.strategy)
    });
    let mut partial: Option<VerifiedPatch> = None;
    let tried = candidates.len();
    for patch in candidates {
        let Some(mut lab) = variants.open(&patch.changes)? else {
            continue;
        };
        let verified = verify::verify(&mut *lab, case, known, settings)?;
        let held = VerifiedPatch { patch, verified };
        if held.verified.holds() {
            found.status = Status::Fixed;
            found.patches.push(held);
            if !settings.all {
                break;
            }
        } else if held.verified.helps() && partial.is_none() {
            partial = Some(held);
        }
    }
    if found.patches.is_empty() {
        if let Some(held) = partial {
            found.status = Status::Partial;
            let open: Vec<String> = held
                .verified
                .after
                .iter()
                .filter(|(_, passed, of)| passed < of)
                .map(|(set, ..)| set.join(" + "))
                .collect();
            found.reason = if open.is_empty() {
                "it still fails in some orders of the whole suite".into()
            } else {
                format!("it still fails after {}", open.join(", "))
            };
            found.patches.push(held);
        } else if tried > 0 {
            found.reason = match tried {
                1 => "the one candidate did not hold".into(),
                _ => format!("none of {tried} candidates held"),
            };
        }
    }
    Ok(found)
}

/// What fails in the default order without any patch, and how long the slowest test takes.
fn baseline(lab: &mut dyn Lab, settings: &Settings) -> Result<(Known, Duration), LabError> {
    let suite = lab.suite().clone();
    let tests: Vec<_> = suite.indices().collect();
    let order = orders::generate(&suite, &tests, Kind::Original, 1, settings.seed);
    let batch: Vec<RunRequest> = order
        .into_iter()
        .map(|order| RunRequest::new(order, Isolation::Fork, settings.timeout))
        .collect();
    let mut slowest = 0;
    let mut known = Known {
        ids: suite.ids().iter().map(ToString::to_string).collect(),
        ..Known::default()
    };
    for record in verify::run(lab, &batch)?.into_iter().flatten() {
        for execution in record.executions {
            slowest = slowest.max(execution.micros);
            if execution.outcome.polarity() == Polarity::Fail {
                known.failing.insert(suite.id(execution.test).to_string());
            }
        }
    }
    Ok((known, Duration::from_micros(slowest.into())))
}
