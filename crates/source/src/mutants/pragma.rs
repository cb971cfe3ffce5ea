//! Lines that are to be left as they are, and names that must keep an assignment.

use std::collections::{BTreeSet, HashSet};

use crate::python::Source;

/// What comments and `nonlocal` say about a whole file.
#[derive(Debug, Default)]
pub(super) struct Notes<'a> {
    rows: BTreeSet<usize>,
    nonlocal: HashSet<&'a str>,
}

impl<'a> Notes<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        let mut notes = Self::default();
        let text = source.text();
        let worth = text.contains("no mutate") || text.contains("nonlocal");
        if !worth {
            return notes;
        }
        let mut cursor = source.root().walk();
        loop {
            let node = cursor.node();
            match node.kind() {
                "comment" if is_pragma(source.of(node)) => {
                    notes.rows.insert(node.start_position().row);
                }
                "nonlocal_statement" => {
                    let mut names = node.walk();
                    let names = node.named_children(&mut names);
                    notes.nonlocal.extend(names.map(|name| source.of(name)));
                }
                _ => {}
            }
            if cursor.goto_first_child() || cursor.goto_next_sibling() {
                continue;
            }
            loop {
                if !cursor.goto_parent() {
                    return notes;
                }
                if cursor.goto_next_sibling() {
                    break;
                }
            }
        }
    }

    /// Whether a pragma stands on one of these lines, from 0.
    pub(super) fn silence(&self, first: usize, last: usize) -> bool {
        first <= last && self.rows.range(first..=last).next().is_some()
    }

    /// Whether the text names something that an inner function has as `nonlocal`: it does not compile without an
    /// assignment around it.
    pub(super) fn must_bind(&self, text: &str) -> bool {
        !self.nonlocal.is_empty()
            && text
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .any(|word| self.nonlocal.contains(word))
    }
}

/// `# pragma: no mutate`, alone or among others.
fn is_pragma(comment: &str) -> bool {
    let Some((_, rest)) = comment.split_once("pragma:") else {
        return false;
    };
    rest.split(',')
        .any(|word| word.trim_start().starts_with("no mutate"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pragmas_are_read_among_others() {
        assert!(is_pragma("# pragma: no mutate"));
        assert!(is_pragma("#pragma:no mutate because"));
        assert!(is_pragma("# noqa  pragma: no cover, no mutate"));
        assert!(!is_pragma("# pragma: no cover"));
        assert!(!is_pragma("# no mutate"));
    }
}
