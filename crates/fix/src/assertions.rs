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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::{Change, Site, Strategy};

    #[test]
    fn assertions_may_be_added_and_moved_but_not_changed_or_dropped() {
        let before = "def test_a():\n    x = 1\n    assert x\n    assert x\n";
        for (after, wanted) in [
            (
                "def test_a():\n    y()\n    x = 1\n    assert x\n    assert x\n",
                true,
            ),
            (
                "def test_a():\n    assert y\n    assert x\n    x = 1\n    assert x\n",
                true,
            ),
            ("def test_a():\n    x = 1\n    assert x\n", false),
            (
                "def test_a():\n    x = 1\n    assert x\n    assert not x\n",
                false,
            ),
            ("def test_a(:\n", false),
        ] {
            let patch = Patch {
                strategy: Strategy::Reset,
                site: Site::Victim,
                reason: String::new(),
                changes: vec![Change {
                    path: "test_a.py".into(),
                    before: Some(before.into()),
                    after: after.into(),
                }],
            };
            assert_eq!(untouched(&patch), wanted, "{after}");
        }
    }
}
