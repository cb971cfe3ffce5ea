//! The code of a helper (a cleaner or state-setter): its statements, cut to what is needed, or a call of it.

mod call;
mod elements;
mod recipe;

use flakelab_model::{Class, Place};
use flakelab_source::{Edit, Located, Piece, Source, Tree};

use super::guard::{Guard, guard};
use super::set_up::SetUp;
use super::{Around, Candidate, Refusals};
use crate::case::Case;
use crate::patch::{Patch, Site};

pub(crate) use recipe::Recipe;

/// Helpers tried for one test.
const MOST: usize = 4;
/// Helpers tried in other ways than at its start, where no other patch holds.
const MOST_ELSEWHERE: usize = 2;

/// Where a helper runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spot {
    /// At the start of the test, or at the end of the polluter.
    Body,
    /// In a fixture that the test is marked with: what a fixture of the test needs comes too late in its body.
    Fixture,
}

pub(super) fn propose(case: &Case, around: Around<'_>, refused: &mut Refusals) -> Vec<Candidate> {
    let Around {
        tree, suite, site, ..
    } = around;
    let mut found = Vec::new();
    for set in sets(case).iter().take(MOST) {
        if site != Some(Site::Polluter) {
            match Recipe::new(case, set, &case.test, Site::Victim, tree, suite) {
                Ok(recipe) => found.extend(recipe.candidate(tree, refused)),
                Err(why) => refused.add(why),
            }
            match call::propose(case, set, tree, suite, Spot::Body, None) {
                Ok(patch) => found.push(Candidate::from(patch)),
                Err(why) => refused.add(why),
            }
        }
        if site != Some(Site::Victim) && case.class == Class::Victim {
            // The end of the polluter, if there is one to speak of.
            match polluter(case) {
                Some(polluter) => {
                    match Recipe::new(case, set, &polluter, Site::Polluter, tree, suite) {
                        Ok(recipe) => found.extend(recipe.candidate(tree, refused)),
                        Err(why) => refused.add(why),
                    }
                }
                None => {
                    refused.add("it has several polluters, so there is no one end to clean up at");
                }
            }
        }
    }
    if site != Some(Site::Polluter) {
        found.extend(elsewhere(case, around));
    }
    if site == Some(Site::Polluter) && case.class == Class::Brittle {
        refused.add("it fails alone, so there is no polluter to clean up in");
    }
    found
}

/// Helpers that run only where the state is missing, and in a fixture.
fn elsewhere(case: &Case, around: Around<'_>) -> Vec<Candidate> {
    let Around { tree, suite, .. } = around;
    let target = Place::of(&case.test).and_then(|place| own_class(&place, tree).ok());
    let Some(target) = target else {
        return Vec::new();
    };
    let guard = guard(case, &target.source, &target.file, tree);
    let mut found = Vec::new();
    // Why there are none is said of those at the start.
    for set in sets(case).iter().take(MOST_ELSEWHERE) {
        if guard.is_some() {
            let once = call::propose(case, set, tree, suite, Spot::Body, guard.as_ref());
            found.extend(once.ok().map(Candidate::from));
        }
        let recipe = Recipe::new(case, set, &case.test, Site::Victim, tree, suite);
        let recipe = recipe.map(|recipe| recipe.in_fixture(guard.clone()));
        let made = recipe.ok().and_then(|recipe| {
            let mut unsaid = Refusals::default();
            recipe.candidate(tree, &mut unsaid)
        });
        found.extend(made);
        let called = call::propose(case, set, tree, suite, Spot::Fixture, guard.as_ref());
        found.extend(called.ok().map(Candidate::from));
    }
    found
}

/// What a fixture that runs helpers for a test is called.
fn prepare(place: &Place) -> String {
    format!("prepare_{}", place.function)
}

/// Lines that run where the state is missing.
fn guarded(lines: Vec<String>, guard: Option<&Guard>, indent: &str) -> Vec<String> {
    let Some(guard) = guard else {
        return lines;
    };
    let head = format!("if {}:", guard.condition);
    let inner = lines.into_iter().map(|line| format!("{indent}{line}"));
    std::iter::once(head).chain(inner).collect()
}

/// Calls of helpers. First those at the end of each chain of tests that need each other, because the others may come with a
/// patch of their own; then the test that is the step before this one; then each set as it is, with what its tests need
/// themselves in front of it, and those in front without the set: a state-setter may do its work and fail.
pub(super) fn calls(case: &Case, around: Around<'_>) -> Vec<Patch> {
    let sets = sets(case).iter().take(MOST);
    let mut all: Vec<Vec<String>> = Vec::new();
    let ends = sets.clone().map(|set| ends(set, around.cases));
    let wider = sets.flat_map(|set| {
        let complete = complete(set, around.cases);
        let mut before = complete.clone();
        before.retain(|id| !set.contains(id));
        [set.clone(), complete, before]
    });
    let before = before(&case.test, around);
    for set in ends.chain(before).chain(wider) {
        if !set.is_empty() && !set.contains(&case.test) && !all.contains(&set) {
            all.push(set);
        }
    }
    all.iter()
        .filter_map(|set| {
            call::propose(case, set, around.tree, around.suite, Spot::Body, None).ok()
        })
        .collect()
}

fn sets(case: &Case) -> &[Vec<String>] {
    match case.class {
        Class::Brittle => &case.culprits,
        _ => &case.cleaners,
    }
}

/// The tests that a brittle one needs before it.
fn needs<'a>(id: &str, cases: &'a [Case]) -> &'a [String] {
    let case = cases
        .iter()
        .find(|case| case.test == id && case.class == Class::Brittle);
    case.and_then(|case| case.culprits.first())
        .map_or(&[], Vec::as_slice)
}

/// The last brittle test before this one in its class, or in its file: tests that are written as steps go on where it ends.
fn before(id: &str, around: Around<'_>) -> Option<Vec<String>> {
    let place = Place::of(id)?;
    let is_beside = |other: &&String| {
        Place::of(other)
            .is_some_and(|other| (&other.file, &other.classes) == (&place.file, &place.classes))
    };
    let at = around.suite.iter().position(|other| other == id)?;
    let mut steps = around.suite[..at].iter().rev().filter(is_beside);
    let step = steps.find(|other| {
        let mut cases = around.cases.iter();
        cases.any(|case| case.test == **other && case.class == Class::Brittle)
    })?;
    Some(vec![step.clone()])
}

/// The set without those that others of it need anyway.
fn ends(set: &[String], cases: &[Case]) -> Vec<String> {
    let mut found = set.to_vec();
    for id in set {
        let mut needed = complete(std::slice::from_ref(id), cases);
        needed.retain(|need| need != id);
        found.retain(|kept| !needed.contains(kept));
    }
    found
}

/// The set with the state-setters of those in it that fail alone before them.
fn complete(set: &[String], cases: &[Case]) -> Vec<String> {
    fn add(id: &String, cases: &[Case], open: &mut Vec<String>, found: &mut Vec<String>) {
        if found.contains(id) || open.contains(id) {
            return;
        }
        open.push(id.clone());
        for need in needs(id, cases) {
            add(need, cases, open, found);
        }
        open.pop();
        found.push(id.clone());
    }
    let mut found = Vec::new();
    for id in set {
        add(id, cases, &mut Vec::new(), &mut found);
    }
    found
}

/// The one test that pollutes.
fn polluter(case: &Case) -> Option<String> {
    let mut last: Vec<&String> = case.culprits.iter().filter_map(|set| set.last()).collect();
    last.sort();
    last.dedup_by_key(|id| Place::of(id).map(|place| place.base()));
    match last.as_slice() {
        [only] => Some((*only).clone()),
        _ => None,
    }
}

/// The class of a test whose code is another file's, in its own file.
fn own_class(place: &Place, tree: &dyn Tree) -> Result<Located, String> {
    let text = tree.read(&place.file).unwrap_or_default();
    Ok(Located {
        source: Source::parse(&text).ok_or("its file does not parse")?,
        path: place.path().into_iter().map(str::to_owned).collect(),
        file: place.file.clone(),
    })
}

/// A set-up for such a class.
fn set_up(
    target: &Located,
    place: &Place,
    tree: &dyn Tree,
    pieces: &[Piece],
    fixtures: &[String],
) -> Result<Edit, String> {
    let class = target.class().ok_or("its class was not found")?;
    let set_up = SetUp::of(class, place, tree)?;
    if set_up.is_own() || !fixtures.is_empty() {
        return Err("its code is another file's, and its class has a set-up already".into());
    }
    set_up.add(pieces)
}

/// What the helper is good for, in words.
fn purpose(class: Class) -> &'static str {
    if class == Class::Brittle {
        "sets up the state it needs"
    } else {
        "cleans up the state it fails on"
    }
}
