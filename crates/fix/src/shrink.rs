//! The fewest statements of a helper that still do it, by delta debugging.

use flakelab_lab::{Lab, LabError, Variants, delta};
use flakelab_source::Tree;

use crate::case::Case;
use crate::fix::Settings;
use crate::patch::Patch;
use crate::propose::Recipe;
use crate::verify;

/// Views of the project that may be opened for one helper.
const MOST: usize = 40;

/// The smallest patch of a recipe whose whole is known to work.
pub(crate) fn smallest(
    recipe: &Recipe,
    variants: &mut dyn Variants,
    tree: &dyn Tree,
    case: &Case,
    settings: &Settings,
) -> Result<Option<Patch>, LabError> {
    let whole: Vec<usize> = (0..recipe.len()).collect();
    let mut works = |kept: &[usize]| -> Result<bool, LabError> {
        let Ok(patch) = recipe.build(kept, tree) else {
            return Ok(false);
        };
        match variants.open(&patch.files())? {
            Some(mut lab) => verify::works(&mut *lab as &mut dyn Lab, case, settings),
            None => Ok(false),
        }
    };
    let kept = delta::minimise(whole, MOST, &mut |candidates: &[Vec<usize>]| {
        // Only the first that works counts, so no further view is opened.
        let mut answers = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let hit = !answers.contains(&true) && works(candidate)?;
            answers.push(hit);
        }
        Ok::<_, LabError>(answers)
    })?;
    Ok(recipe.build(&kept, tree).ok())
}
