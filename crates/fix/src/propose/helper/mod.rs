//! The code of a helper (a cleaner or state-setter): its statements, cut to what is needed, or a call of it.

mod call;
mod elements;
mod recipe;

use flakelab_model::{Class, Place};
use flakelab_source::Tree;

use super::{Candidate, Refusals};
use crate::case::Case;
use crate::patch::Site;

pub(crate) use recipe::Recipe;

/// Helpers tried for one test.
const MOST: usize = 4;

pub(super) fn propose(
    case: &Case,
    tree: &dyn Tree,
    suite: &[String],
    site: Option<Site>,
    refused: &mut Refusals,
) -> Vec<Candidate> {
    let helpers = match case.class {
        Class::Brittle => &case.culprits,
        _ => &case.cleaners,
    };
    let mut found = Vec::new();
    for set in helpers.iter().take(MOST) {
        if site != Some(Site::Polluter) {
            match Recipe::new(case, set, &case.test, Site::Victim, tree, suite) {
                Ok(recipe) => found.extend(recipe.candidate(tree, refused)),
                Err(why) => refused.add(why),
            }
            match call::propose(case, set, tree, suite) {
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
                    refused.add("it has several polluters, so there is no one end to clean up at")
                }
            }
        }
    }
    if site == Some(Site::Polluter) && case.class == Class::Brittle {
        refused.add("it fails alone, so there is no polluter to clean up in");
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

/// What the helper is good for, in words.
fn purpose(class: Class) -> &'static str {
    if class == Class::Brittle {
        "sets up the state it needs"
    } else {
        "cleans up the state it fails on"
    }
}
