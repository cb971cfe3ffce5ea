//! All patches of a campaign as one: what is written into a project was seen as it is written.

use flakelab_lab::LabError;

use crate::fix::{Fix, Status};
use crate::patch::{Patch, Site};

/// Patches of other tests that are each tried beside one that does not do everything.
const MOST_PAIRS: usize = 4;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Together {
    /// `None` if there is no patch at all.
    pub patch: Option<Patch>,
    /// Tests whose patch does not go with it.
    pub left_out: Vec<String>,
}

/// A patch that helps against some culprits with those that hold for other tests, which may help against the rest: with
/// each that fixes most of them, then with all.
pub(crate) fn with_others(partial: &Patch, accepted: &[Patch]) -> Vec<Patch> {
    let mut counted: Vec<(&Patch, usize)> = Vec::new();
    // What is done at another victim is done for that one only.
    for patch in accepted.iter().filter(|patch| patch.site != Site::Victim) {
        let same = |(known, _): &&mut (&Patch, usize)| known.changes == patch.changes;
        match counted.iter_mut().find(same) {
            Some((_, times)) => *times += 1,
            None => counted.push((patch, 1)),
        }
    }
    counted.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let others = counted.iter().map(|(patch, _)| *patch);
    let with = |other: &Patch| {
        let both = partial.with(other)?;
        (both.changes != partial.changes).then_some(both)
    };
    let mut found: Vec<Patch> = others.clone().filter_map(with).take(MOST_PAIRS).collect();
    let mut all = partial.clone();
    for other in others {
        all = with_more(all, other);
    }
    if found.iter().all(|pair| pair.changes != all.changes) && all.changes != partial.changes {
        found.push(all);
    }
    found
}

/// Both, if they go together and the other one adds something.
fn with_more(patch: Patch, other: &Patch) -> Patch {
    match patch.with(other) {
        Some(both) if both.changes != patch.changes => both,
        _ => patch,
    }
}

/// As many of the patches, in their order, as hold together for all of their tests.
pub(crate) fn together(
    fixes: &[Fix],
    mut holds: impl FnMut(&Patch, &str) -> Result<bool, LabError>,
) -> Result<Together, LabError> {
    // Each with the tests that it fixes.
    let mut patches: Vec<(&Patch, Vec<&str>)> = Vec::new();
    for fix in fixes.iter().filter(|fix| fix.status == Status::Fixed) {
        let Some(patch) = fix.patches.first().map(|held| &held.patch) else {
            continue;
        };
        match patches
            .iter_mut()
            .find(|(known, _)| known.changes == patch.changes)
        {
            Some((_, tests)) => tests.push(&fix.test),
            None => patches.push((patch, vec![&fix.test])),
        }
    }
    let Some(((first, fixed), more)) = patches.split_first() else {
        return Ok(Together::default());
    };
    let mut for_all = |patch: &Patch, tests: &[&str]| -> Result<bool, LabError> {
        for test in tests {
            if !holds(patch, test)? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    // Most go together where their texts do, which takes one look at all of them.
    let mut all = (*first).clone();
    let mut tests = fixed.clone();
    let mut clashing = Vec::new();
    for (patch, more) in more {
        match all.with(patch) {
            Some(wider) => {
                all = wider;
                tests.extend(more);
            }
            None => clashing.extend(more.iter().map(|test| (*test).to_owned())),
        }
    }
    let is_one = tests.len() == fixed.len();
    if is_one || for_all(&all, &tests)? {
        return Ok(Together {
            patch: Some(all),
            left_out: clashing,
        });
    }
    let mut both = (*first).clone();
    let mut fixed = fixed.clone();
    let mut left_out = Vec::new();
    for (patch, tests) in more {
        let wider = both.with(patch);
        let of_both: Vec<&str> = fixed.iter().chain(tests).copied().collect();
        match wider {
            Some(wider) if for_all(&wider, &of_both)? => (both, fixed) = (wider, of_both),
            _ => left_out.extend(tests.iter().map(|test| (*test).to_owned())),
        }
    }
    Ok(Together {
        patch: Some(both),
        left_out,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::VerifiedPatch;
    use crate::patch::{Change, Strategy};
    use crate::verify::Verified;

    const BEFORE: &str = "a = 1\n\nb = 1\n\nc = 1\n";

    fn fixed(test: &str, from: &str, to: &str) -> Fix {
        let patch = Patch {
            strategy: Strategy::Reset,
            site: Site::Victim,
            reason: to.into(),
            changes: vec![Change {
                path: "t.py".into(),
                before: Some(BEFORE.into()),
                after: BEFORE.replace(from, to),
            }],
        };
        Fix {
            test: test.into(),
            status: Status::Fixed,
            patches: vec![VerifiedPatch {
                patch,
                verified: Verified::default(),
            }],
            reason: String::new(),
        }
    }

    #[test]
    fn a_partial_patch_is_tried_with_what_holds_for_others() {
        let at_polluter = |from: &str, to: &str| Patch {
            site: Site::Polluter,
            ..fixed("x", from, to).patches.remove(0).patch
        };
        let partial = at_polluter("a = 1", "a = 2");
        let accepted = [
            fixed("v", "b = 1", "b = 9").patches.remove(0).patch,
            at_polluter("b = 1", "b = 2"),
            at_polluter("c = 1", "c = 2"),
            at_polluter("c = 1", "c = 2"),
            // It is that already, or goes not with it.
            at_polluter("a = 1", "a = 2"),
            at_polluter("a = 1", "a = 3"),
        ];
        let found = with_others(&partial, &accepted);
        let texts: Vec<&str> = found.iter().map(|p| p.changes[0].after.as_str()).collect();
        assert_eq!(
            texts,
            [
                "a = 2\n\nb = 1\n\nc = 2\n",
                "a = 2\n\nb = 2\n\nc = 1\n",
                "a = 2\n\nb = 2\n\nc = 2\n"
            ]
        );
        assert!(with_others(&partial, &accepted[..1]).is_empty());
    }

    fn text(together: &Together) -> &str {
        &together.patch.as_ref().expect("one").changes[0].after
    }

    #[test]
    fn patches_of_one_file_go_together_where_all_their_tests_hold() {
        let fixes = [
            fixed("a", "a = 1", "a = 2"),
            fixed("b", "b = 1", "b = 2"),
            fixed("also a", "a = 1", "a = 2"),
            fixed("a again", "a = 1", "a = 3"),
            fixed("c", "c = 1", "c = 2"),
        ];
        let all = together(&fixes[..3], |_, _| Ok(true)).expect("no error");
        assert_eq!(text(&all), "a = 2\n\nb = 2\n\nc = 1\n");
        assert!(all.left_out.is_empty());

        // One line cannot be two things, which is seen without a run.
        let mut looks = 0;
        let clash = together(&fixes, |_, _| {
            looks += 1;
            Ok(true)
        });
        let clash = clash.expect("no error");
        assert_eq!(text(&clash), "a = 2\n\nb = 2\n\nc = 2\n");
        assert_eq!(
            (clash.left_out.as_slice(), looks),
            (&["a again".to_owned()][..], 4)
        );

        // Nor does `c` stand what is done for `b`.
        let some = together(&fixes, |patch, test| {
            Ok(test != "c" || !patch.changes[0].after.contains("b = 2"))
        });
        let some = some.expect("no error");
        assert_eq!(text(&some), "a = 2\n\nb = 2\n\nc = 1\n");
        assert_eq!(some.left_out, ["a again", "c"]);
    }

    #[test]
    fn one_patch_needs_no_second_look_and_none_is_none() {
        let mut looks = 0;
        let mut look = |_: &Patch, _: &str| {
            looks += 1;
            Ok(true)
        };
        let one = together(&[fixed("a", "a = 1", "a = 2")], &mut look).expect("no error");
        assert_eq!(text(&one), "a = 2\n\nb = 1\n\nc = 1\n");
        assert_eq!(together(&[], look).expect("no error"), Together::default());
        assert_eq!(looks, 0);
    }
}
