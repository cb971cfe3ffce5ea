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
        let _ = writeln!(out, "  t{number} [label=\"{}\"];", escape(name, DOT));
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
        let _ = writeln!(out, "  t{number}[\"{}\"]", escape(name, MERMAID));
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

/// What dot takes for something else in a text in double quotes.
const DOT: &[(char, &str)] = &[('"', "\\\""), ('\\', "\\\\")];
/// Mermaid reads its labels as HTML and as entities.
const MERMAID: &[(char, &str)] = &[
    ('"', "#quot;"),
    ('<', "#lt;"),
    ('>', "#gt;"),
    ('&', "#amp;"),
    ('#', "#35;"),
    ('`', "#96;"),
];

/// A suite's text inside double quotes.
fn escape(text: &str, special: &[(char, &str)]) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match special.iter().find(|(special, _)| *special == c) {
            Some((_, written)) => out.push_str(written),
            None if c.is_control() => out.push('\u{fffd}'),
            None => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// pytest's own name for a parameter that is a function is `<lambda>`.
    #[test]
    fn names_are_text_in_both_formats() {
        let name = "t.py::t[<lambda>#1;`&\"\\]\u{1b}";
        assert_eq!(escape(name, DOT), "t.py::t[<lambda>#1;`&\\\"\\\\]\u{fffd}");
        assert_eq!(
            escape(name, MERMAID),
            "t.py::t[#lt;lambda#gt;#35;1;#96;#amp;#quot;\\]\u{fffd}"
        );
    }
}
