//! Who pollutes whom, as a graph for other tools to draw.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Document, Explanation};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphFormat {
    Dot,
    Mermaid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Relation {
    Pollutes,
    SetsUp,
    Cleans,
}

impl Relation {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Relation::Pollutes => "pollutes",
            Relation::SetsUp => "sets up",
            Relation::Cleans => "cleans",
        }
    }

    fn colour(self) -> &'static str {
        match self {
            Relation::Pollutes => "red",
            Relation::SetsUp => "blue",
            Relation::Cleans => "darkgreen",
        }
    }
}

/// From, to, what; and a number that members of one set share.
pub(crate) type Edge<'a> = (&'a str, &'a str, Relation, Option<usize>);

/// One edge from every culprit and cleaner to its test.
pub(crate) fn edges<'a>(explanations: impl Iterator<Item = &'a Explanation>) -> Vec<Edge<'a>> {
    let mut edges: Vec<Edge<'_>> = Vec::new();
    for e in explanations {
        let sets = e.polluters.iter().map(|set| (set, Relation::Pollutes));
        let sets = sets.chain(e.state_setters.iter().map(|set| (set, Relation::SetsUp)));
        let cleaners = e.cleaners.iter().map(|c| (&c.cleaners, Relation::Cleans));
        for (number, (set, relation)) in sets.chain(cleaners).enumerate() {
            for test in set {
                let together = (set.len() > 1).then_some(number + 1);
                edges.push((test, &e.test, relation, together));
            }
        }
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

pub fn graph(document: &Document, format: GraphFormat) -> String {
    let edges = edges(document.explanations.iter());
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for (from, to, ..) in &edges {
        for name in [from, to] {
            let next = names.len();
            names.entry(name).or_insert(next);
        }
    }
    match format {
        GraphFormat::Dot => dot(&names, &edges),
        GraphFormat::Mermaid => mermaid(&names, &edges),
    }
}

fn label(relation: Relation, together: Option<usize>) -> String {
    match together {
        Some(number) => format!("{} (set {number})", relation.word()),
        None => relation.word().to_owned(),
    }
}

fn dot(names: &BTreeMap<&str, usize>, edges: &[Edge<'_>]) -> String {
    let mut out = String::from("digraph flakelab {\n  rankdir=LR;\n  node [shape=box];\n");
    for (name, number) in names {
        let _ = writeln!(
            out,
            "  t{number} [label=\"{}\"];",
            escape(name, "\\\"", "\\\\")
        );
    }
    for (from, to, relation, together) in edges {
        let _ = writeln!(
            out,
            "  t{} -> t{} [label=\"{}\", color={}];",
            names[from],
            names[to],
            label(*relation, *together),
            relation.colour()
        );
    }
    out.push_str("}\n");
    out
}

fn mermaid(names: &BTreeMap<&str, usize>, edges: &[Edge<'_>]) -> String {
    let mut out = String::from("graph LR\n");
    for (name, number) in names {
        let _ = writeln!(out, "  t{number}[\"{}\"]", escape(name, "#quot;", "\\"));
    }
    for (from, to, relation, together) in edges {
        let arrow = match relation {
            Relation::Cleans => "-.->",
            _ => "-->",
        };
        let _ = writeln!(
            out,
            "  t{} {arrow}|\"{}\"| t{}",
            names[from],
            label(*relation, *together),
            names[to]
        );
    }
    out
}

/// A suite's text inside double quotes.
fn escape(text: &str, quote: &str, backslash: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' => out.push_str(quote),
            '\\' => out.push_str(backslash),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
