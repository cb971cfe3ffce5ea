//! Who pollutes, sets up and cleans whom, drawn.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::Whole;
use super::cards::Cards;
use super::writing::{missing, plain};
use crate::explain::{self, Relation};
use crate::plot::{self, Edge, Kind, Line, Node};
use crate::wording::{count, thousands};

/// More than a person can follow.
const MOST_EDGES: usize = 300;
const MOST_NODES: usize = 120;
/// Names in a box of tests that stand in the same relations.
const MOST_NAMES: usize = 4;

type Tie<'a> = (&'a str, &'a str, Relation, Option<usize>);
/// A tie seen from one of its ends: whether it goes out, and the other end.
type Side<'a> = (bool, &'a str, Relation, Option<usize>);

pub(super) fn section(whole: &Whole, cards: &Cards<'_>, room: usize) -> String {
    let explanations = whole.explanations.iter().map(|known| &known.what);
    let ties = explain::edges(explanations);
    let mut out = String::new();
    if ties.is_empty() {
        if whole.explanations.is_empty() {
            missing(
                &mut out,
                "No cause was looked for yet. This names the tests behind order-dependent ones:",
                "flakelab explain",
            );
        } else {
            out.push_str("<p>No test was found that changes what another one says.</p>\n");
        }
        return out;
    }
    let boxes = boxes(&ties);
    for most in [MOST_EDGES, MOST_EDGES / 3, MOST_EDGES / 10] {
        let (nodes, edges, left) = drawing(&boxes, &ties, cards, most);
        let svg = plot::layered(
            "Culprits and cleaners, and the tests they change",
            &nodes,
            &edges,
        );
        if out.len() + svg.len() + 400 > room {
            continue;
        }
        out.push_str(
            "<p class=\"dim\">An arrow leads from who does it to whom it is done. Tests that do the same to the same tests share a box; a number tells which only work together.</p>\n",
        );
        // A wide one is scrolled, by keyboard too.
        let _ = writeln!(
            out,
            "<div class=\"graph\" tabindex=\"0\" role=\"region\" aria-label=\"Graph, can be scrolled\">\n{svg}</div>"
        );
        if left > 0 {
            let _ = writeln!(
                out,
                "<p class=\"dim\">… and {}, which the tests above name.</p>",
                count(left as u64, "more relation", "more relations")
            );
        }
        break;
    }
    missing(
        &mut out,
        "The same for other tools:",
        "flakelab explain --graph mermaid",
    );
    out
}

/// Tests by what they do to whom, and what is done to them: those that are alike share a box.
fn boxes<'a>(ties: &[Tie<'a>]) -> Vec<Vec<&'a str>> {
    let mut relations: BTreeMap<&str, BTreeSet<Side<'_>>> = BTreeMap::new();
    for (from, to, relation, together) in ties {
        relations
            .entry(from)
            .or_default()
            .insert((true, to, *relation, *together));
        relations
            .entry(to)
            .or_default()
            .insert((false, from, *relation, *together));
    }
    let mut alike: BTreeMap<Vec<Side<'_>>, Vec<&str>> = BTreeMap::new();
    for (test, own) in relations {
        alike
            .entry(own.into_iter().collect())
            .or_default()
            .push(test);
    }
    let mut boxes: Vec<Vec<&str>> = alike.into_values().collect();
    boxes.sort();
    boxes
}

/// Nodes, edges, and how many relations are left out.
fn drawing(
    boxes: &[Vec<&str>],
    ties: &[Tie<'_>],
    cards: &Cards<'_>,
    most: usize,
) -> (Vec<Node>, Vec<Edge>, usize) {
    let mut box_of: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, tests) in boxes.iter().enumerate() {
        box_of.extend(tests.iter().map(|test| (*test, at)));
    }
    let mut between: BTreeMap<(Relation, usize, usize, Option<usize>), usize> = BTreeMap::new();
    for (from, to, relation, together) in ties {
        if let (Some(from), Some(to)) = (box_of.get(from), box_of.get(to)) {
            *between
                .entry((*relation, *from, *to, *together))
                .or_default() += 1;
        }
    }
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    let mut nodes = Vec::new();
    let mut edges = Vec::new();
    let mut left = 0;
    // Culprits before cleaners.
    for ((relation, from, to, together), many) in between {
        let new = [from, to]
            .iter()
            .filter(|at| !numbers.contains_key(at))
            .count();
        if edges.len() >= most || nodes.len() + new > MOST_NODES.min(most) {
            left += many;
            continue;
        }
        for at in [from, to] {
            numbers.entry(at).or_insert_with(|| {
                nodes.push(node(&boxes[at], cards));
                nodes.len() - 1
            });
        }
        edges.push(Edge {
            from: numbers[&from],
            to: numbers[&to],
            kind: kind(relation),
            label: together.map_or_else(String::new, |set| set.to_string()),
        });
    }
    (nodes, edges, left)
}

fn kind(relation: Relation) -> Kind {
    let (class, dashes) = match relation {
        Relation::Pollutes => ("pollutes", "none"),
        Relation::SetsUp => ("sets-up", "8 3"),
        Relation::Cleans => ("cleans", "2 3"),
    };
    Kind {
        name: relation.word(),
        class,
        dashes,
    }
}

fn node(tests: &[&str], cards: &Cards<'_>) -> Node {
    let flaky = tests.first().and_then(|id| cards.get(id)).is_some();
    let mut lines: Vec<Line> = tests
        .iter()
        .take(MOST_NAMES)
        .map(|id| Line {
            text: plain(name(id).1),
            whole: plain(id),
            href: cards.number(id).map(|at| format!("#t{at}")),
            dim: false,
        })
        .collect();
    let file = tests.first().map_or("", |id| name(id).0);
    let dim = |text: String| Line {
        whole: text.clone(),
        text,
        href: None,
        dim: true,
    };
    if tests.len() > MOST_NAMES {
        lines.push(dim(format!("… {} in all", thousands(tests.len() as u64))));
    }
    if tests.iter().all(|id| name(id).0 == file) && !file.is_empty() {
        lines.push(dim(plain(file)));
    }
    Node {
        lines,
        class: if flaky { "flaky" } else { "calm" },
    }
}

/// Where a test stands, and what it is called there.
fn name(id: &str) -> (&str, &str) {
    // A parameter may have colons, too.
    let end = id.find('[').unwrap_or(id.len());
    match id[..end].rfind("::") {
        Some(at) => (&id[..at], &id[at + 2..]),
        None => ("", id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_do_the_same_share_a_box() {
        let tie = |from, to| (from, to, Relation::Pollutes, None);
        let ties = [tie("a", "v"), tie("b", "v"), tie("c", "v"), tie("c", "w")];
        assert_eq!(
            boxes(&ties),
            [vec!["a", "b"], vec!["c"], vec!["v"], vec!["w"]]
        );
        // Members of different sets are not alike.
        let set = |from, number| (from, "v", Relation::Pollutes, Some(number));
        assert_eq!(boxes(&[set("a", 1), set("b", 1), set("c", 2)]).len(), 3);
    }

    #[test]
    fn a_test_is_called_by_its_function_and_parameters() {
        assert_eq!(
            name("a/b.py::T::test_x[c::d]"),
            ("a/b.py::T", "test_x[c::d]")
        );
        assert_eq!(name("odd"), ("", "odd"));
    }
}
