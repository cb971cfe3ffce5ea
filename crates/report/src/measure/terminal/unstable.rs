//! What varies although every factor has the same setting in all runs: tests, their elements, the values seen.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::super::{Configuration, Element, Layer, Test, sayings};
use crate::style::{BOLD, DIM, GREEN, OFF, YELLOW};
use crate::wording::{count, thousands, visible};

/// What is listed without `verbose`.
const MOST_TESTS: usize = 10;
const MOST_ELEMENTS: usize = 3;
const MOST_VALUES: usize = 4;
/// Characters of a value.
const VALUE: usize = 32;

pub(super) fn describe(out: &mut String, controlled: &Configuration, verbose: bool) {
    let name = visible(&controlled.name);
    let mut tests: BTreeMap<&str, Vec<(&Layer, &Test)>> = BTreeMap::new();
    for layer in &controlled.layers {
        for test in sayings::unstable(&layer.tests) {
            tests.entry(&test.id).or_default().push((layer, test));
        }
    }
    if tests.is_empty() {
        let _ = writeln!(out, "{GREEN}{BOLD}{name}{OFF}: no test varies\n");
        return;
    }
    let _ = writeln!(
        out,
        "{YELLOW}{BOLD}{name}{OFF}: {} with every factor under control",
        if tests.len() == 1 {
            "1 test varies".into()
        } else {
            format!("{} tests vary", thousands(tests.len() as u64))
        }
    );
    let most = |layers: &[(&Layer, &Test)]| {
        layers
            .iter()
            .map(|(_, t)| t.flakiness.entropy)
            .fold(0.0, f64::max)
    };
    let mut ranked: Vec<_> = tests.into_iter().collect();
    ranked.sort_by(|a, b| most(&b.1).total_cmp(&most(&a.1)));
    let shown = if verbose { usize::MAX } else { MOST_TESTS };
    let names = controlled.layers.iter().map(|l| l.layer.len());
    let width = names.max().unwrap_or(0);
    for (id, layers) in ranked.iter().take(shown) {
        let _ = writeln!(out, "  {BOLD}{}{OFF}", visible(id));
        elements(out, layers, width, verbose);
    }
    if ranked.len() > shown {
        let _ = writeln!(
            out,
            "  {DIM}… and {} more (--verbose lists them){OFF}",
            thousands((ranked.len() - shown) as u64)
        );
    }
    out.push('\n');
}

fn elements(out: &mut String, layers: &[(&Layer, &Test)], width: usize, verbose: bool) {
    let mut lines: Vec<(f64, &str, String)> = Vec::new();
    for (layer, test) in layers {
        for element in &test.elements {
            let text = format!(
                "{}  {DIM}{}{OFF}",
                visible(&element.element),
                values(element, verbose)
            );
            lines.push((element.entropy, &layer.layer, text));
        }
        if test.elements.is_empty() {
            let groups = sayings::groups(&test.flakiness.groups);
            let text = format!("{DIM}runs that are alike: {groups}{OFF}");
            lines.push((test.flakiness.entropy, &layer.layer, text));
        }
    }
    lines.sort_by(|a, b| b.0.total_cmp(&a.0));
    let shown = if verbose { usize::MAX } else { MOST_ELEMENTS };
    for (entropy, layer, text) in lines.iter().take(shown) {
        let _ = writeln!(
            out,
            "    {:>5}  {layer:<width$}  {text}",
            sayings::amount(*entropy)
        );
    }
    if lines.len() > shown {
        let _ = writeln!(
            out,
            "           {DIM}… and {}{OFF}",
            count(
                (lines.len() - shown) as u64,
                "more element",
                "more elements"
            )
        );
    }
}

/// `6× 1.5 | 4× 1.6`.
pub(super) fn values(element: &Element, verbose: bool) -> String {
    let (most, length) = if verbose {
        (usize::MAX, usize::MAX / 2)
    } else {
        (MOST_VALUES, VALUE)
    };
    let seen: Vec<_> = element.values.iter().take(most).collect();
    let texts: Vec<&str> = seen.iter().filter_map(|s| s.value.as_deref()).collect();
    let mut texts = sayings::cut(&texts, length).into_iter();
    let mut shown: Vec<String> = Vec::new();
    for one in &seen {
        let text = match &one.value {
            Some(_) => visible(&texts.next().unwrap_or_default()),
            None => "not there".into(),
        };
        shown.push(format!("{}× {text}", one.runs));
    }
    if element.values.len() > seen.len() {
        shown.push(format!("{} more", element.values.len() - seen.len()));
    }
    shown.join(" | ")
}
