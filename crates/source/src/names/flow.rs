//! Definite assignment: at every use of a name in a function, does every path, some path or no path give it
//! a value?
//!
//! One pass over the statements, as a Java compiler does it (JLS chapter 16), with Python's scopes. Calls
//! are taken to return; any statement of a `try` may raise; a loop may run any number of times.

use std::collections::BTreeMap;
use std::ops::Range;

use tree_sitter::Node;

use super::bindings::{Found, alias, captures, children, field, imported, targets, walk};
use super::module::ModuleNames;
use super::scope::{Kind, Scope, State, Status};
use crate::python::Source;

/// Uses by where they stand.
pub(crate) type Uses<'a> = BTreeMap<usize, (&'a str, Status)>;

/// Every use of a name in a function, as if the statement `without` did not exist.
pub(crate) fn uses<'a>(
    source: &'a Source,
    function: Node<'a>,
    without: Option<Node<'a>>,
) -> Uses<'a> {
    let mut flow = Flow {
        source,
        module: source.module_names(),
        skip: without.map(|node| node.id()),
        skipped: without.map(|node| node.byte_range()),
        scopes: Vec::new(),
        uses: BTreeMap::new(),
    };
    flow.body(function);
    flow.uses
}

pub(super) struct Flow<'a> {
    pub(super) source: &'a Source,
    pub(super) module: &'a ModuleNames,
    skip: Option<usize>,
    skipped: Option<Range<usize>>,
    pub(super) scopes: Vec<Scope<'a>>,
    uses: Uses<'a>,
}

impl<'a> Flow<'a> {
    /// The scope that statements run in.
    fn scope(&mut self) -> &mut Scope<'a> {
        self.scopes.last_mut().expect("statements stand in a scope")
    }

    fn state(&mut self) -> &mut State {
        &mut self.scope().state
    }

    pub(super) fn enter(&mut self, node: Node<'a>) {
        let scope = Scope::of(self.source, node, self.skip);
        self.scopes.push(scope);
    }

    /// The body of a function or class, in a scope of its own.
    fn body(&mut self, node: Node<'a>) {
        self.enter(node);
        if let Some(body) = field(node, "body") {
            self.block(body);
        }
        self.scopes.pop();
    }

    pub(super) fn used(&mut self, node: Node<'a>) {
        // Code that is never reached needs no values.
        let reached = self.scopes.iter().all(|scope| scope.state.reachable);
        let status = match reached {
            true => self.status(self.source.of(node)),
            false => Status::Bound,
        };
        self.note(node, status);
    }

    fn note(&mut self, node: Node<'a>, status: Status) {
        let name = self.source.of(node);
        self.uses.insert(node.start_byte(), (name, status));
    }

    /// What the name means here, from the inside out.
    fn status(&self, name: &str) -> Status {
        // Whether a function lies between: then it is not known when it runs.
        let mut later = false;
        let mut best = Status::Unbound;
        let mut global = false;
        for scope in self.scopes.iter().rev() {
            global |= scope.global.contains(name);
            if global {
                break;
            }
            match (scope.names.get(name), scope.kind) {
                (Some(at), Kind::Class) if !later => {
                    // A name that a class body has not bound yet is looked up outside.
                    best = best.max(scope.state.status(*at));
                    if best == Status::Bound {
                        return best;
                    }
                }
                (_, Kind::Class) | (None, _) => {}
                (Some(at), _) => {
                    let now = scope.state.status(*at);
                    return best.max(if later {
                        now.max(Status::Possible)
                    } else {
                        now
                    });
                }
            }
            later |= scope.kind == Kind::Function;
        }
        match self.module.has(name, self.skipped.as_ref()) {
            true => Status::Bound,
            false => best,
        }
    }

    pub(super) fn bind(&mut self, node: Node<'a>) {
        let name = self.source.of(node);
        // A walrus in a comprehension binds outside of it.
        let own = self
            .scopes
            .iter()
            .rposition(|s| s.kind != Kind::Comprehension);
        let Some(own) = own else { return };
        if !self.scopes[own].nonlocal.contains(name) {
            self.scopes[own].bind(name);
        } else if let Some(owner) = self.owner(own, name) {
            // Whenever the function is called.
            self.scopes[owner].may(name, true);
        }
    }

    /// The function around a scope that a nonlocal name belongs to.
    fn owner(&self, inner: usize, name: &str) -> Option<usize> {
        (0..inner).rev().find(|at| {
            let scope = &self.scopes[*at];
            scope.kind == Kind::Function && scope.names.contains_key(name)
        })
    }

    pub(super) fn block(&mut self, block: Node<'a>) {
        for statement in children(block) {
            if Some(statement.id()) != self.skip {
                self.statement(statement);
            }
        }
    }

    fn statement(&mut self, node: Node<'a>) {
        match node.kind() {
            "if_statement" => self.branches(node),
            "for_statement" => self.for_loop(node),
            "while_statement" => self.while_loop(node),
            "try_statement" => self.attempt(node),
            "with_statement" => self.with(node),
            "match_statement" => self.matching(node),
            "function_definition" => self.define(node),
            "class_definition" => {
                field(node, "superclasses")
                    .into_iter()
                    .for_each(|n| self.expression(n));
                self.body(node);
                field(node, "name").into_iter().for_each(|n| self.bind(n));
            }
            "decorated_definition" => {
                for part in children(node) {
                    match part.kind() {
                        "decorator" => self.expression(part),
                        _ => self.statement(part),
                    }
                }
            }
            "return_statement" => {
                self.each(node);
                self.state().leave();
            }
            "raise_statement" => {
                self.each(node);
                let scope = self.scope();
                scope
                    .raised
                    .iter_mut()
                    .for_each(|with| with.merge(&scope.state));
                scope.state.leave();
            }
            "break_statement" => {
                let scope = self.scope();
                if let Some(exit) = scope.breaks.last_mut() {
                    exit.merge(&scope.state);
                }
                scope.state.leave();
            }
            "continue_statement" => self.state().leave(),
            "import_statement" | "import_from_statement" | "future_import_statement" => {
                imported(node).into_iter().for_each(|name| self.bind(name));
            }
            "type_alias_statement" => {
                field(node, "right")
                    .into_iter()
                    .for_each(|n| self.expression(n));
                field(node, "left")
                    .into_iter()
                    .flat_map(targets)
                    .take(1)
                    .for_each(|n| self.bind(n));
            }
            "delete_statement" => {
                self.each(node);
                for name in children(node).into_iter().flat_map(targets) {
                    let name = self.source.of(name);
                    self.scope().unbind(name);
                }
            }
            "nonlocal_statement" => {
                let here = self.scopes.len() - 1;
                for name in children(node) {
                    // Without a function that binds it, this does not compile.
                    let status = match self.owner(here, self.source.of(name)) {
                        Some(_) => Status::Bound,
                        None => Status::Unbound,
                    };
                    self.note(name, status);
                }
            }
            "global_statement" => {}
            _ => self.each(node),
        }
    }

    fn each(&mut self, node: Node<'a>) {
        children(node)
            .into_iter()
            .for_each(|child| self.expression(child));
    }

    fn of_field(&mut self, node: Node<'a>, name: &str) {
        field(node, name)
            .into_iter()
            .for_each(|child| self.expression(child));
    }

    fn block_of(&mut self, node: Node<'a>) {
        for child in children(node) {
            if child.kind() == "block" {
                self.block(child);
            }
        }
    }

    fn branches(&mut self, node: Node<'a>) {
        self.of_field(node, "condition");
        let mut skipped = self.state().clone();
        self.block_of(node);
        let mut ends = self.state().clone();
        for clause in children(node) {
            if matches!(clause.kind(), "elif_clause" | "else_clause") {
                *self.state() = skipped.clone();
                self.of_field(clause, "condition");
                skipped = match clause.kind() {
                    "else_clause" => skipped.nowhere(),
                    _ => self.state().clone(),
                };
                self.block_of(clause);
                ends.merge(self.state());
            }
        }
        ends.merge(&skipped);
        *self.state() = ends;
    }

    /// The state at the head of a loop: its body may have run.
    fn head(&mut self, body: Node<'a>) {
        let touched = self.touched(body);
        let scope = self.scope();
        for (name, bound) in touched {
            scope.may(name, bound);
        }
    }

    /// Names that are bound (true) or taken (false) somewhere below.
    fn touched(&self, node: Node<'a>) -> Vec<(&'a str, bool)> {
        let mut touched = Vec::new();
        walk(node, self.skip, |found| match found {
            Found::Bind(name) => touched.push((self.source.of(name), true)),
            Found::Unbind(name) => touched.push((self.source.of(name), false)),
            _ => {}
        });
        touched
    }

    fn for_loop(&mut self, node: Node<'a>) {
        self.of_field(node, "right");
        self.head(node);
        let done = self.state().clone();
        field(node, "left")
            .into_iter()
            .for_each(|left| self.target(left));
        self.run_loop(node, done);
    }

    fn while_loop(&mut self, node: Node<'a>) {
        self.head(node);
        self.of_field(node, "condition");
        let endless = field(node, "condition")
            .is_some_and(|condition| matches!(self.source.of(condition), "True" | "1"));
        let done = match endless {
            true => self.state().nowhere(),
            false => self.state().clone(),
        };
        self.run_loop(node, done);
    }

    /// The body and what follows; `done` is the state when the loop has come to its end.
    fn run_loop(&mut self, node: Node<'a>, done: State) {
        let scope = self.scope();
        let exit = scope.state.nowhere();
        scope.breaks.push(exit);
        field(node, "body")
            .into_iter()
            .for_each(|body| self.block(body));
        let breaks = self.scope().breaks.pop();
        *self.state() = done;
        field(node, "alternative")
            .into_iter()
            .for_each(|clause| self.block_of(clause));
        if let Some(breaks) = breaks {
            self.state().merge(&breaks);
        }
    }

    fn with(&mut self, node: Node<'a>) {
        for child in children(node) {
            if child.kind() == "with_clause" {
                self.expression(child);
            }
        }
        let scope = self.scope();
        let none = scope.state.nowhere();
        scope.raised.push(none);
        self.block_of(node);
        let raised = self.scope().raised.pop();
        if let Some(raised) = raised.filter(|_| !self.state().reachable) {
            *self.state() = raised;
        }
    }

    fn attempt(&mut self, node: Node<'a>) {
        let parts = children(node);
        let finally = parts.iter().find(|part| part.kind() == "finally_clause");
        let scope = self.scope();
        let entry = scope.state.clone();
        // One for the handlers, and one for `finally`, which sees the handlers as well.
        scope.handlers.extend([entry.clone(), entry]);
        self.block_of(node);
        let caught = self.scope().handlers.pop();
        for part in parts.iter().filter(|part| part.kind() == "else_clause") {
            self.block_of(*part);
        }
        let mut ends = self.state().clone();
        for part in parts.iter().filter(|part| part.kind() == "except_clause") {
            *self.state() = caught.clone().unwrap_or_else(|| ends.nowhere());
            let mut cursor = part.walk();
            for value in part.children_by_field_name("value", &mut cursor) {
                self.expression(value);
            }
            let name = alias(*part);
            name.into_iter().for_each(|name| self.bind(name));
            self.block_of(*part);
            if let Some(name) = name {
                let name = self.source.of(name);
                self.scope().unbind(name);
            }
            ends.merge(self.state());
        }
        let any = self.scope().handlers.pop();
        *self.state() = ends.clone();
        if let Some(finally) = finally {
            any.iter().for_each(|any| self.state().merge(any));
            self.block_of(*finally);
            let touched = self.touched(*finally);
            self.scope().after_finally(&ends, &touched);
        }
    }

    fn matching(&mut self, node: Node<'a>) {
        let mut cursor = node.walk();
        for subject in node.children_by_field_name("subject", &mut cursor) {
            self.expression(subject);
        }
        let entry = self.state().clone();
        let mut ends = entry.nowhere();
        let mut open = true;
        for clause in field(node, "body").map(children).unwrap_or_default() {
            *self.state() = entry.clone();
            for pattern in children(clause) {
                if pattern.kind() == "case_pattern" {
                    open &= field(clause, "guard").is_some() || !self.takes_all(pattern);
                    self.pattern(pattern);
                }
            }
            captures(clause)
                .into_iter()
                .for_each(|name| self.bind(name));
            self.of_field(clause, "guard");
            self.block_of(clause);
            ends.merge(self.state());
        }
        if open {
            ends.merge(&entry);
        }
        *self.state() = ends;
    }

    /// `case _:` and `case name:`.
    fn takes_all(&self, pattern: Node<'a>) -> bool {
        let single = |node: Node<'a>| node.kind() == "dotted_name" && children(node).len() == 1;
        self.source.of(pattern) == "_" || children(pattern).into_iter().any(single)
    }

    /// Values that a pattern compares with.
    fn pattern(&mut self, pattern: Node<'a>) {
        let mut waiting = vec![pattern];
        while let Some(node) = waiting.pop() {
            let parts = children(node);
            match node.kind() {
                "dotted_name" if parts.len() > 1 => self.used(parts[0]),
                "dotted_name" | "identifier" => {}
                "class_pattern" => {
                    let name = parts.first().and_then(|name| name.named_child(0));
                    name.into_iter().for_each(|name| self.used(name));
                    waiting.extend(parts.into_iter().skip(1));
                }
                _ => waiting.extend(parts),
            }
        }
    }

    fn define(&mut self, node: Node<'a>) {
        for parameter in field(node, "parameters").map(children).unwrap_or_default() {
            self.of_field(parameter, "value");
            if !self.module.lazy_annotations {
                self.of_field(parameter, "type");
            }
        }
        if !self.module.lazy_annotations {
            self.of_field(node, "return_type");
        }
        self.body(node);
        field(node, "name")
            .into_iter()
            .for_each(|name| self.bind(name));
    }
}
