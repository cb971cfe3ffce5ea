//! Which assertion is which after the file was edited or moved.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use similar::TextDiff;

/// How alike two assertions must be to be one that was edited.
const ALIKE: f32 = 0.6;

/// An assertion of a test by what it says and where in the code it stands, not by its line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Identity {
    pub test: String,
    /// Where the assertion stands: the test's own file, or that of a helper.
    pub file: String,
    /// Classes and functions around it.
    pub scope: String,
    pub text: String,
    /// Among those of the same scope and text.
    pub ordinal: usize,
}

impl Identity {
    /// As it is called after files were renamed.
    pub fn renamed(&self, files: &BTreeMap<String, String>) -> Self {
        let mut moved = self.clone();
        if let Some(file) = files.get(&self.file) {
            moved.file.clone_from(file);
        }
        if let Some(test) = renamed_test(&self.test, files) {
            moved.test = test;
        }
        moved
    }
}

/// What a test is called after its file was renamed, if it was.
pub fn renamed_test(test: &str, files: &BTreeMap<String, String>) -> Option<String> {
    let (module, rest) = test.split_once("::")?;
    files.get(module).map(|file| format!("{file}::{rest}"))
}

/// For each present assertion the earlier one it is: the same text in the same place, else the most alike of the same
/// function that nobody else is.
pub fn match_up(
    earlier: &[Identity],
    present: &[Identity],
    renamed: &BTreeMap<String, String>,
) -> Vec<Option<usize>> {
    let moved: Vec<Identity> = earlier.iter().map(|e| e.renamed(renamed)).collect();
    let by_identity: BTreeMap<&Identity, usize> = moved
        .iter()
        .enumerate()
        .map(|(at, identity)| (identity, at))
        .collect();
    let mut found: Vec<Option<usize>> = present
        .iter()
        .map(|identity| by_identity.get(identity).copied())
        .collect();
    let mut taken: BTreeSet<usize> = found.iter().flatten().copied().collect();
    let mut homeless: BTreeMap<(&str, &str, &str), Vec<usize>> = BTreeMap::new();
    for (at, identity) in moved.iter().enumerate() {
        if !taken.contains(&at) {
            homeless.entry(place(identity)).or_default().push(at);
        }
    }
    for (at, identity) in present.iter().enumerate() {
        if found[at].is_some() {
            continue;
        }
        let candidates = homeless.get(&place(identity)).into_iter().flatten();
        let best = candidates
            .filter(|candidate| !taken.contains(candidate))
            .map(|candidate| {
                (
                    likeness(&moved[*candidate].text, &identity.text),
                    *candidate,
                )
            })
            .filter(|(likeness, _)| *likeness >= ALIKE)
            // Of equals, the first: edits seldom swap assertions.
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        if let Some((_, candidate)) = best {
            taken.insert(candidate);
            found[at] = Some(candidate);
        }
    }
    found
}

fn place(identity: &Identity) -> (&str, &str, &str) {
    (&identity.test, &identity.file, &identity.scope)
}

fn likeness(a: &str, b: &str) -> f32 {
    TextDiff::from_chars(a, b).ratio()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(text: &str, ordinal: usize) -> Identity {
        Identity {
            test: "tests/test_a.py::test_x".into(),
            file: "tests/test_a.py".into(),
            scope: "test_x".into(),
            text: text.into(),
            ordinal,
        }
    }

    #[test]
    fn the_same_text_is_the_same_assertion_wherever_it_moved_to() {
        let earlier = [identity("assert a == 1", 0), identity("assert b", 0)];
        let present = [
            identity("assert b", 0),
            identity("assert new()", 0),
            identity("assert a == 1", 0),
        ];
        let found = match_up(&earlier, &present, &BTreeMap::new());
        assert_eq!(found, [Some(1), None, Some(0)]);
    }

    #[test]
    fn an_edited_assertion_is_the_most_alike_that_nobody_else_is() {
        let earlier = [
            identity("assert total(cart) == 10", 0),
            identity("assert total(cart) == 20", 0),
        ];
        let present = [
            identity("assert total(cart) == 20", 0),
            identity("assert total(cart) == 12", 0),
        ];
        let found = match_up(&earlier, &present, &BTreeMap::new());
        assert_eq!(found, [Some(1), Some(0)]);
        let other = [identity("self.fail()", 0)];
        assert_eq!(match_up(&earlier, &other, &BTreeMap::new()), [None]);
    }

    #[test]
    fn a_renamed_file_takes_its_assertions_along() {
        let earlier = [identity("assert a == 1", 0)];
        let mut present = earlier[0].clone();
        present.test = "tests/test_b.py::test_x".into();
        present.file = "tests/test_b.py".into();
        assert_eq!(
            match_up(&earlier, &[present.clone()], &BTreeMap::new()),
            [None]
        );
        let renamed = BTreeMap::from([("tests/test_a.py".into(), "tests/test_b.py".into())]);
        assert_eq!(match_up(&earlier, &[present], &renamed), [Some(0)]);
    }
}
