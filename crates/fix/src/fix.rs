//! From causes to patches: candidates in turn, and patches that already hold for others first.

use flakelab_source::Tree;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use flakelab_lab::{Lab, LabError, Variants};
use flakelab_model::{Place, Timeout};
use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::known::Known;
use crate::patch::{Patch, Site, Strategy};
use crate::propose::{self, Around, Candidate};
use crate::together::{self, Together, with_others};
use crate::unpatched::{Unpatched, unpatched};
use crate::verify::{self, InOrders, Verified};
use crate::{assertions, shrink};

/// Patches whose runs are remembered for the next test.
const MOST_REMEMBERED: usize = 20;
/// How often a patch is extended for tests that it breaks.
const WIDEST: usize = 6;
/// With more tests that a patch is extended for, their number says it better.
const MOST_REASONS: usize = 2;
/// Patches of other tests that are tried for one that shares a file with them.
const MOST_SHARED: usize = 3;

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
    pub site: Option<Site>,
    /// All patches that hold, not only the first.
    pub all: bool,
    /// Whether all are to be written: then they must hold together.
    pub together: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    Fixed,
    Partial,
    None,
    /// It needs no patch: as the project is now it passes.
    Passing,
    /// It gets no patch: whatever breaks it would look like a fix.
    ExpectedToFail,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct VerifiedPatch {
    pub patch: Patch,
    pub verified: Verified,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Fix {
    pub test: String,
    pub status: Status,
    pub patches: Vec<VerifiedPatch>,
    /// Why there is none, or what is left.
    pub reason: String,
}

/// What a campaign came to.
#[derive(Debug)]
pub struct Fixes {
    pub fixes: Vec<Fix>,
    /// If it was asked for.
    pub together: Together,
}

/// Sees a campaign go by.
pub trait Watch {
    fn test(&mut self, test: &str, number: usize, of: usize);
    fn candidate(&mut self, number: usize, of: usize);
    /// A candidate that does not hold, and why.
    fn dropped(&mut self, patch: &Patch, why: &str);
    /// An error ends the campaign; what was fixed so far has been seen here.
    fn fixed(&mut self, fix: &Fix) -> Result<(), LabError>;
}

/// What `fix` works with, beside the lab of the project as it is.
#[allow(missing_debug_implementations)]
pub struct Surroundings<'a> {
    pub variants: &'a mut dyn Variants,
    pub tree: &'a dyn Tree,
    /// Tests known to vary whatever the order.
    pub restless: &'a BTreeSet<String>,
    /// What an interrupted campaign has done already.
    pub done: Vec<Fix>,
}

pub fn fix(
    lab: &mut dyn Lab,
    mut around: Surroundings<'_>,
    cases: &[Case],
    settings: &Settings,
    watch: &mut dyn Watch,
) -> Result<Fixes, LabError> {
    let mut fixes: Vec<Fix> = Vec::new();
    let mut known: Option<Known> = None;
    let memory = RefCell::default();
    let mut settings = settings.clone();
    let done = std::mem::take(&mut around.done);
    for (number, case) in cases.iter().enumerate() {
        watch.test(&case.test, number, cases.len());
        if let Some(before) = done.iter().find(|fix| fix.test == case.test) {
            fixes.push(before.clone());
            continue;
        }
        let known = match &mut known {
            Some(known) => known,
            none => {
                let learnt = Known::learn(lab, around.restless, &settings)?;
                // A patch may make a test loop for ever.
                settings.timeout = learnt.timeout;
                none.insert(learnt)
            }
        };
        let alone = verify::alone(lab, &case.test, &settings)?;
        let one = One {
            case,
            known,
            settings: &settings,
            shared: cases.iter().any(|other| shares_cause(case, other)),
            plain: alone.plain,
            cases,
            fixes: &fixes,
            memory: &memory,
        };
        let settled = if alone.expected_to_fail {
            let why = "it is expected to fail (xfail): whatever breaks it would look like a fix";
            Some((Status::ExpectedToFail, why.to_owned()))
        } else {
            match unpatched(lab, case, alone.plain, &settings)? {
                Unpatched::Failing => None,
                Unpatched::Passing => {
                    let why =
                        "as the project is now, it passes alone and after every known culprit";
                    Some((Status::Passing, why.to_owned()))
                }
                Unpatched::Stale(why) => Some((Status::None, why)),
            }
        };
        if let Some((status, why)) = settled {
            let found = Fix {
                test: case.test.clone(),
                status,
                patches: Vec::new(),
                reason: why,
            };
            watch.fixed(&found)?;
            fixes.push(found);
            continue;
        }
        let (own, refused) = propose::candidates(case, one.around(&around));
        let candidates = in_turn(case, accepted(&fixes), own);
        let found = one.fix(&mut around, candidates, &refused.text(), watch)?;
        watch.fixed(&found)?;
        fixes.push(found);
    }
    // What was found for a later test may help one that came before it.
    for (number, case) in cases.iter().enumerate() {
        let partial = match &fixes[number] {
            fix if fix.status == Status::Partial => fix.patches.first(),
            fix if fix.status == Status::None => None,
            _ => continue,
        };
        let both = partial.map(|held| with_others(&held.patch, &accepted(&fixes)));
        let both = both.into_iter().flatten().map(Candidate::from).collect();
        let candidates = in_turn(case, accepted(&fixes[number + 1..]), both);
        let Some(known) = known.as_ref().filter(|_| !candidates.is_empty()) else {
            continue;
        };
        watch.test(&case.test, number, cases.len());
        let plain = verify::alone(lab, &case.test, &settings)?.plain;
        // What has nothing to fix is not fixed by what others have.
        if unpatched(lab, case, plain, &settings)? != Unpatched::Failing {
            continue;
        }
        let one = One {
            case,
            known,
            settings: &settings,
            shared: false,
            plain,
            cases,
            fixes: &fixes,
            memory: &memory,
        };
        let found = one.fix(&mut around, candidates, "", watch)?;
        if found.status == Status::Fixed {
            watch.fixed(&found)?;
            fixes[number] = found;
        }
    }
    let mut together = Together::default();
    if settings.together {
        let known = match known {
            Some(known) => known,
            None => Known::learn(lab, around.restless, &settings)?,
        };
        settings.timeout = known.timeout;
        together = together::together(&fixes, |patch, test| {
            let Some(number) = cases.iter().position(|case| case.test == test) else {
                return Ok(false);
            };
            watch.test(test, number, cases.len());
            let one = One {
                case: &cases[number],
                known: &known,
                settings: &settings,
                shared: false,
                plain: verify::alone(lab, test, &settings)?.plain,
                cases,
                fixes: &fixes,
                memory: &memory,
            };
            let held = one.see(&mut around, patch.clone())?;
            Ok(held.is_some_and(|held| held.verified.holds()))
        })?;
    }
    Ok(Fixes { fixes, together })
}

/// Patches that hold.
fn accepted(fixes: &[Fix]) -> Vec<Patch> {
    let fixed = fixes.iter().filter(|fix| fix.status == Status::Fixed);
    let patches = fixed.filter_map(|fix| fix.patches.first());
    patches.map(|held| held.patch.clone()).collect()
}

/// Another test of the same file that fails for the same state.
fn shares_cause(case: &Case, other: &Case) -> bool {
    let file = |case: &Case| Place::of(&case.test).map(|place| place.file);
    let names = |case: &Case| -> Vec<Vec<String>> {
        let groups = case.causes.iter();
        groups
            .map(|cause| cause.iter().map(|leak| leak.name.clone()).collect())
            .collect()
    };
    case.test != other.test
        && case.class == other.class
        && file(case) == file(other)
        && names(case).iter().any(|name| names(other).contains(name))
}

/// One test at its turn.
struct One<'a> {
    case: &'a Case,
    known: &'a Known,
    settings: &'a Settings,
    shared: bool,
    /// Whether a command with the test alone collects it alone.
    plain: bool,
    cases: &'a [Case],
    /// What was fixed before.
    fixes: &'a [Fix],
    memory: &'a RefCell<Memory>,
}

/// How every test did with patches that broke none, by their files.
type Memory = Vec<(Vec<(String, String)>, InOrders)>;

impl One<'_> {
    fn fix(
        &self,
        around: &mut Surroundings<'_>,
        mut candidates: Vec<Candidate>,
        refused: &str,
        watch: &mut dyn Watch,
    ) -> Result<Fix, LabError> {
        let (case, settings) = (self.case, self.settings);
        let mut found = Fix {
            test: case.test.clone(),
            status: Status::None,
            patches: Vec::new(),
            reason: String::new(),
        };
        candidates.retain(|candidate| {
            let patch = &candidate.patch;
            settings
                .strategy
                .is_none_or(|wanted| wanted == patch.strategy)
                && settings.site.is_none_or(|wanted| wanted == patch.site)
        });
        let mut partial: Option<VerifiedPatch> = None;
        let tried = candidates.len();
        for (number, candidate) in candidates.into_iter().enumerate() {
            watch.candidate(number, tried);
            let patch = candidate.patch.clone();
            let Some(held) = self.hold(around, candidate)? else {
                watch.dropped(
                    &patch,
                    "with it the test still fails alone or after its culprits",
                );
                continue;
            };
            if !held.verified.holds() {
                watch.dropped(&held.patch, &held.verified.why_not());
            }
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
        if found.status != Status::Fixed {
            found.reason = reason(partial.as_ref(), tried, refused);
            if let Some(held) = partial {
                found.status = Status::Partial;
                found.patches.push(held);
            }
        }
        Ok(found)
    }

    /// What is seen with a candidate in place, made as small as it can be; `None` if it is of no use.
    fn hold(
        &self,
        around: &mut Surroundings<'_>,
        candidate: Candidate,
    ) -> Result<Option<VerifiedPatch>, LabError> {
        let Candidate { mut patch, recipe } = candidate;
        if let Some(recipe) = recipe {
            let works = match around.variants.open(&patch.files())? {
                Some(mut lab) => verify::works(&mut *lab, self.case, self.settings)?,
                None => false,
            };
            if !works {
                return Ok(None);
            }
            let smaller = shrink::smallest(
                &recipe,
                around.variants,
                around.tree,
                self.case,
                self.settings,
            )?;
            if let Some(smaller) = smaller {
                patch = smaller;
            }
        }
        let Some(mut held) = self.see(around, patch.clone())? else {
            return Ok(None);
        };
        // For each other test that breaks, which of its ways to be set right is tried.
        let mut ways: BTreeMap<String, usize> = BTreeMap::new();
        for _ in 0..WIDEST {
            if held.verified.broken.is_empty() {
                break;
            }
            for id in &held.verified.broken {
                ways.entry(id.clone())
                    .and_modify(|way| *way += 1)
                    .or_insert(0);
            }
            let Some(patch) = self.wider(around, &patch, &ways) else {
                break;
            };
            match self.see(around, patch)? {
                Some(wider) => held = wider,
                None => break,
            }
        }
        Ok(Some(held))
    }

    fn see(
        &self,
        around: &mut Surroundings<'_>,
        patch: Patch,
    ) -> Result<Option<VerifiedPatch>, LabError> {
        // What a test checks is not a patch's to change.
        if !assertions::untouched(&patch) {
            let verified = Verified::default();
            return Ok(Some(VerifiedPatch { patch, verified }));
        }
        let Some(mut lab) = around.variants.open(&patch.files())? else {
            return Ok(None);
        };
        let mut memory = self.memory.borrow_mut();
        let at = memory.iter().position(|(files, _)| *files == patch.files());
        let mut in_orders = at.map(|at| memory.swap_remove(at).1);
        let mut verified = verify::verify(
            &mut *lab,
            self.case,
            self.known,
            self.plain,
            &mut in_orders,
            self.settings,
        )?;
        verified.assertions_untouched = true;
        if let Some(outcomes) = in_orders.filter(|_| verified.broken.is_empty()) {
            memory.push((patch.files(), outcomes));
            let forgotten = memory.len().saturating_sub(MOST_REMEMBERED);
            memory.drain(..forgotten);
        }
        Ok(Some(VerifiedPatch { patch, verified }))
    }

    /// A patch that takes from other order-dependent tests what they lived on, with what they need instead:
    /// their own patch, or their helper.
    fn wider(
        &self,
        around: &Surroundings<'_>,
        base: &Patch,
        ways: &BTreeMap<String, usize>,
    ) -> Option<Patch> {
        let mut patch = base.clone();
        for (id, way) in ways {
            let other = self.cases.iter().find(|case| case.test == *id)?;
            let own = self.fixes.iter();
            let mut own = own.filter(|fix| fix.test == *id && fix.status == Status::Fixed);
            let own = own.next().and_then(|fix| fix.patches.first());
            let own = own.and_then(|own| patch.with(&own.patch));
            let helped = propose::on_top(&patch, other, self.around(around));
            patch = own.into_iter().chain(helped).nth(*way)?;
        }
        if ways.len() > MOST_REASONS {
            patch.reason = format!(
                "{}; {} other tests set up what they lived on",
                base.reason,
                ways.len()
            );
        }
        Some(patch)
    }

    fn around<'s>(&'s self, around: &'s Surroundings<'_>) -> Around<'s> {
        Around {
            tree: around.tree,
            suite: &self.known.ids,
            site: self.settings.site,
            shared: self.shared,
            cases: self.cases,
        }
    }
}

/// A patch that holds for another test with the same cause comes first, then one that changes a file of the
/// culprits.
fn in_turn(case: &Case, accepted: Vec<Patch>, own: Vec<Candidate>) -> Vec<Candidate> {
    let files = case.culprit_files();
    let same = |a: &Patch, b: &Patch| a.changes == b.changes;
    let (mut first, rest): (Vec<Candidate>, Vec<Candidate>) = own
        .into_iter()
        .partition(|candidate| accepted.iter().any(|a| same(a, &candidate.patch)));
    let mut near: Vec<Patch> = Vec::new();
    for patch in accepted {
        let touches = patch
            .changes
            .iter()
            .any(|change| files.contains(&change.path) || change.path.ends_with("conftest.py"));
        let known = first.iter().any(|c| same(&c.patch, &patch))
            || near.iter().any(|other| same(other, &patch));
        if patch.site != Site::Victim && touches && !known && near.len() < MOST_SHARED {
            near.push(patch);
        }
    }
    first.extend(near.into_iter().map(Candidate::from));
    first.extend(rest);
    first
}

fn reason(partial: Option<&VerifiedPatch>, tried: usize, refused: &str) -> String {
    let said = match (partial, tried) {
        (Some(held), _) => {
            let open: Vec<String> = held
                .verified
                .after
                .iter()
                .filter(|(_, passed, of)| passed < of)
                .map(|(set, ..)| set.join(" + "))
                .collect();
            return if open.is_empty() {
                "it still fails in some orders of the whole suite".into()
            } else {
                format!("it still fails after {}", open.join(", "))
            };
        }
        (None, 0) => "no strategy has a candidate for what is known of it".to_owned(),
        (None, 1) => "the one candidate did not hold".to_owned(),
        (None, many) => format!("none of {many} candidates held"),
    };
    if refused.is_empty() {
        said
    } else {
        format!("{said}; {refused}")
    }
}
