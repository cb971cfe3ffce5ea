//! A patch must leave every assertion of the files it changes as it is.

use flakelab_source::{Assertions, Source};

use crate::patch::Patch;

pub(crate) fn untouched(patch: &Patch) -> bool {
    patch.changes.iter().all(|change| {
        let Some(before) = &change.before else {
            return true;
        };
        let (Some(before), Some(after)) = (Source::parse(before), Source::parse(&change.after))
        else {
            return false;
        };
        let all = Assertions::default();
        let mut left = all.texts(&after);
        all.texts(&before).iter().all(|wanted| {
            let at = left.iter().position(|have| have == wanted);
            at.map(|at| left.swap_remove(at)).is_some()
        })
    })
}
