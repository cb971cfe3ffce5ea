//! A scope while it is walked: its names, and which of them have a value at this point.

use std::collections::{HashMap, HashSet};

use tree_sitter::Node;

use super::bindings::{Found, field, parameters, walk};
use crate::python::Source;

/// What is known of a name where it is used. Less is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    /// No path gives it a value.
    Unbound,
    /// Some paths do.
    Possible,
    /// Every path does.
    Bound,
}

const BOUND: u8 = 1;
const UNBOUND: u8 = 2;

/// For each name of a scope, the ways it may be at one point; nothing at all where no path leads.
#[derive(Debug, Clone)]
pub(super) struct State {
    ways: Vec<u8>,
    pub(super) reachable: bool,
}

impl State {
    pub(super) fn nowhere(&self) -> Self {
        Self {
            ways: vec![0; self.ways.len()],
            reachable: false,
        }
    }

    /// Two paths meet.
    pub(super) fn merge(&mut self, other: &State) {
        self.reachable |= other.reachable;
        for (own, others) in self.ways.iter_mut().zip(&other.ways) {
            *own |= others;
        }
    }

    pub(super) fn leave(&mut self) {
        *self = self.nowhere();
    }

    pub(super) fn status(&self, at: usize) -> Status {
        match self.ways[at] {
            _ if !self.reachable => Status::Bound,
            BOUND => Status::Bound,
            UNBOUND => Status::Unbound,
            _ => Status::Possible,
        }
    }

    fn set(&mut self, at: usize, way: u8) {
        if self.reachable {
            self.ways[at] = way;
        }
    }

    fn add(&mut self, at: usize, way: u8) {
        if self.reachable {
            self.ways[at] |= way;
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A function or lambda: its body runs later.
    Function,
    /// Runs at once; functions inside do not see its names.
    Class,
    /// Runs at once.
    Comprehension,
}

#[derive(Debug)]
pub(super) struct Scope<'a> {
    pub(super) kind: Kind,
    pub(super) names: HashMap<&'a str, usize>,
    pub(super) global: HashSet<&'a str>,
    pub(super) nonlocal: HashSet<&'a str>,
    pub(super) state: State,
    /// Where `break` leads to, for each loop around.
    pub(super) breaks: Vec<State>,
    /// What handlers may find, for each `try` around.
    pub(super) handlers: Vec<State>,
    /// What raised, for each `with` around: some swallow exceptions.
    pub(super) raised: Vec<State>,
}

impl<'a> Scope<'a> {
    /// A function, lambda or class; what is below `skip` does not exist.
    pub(super) fn of(source: &'a Source, node: Node<'a>, skip: Option<usize>) -> Self {
        let kind = match node.kind() {
            "class_definition" => Kind::Class,
            _ => Kind::Function,
        };
        let mut names: Vec<&'a str> = Vec::new();
        let mut global = HashSet::new();
        let mut nonlocal = HashSet::new();
        if let Some(body) = field(node, "body") {
            walk(body, skip, |found| match found {
                Found::Bind(node) | Found::Unbind(node) => names.push(source.of(node)),
                Found::Global(node) => drop(global.insert(source.of(node))),
                Found::Nonlocal(node) => drop(nonlocal.insert(source.of(node))),
                Found::Inner(_) => {}
            });
        }
        names.retain(|name| !global.contains(name) && !nonlocal.contains(name));
        let given: Vec<&str> = match kind {
            Kind::Class => Vec::new(),
            _ => parameters(node).into_iter().map(|n| source.of(n)).collect(),
        };
        let mut scope = Self::with(kind, &given, &names);
        scope.global = global;
        scope.nonlocal = nonlocal;
        scope
    }

    /// With names that have a value from the start, and others.
    pub(super) fn with(kind: Kind, given: &[&'a str], others: &[&'a str]) -> Self {
        let mut names = HashMap::new();
        let mut ways = Vec::new();
        let all = given.iter().map(|n| (*n, BOUND));
        for (name, way) in all.chain(others.iter().map(|n| (*n, UNBOUND))) {
            names.entry(name).or_insert_with(|| {
                ways.push(way);
                ways.len() - 1
            });
        }
        Self {
            kind,
            names,
            global: HashSet::new(),
            nonlocal: HashSet::new(),
            state: State {
                ways,
                reachable: true,
            },
            breaks: Vec::new(),
            handlers: Vec::new(),
            raised: Vec::new(),
        }
    }

    pub(super) fn bind(&mut self, name: &str) {
        self.turn(name, BOUND);
    }

    pub(super) fn unbind(&mut self, name: &str) {
        self.turn(name, UNBOUND);
    }

    fn turn(&mut self, name: &str, way: u8) {
        if let Some(at) = self.names.get(name) {
            self.state.set(*at, way);
            // Whatever comes next may raise.
            for handler in &mut self.handlers {
                handler.merge(&self.state);
            }
        }
    }

    /// Something that may or may not have run has given the name a value, or taken it.
    pub(super) fn may(&mut self, name: &str, bound: bool) {
        if let Some(at) = self.names.get(name) {
            self.state.add(*at, if bound { BOUND } else { UNBOUND });
        }
    }

    /// Behind a `finally`: `ends` is how the `try` ended normally, the current state how the `finally` did
    /// for every way into it; `touched` are the names it binds (true) or takes (false).
    pub(super) fn after_finally(&mut self, ends: &State, touched: &[(&str, bool)]) {
        if !ends.reachable || !self.state.reachable {
            return self.state.leave();
        }
        let touched: Vec<(usize, bool)> = touched
            .iter()
            .filter_map(|(name, bound)| Some((*self.names.get(name)?, *bound)))
            .collect();
        for (at, way) in ends.ways.iter().enumerate() {
            let mut own = touched.iter().filter(|(touched, _)| *touched == at);
            let untouched = own.clone().next().is_none();
            if untouched || *way == BOUND && own.all(|(_, bound)| *bound) {
                self.state.ways[at] = *way;
            }
        }
    }
}
