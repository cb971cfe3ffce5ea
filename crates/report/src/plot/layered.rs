//! A directed graph in layers, from left to right.
//!
//! Drawn here and not by a library, because boxes are links of the page with several names in each, colours come from its
//! style, and the size has to be bounded; the graphs are small and nearly bipartite.

mod layout;

use std::fmt::Write as _;

use super::opening;
use crate::html::escape;
use layout::{Layout, Size};

/// Height of a line of text, and what is free around it.
const LINE: f64 = 16.0;
const PADDING: f64 = 6.0;
/// Of a character of a name, rounded up.
const CHARACTER: f64 = 7.0;
/// Characters of a name that fit.
const NAME: usize = 36;
/// Room for the legend below.
const LEGEND: f64 = 30.0;

pub(crate) struct Node {
    /// What it is called, one line each.
    pub(crate) lines: Vec<Line>,
    /// A word for the style sheet.
    pub(crate) class: &'static str,
}

pub(crate) struct Line {
    pub(crate) text: String,
    /// Shown when one points at it.
    pub(crate) whole: String,
    pub(crate) href: Option<String>,
    pub(crate) dim: bool,
}

pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) kind: Kind,
    /// Beside its head.
    pub(crate) label: String,
}

/// What an edge means: its name in the legend, its word in the style sheet, its dashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) class: &'static str,
    /// Told apart without colour, too.
    pub(crate) dashes: &'static str,
}

/// Nodes that are connected stand together; each edge points at an existing node.
pub(crate) fn layered(title: &str, nodes: &[Node], edges: &[Edge]) -> String {
    let sizes: Vec<Size> = nodes.iter().map(size).collect();
    let pairs: Vec<(usize, usize)> = edges.iter().map(|e| (e.from, e.to)).collect();
    let layout = layout::lay_out(&sizes, &pairs);
    let kinds = kinds(edges);
    let legend: f64 = kinds.iter().map(|kind| legend_width(*kind)).sum();
    let width = layout.width.max(legend).ceil() as usize;
    let height = (layout.height + LEGEND).ceil() as usize;
    let mut out = opening(title, width, height);
    for (edge, path) in edges.iter().zip(&layout.paths) {
        draw_edge(&mut out, edge, path);
    }
    for (at, node) in nodes.iter().enumerate() {
        draw_node(&mut out, node, &layout, at, sizes[at]);
    }
    let mut x = 0.0;
    let y = layout.height + LEGEND - 8.0;
    for kind in kinds {
        let _ = writeln!(
            out,
            "<g class=\"edge {0}\"><path d=\"M{x:.0} {1:.0}h34\" stroke-dasharray=\"{2}\"/></g><text x=\"{3:.0}\" y=\"{y:.0}\">{4}</text>",
            kind.class,
            y - 4.0,
            kind.dashes,
            x + 40.0,
            escape(kind.name)
        );
        x += legend_width(kind);
    }
    out.push_str("</svg>\n</figure>\n");
    out
}

fn kinds(edges: &[Edge]) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for edge in edges {
        if !kinds.contains(&edge.kind) {
            kinds.push(edge.kind);
        }
    }
    kinds
}

fn legend_width(kind: Kind) -> f64 {
    70.0 + CHARACTER * kind.name.chars().count() as f64
}

fn size(node: &Node) -> Size {
    let longest = node.lines.iter().map(|l| shown(&l.text).chars().count());
    Size {
        width: longest.max().unwrap_or(1) as f64 * CHARACTER + 2.0 * PADDING + 4.0,
        height: node.lines.len().max(1) as f64 * LINE + 2.0 * PADDING,
    }
}

fn shown(text: &str) -> String {
    let mut short: String = text.chars().take(NAME).collect();
    if short.len() < text.len() {
        short.pop();
        short.push('…');
    }
    short
}

fn draw_node(out: &mut String, node: &Node, layout: &Layout, at: usize, size: Size) {
    let (x, y) = layout.corners[at];
    let _ = writeln!(
        out,
        "<g class=\"node {}\"><rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"{:.0}\" height=\"{:.0}\" rx=\"3\"/>",
        node.class, size.width, size.height
    );
    for (number, line) in node.lines.iter().enumerate() {
        let text = format!(
            "<text x=\"{:.0}\" y=\"{:.0}\"{}>{}{}</text>",
            x + PADDING + 2.0,
            y + PADDING + LINE * (number as f64 + 1.0) - 4.0,
            if line.dim { " class=\"dim\"" } else { "" },
            if line.whole == shown(&line.text) {
                String::new()
            } else {
                format!("<title>{}</title>", escape(&line.whole))
            },
            escape(&shown(&line.text)),
        );
        let _ = match &line.href {
            Some(href) => writeln!(out, "<a href=\"{}\">{text}</a>", escape(href)),
            None => writeln!(out, "{text}"),
        };
    }
    out.push_str("</g>\n");
}

/// A curve through the points, and a head at its end.
fn draw_edge(out: &mut String, edge: &Edge, path: &[(f64, f64)]) {
    let (Some(first), Some(last)) = (path.first(), path.last()) else {
        return;
    };
    let mut d = format!("M{:.0} {:.0}", first.0, first.1);
    for pair in path.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let middle = f64::midpoint(a.0, b.0);
        let _ = write!(
            d,
            "C{middle:.0} {:.0} {middle:.0} {:.0} {:.0} {:.0}",
            a.1, b.1, b.0, b.1
        );
    }
    // Edges arrive from the left, unless they go back.
    let before = path.len().checked_sub(2).and_then(|at| path.get(at));
    let back = before.is_some_and(|before| before.0 > last.0);
    let tail = if back { 7.0 } else { -7.0 };
    let _ = write!(
        out,
        "<g class=\"edge {}\"><path d=\"{d}\" stroke-dasharray=\"{}\"/><polygon points=\"{x:.0},{y:.0} {t:.0},{:.0} {t:.0},{:.0}\"/>",
        edge.kind.class,
        edge.kind.dashes,
        last.1 - 4.0,
        last.1 + 4.0,
        x = last.0,
        y = last.1,
        t = last.0 + tail,
    );
    if !edge.label.is_empty() {
        let _ = write!(
            out,
            "<text class=\"dim\" x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"{}\">{}</text>",
            last.0 + 1.5 * tail,
            last.1 - 6.0,
            if back { "start" } else { "end" },
            escape(&edge.label)
        );
    }
    out.push_str("</g>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind {
        name: "pollutes",
        class: "pollutes",
        dashes: "none",
    };

    #[test]
    fn names_of_tests_stay_text() {
        let node = |text: &str| Node {
            lines: vec![Line {
                text: text.into(),
                whole: text.repeat(2),
                href: Some("#\"x".into()),
                dim: false,
            }],
            class: "victim",
        };
        let edge = Edge {
            from: 0,
            to: 1,
            kind: KIND,
            label: "<set>".into(),
        };
        let svg = layered(
            "<t>",
            &[node("<b>\u{1b}"), node("é".repeat(99).as_str())],
            &[edge],
        );
        for bad in ["<t>", "<b>", "<set>", "\u{1b}", "#\"x"] {
            assert!(!svg.contains(bad), "{bad}: {svg}");
        }
        assert!(svg.contains("…</text>"), "{svg}");
        assert_eq!(svg.matches("<rect").count(), 2);
    }
}
