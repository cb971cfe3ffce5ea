//! The names of a module: what it binds itself, and what its functions bind with `global`.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use tree_sitter::Node;

use super::bindings::{Found, children, field, imported, walk};
use super::builtins::is_builtin;
use crate::python::Source;

#[derive(Debug, Clone)]
pub(crate) struct ModuleNames {
    /// Where each name is bound.
    bound: HashMap<String, Vec<usize>>,
    /// `from … import *`: any name may be bound.
    open: bool,
    /// `from __future__ import annotations`: they are not evaluated.
    pub(super) lazy_annotations: bool,
}

impl ModuleNames {
    pub(crate) fn new(source: &Source) -> Self {
        let mut names = Self {
            bound: HashMap::new(),
            open: wildcard(source.root()),
            lazy_annotations: lazy_annotations(source),
        };
        let mut inner = Vec::new();
        walk(source.root(), None, |found| match found {
            Found::Bind(node) => names.add(source, node),
            Found::Inner(node) => inner.push(node),
            _ => {}
        });
        while let Some(scope) = inner.pop() {
            let Some(body) = field(scope, "body") else {
                continue;
            };
            let mut bound = Vec::new();
            let mut global = HashSet::new();
            walk(body, None, |found| match found {
                Found::Bind(node) => bound.push(node),
                Found::Global(node) => drop(global.insert(source.of(node))),
                Found::Inner(node) => inner.push(node),
                _ => {}
            });
            bound.retain(|node| global.contains(source.of(*node)));
            bound.iter().for_each(|node| names.add(source, *node));
        }
        names
    }

    fn add(&mut self, source: &Source, node: Node<'_>) {
        let places = self.bound.entry(source.of(node).to_owned()).or_default();
        places.push(node.start_byte());
    }

    /// Whether a global name has a meaning, without what is bound in a part of the file.
    pub(super) fn has(&self, name: &str, without: Option<&Range<usize>>) -> bool {
        let elsewhere = |at: &usize| without.is_none_or(|range| !range.contains(at));
        self.open
            || is_builtin(name)
            || self
                .bound
                .get(name)
                .is_some_and(|places| places.iter().any(elsewhere))
    }
}

fn wildcard(root: Node<'_>) -> bool {
    let mut waiting = vec![root];
    while let Some(node) = waiting.pop() {
        if node.kind() == "wildcard_import" {
            return true;
        }
        let mut cursor = node.walk();
        waiting.extend(node.named_children(&mut cursor));
    }
    false
}

fn lazy_annotations(source: &Source) -> bool {
    children(source.root())
        .into_iter()
        .filter(|node| node.kind() == "future_import_statement")
        .flat_map(imported)
        .any(|name| source.of(name) == "annotations")
}
