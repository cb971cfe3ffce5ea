//! Which factor explains how much of what varies.

use std::fmt::Write as _;

use super::super::{Document, FactorEffect, sayings};
use super::{left_out, short};
use crate::html::{Place, escape};
use crate::plot::{self, Bar};
use crate::wording::count;

const MOST_TESTS: usize = 8;
const MOST_ELEMENTS: usize = 3;

pub(super) fn section(out: &mut String, document: &Document, place: Place) {
    place.heading(out, "factors", "Factors");
    let any = document.factors.iter().any(|e| e.share > 0.0);
    if any {
        out.push_str(
            "<p class=\"dim\">Of what varies at a layer between runs that differ in one factor alone, the share that goes with the factor; what is missing to 1 nothing explains. Pale where it may be chance.</p>\n",
        );
        shares(out, document);
    }
    if document.factors.iter().any(sayings::matters) {
        out.push_str("<ol class=\"factors\">\n");
        for effect in document.factors.iter().filter(|e| sayings::matters(e)) {
            sentence(out, document, effect);
        }
        out.push_str("</ol>\n");
    } else {
        out.push_str("<p>No factor explains what varies beyond chance.</p>\n");
    }
    if !document.unavailable.is_empty() {
        out.push_str("<p>Not varied:</p>\n<ul>\n");
        for one in &document.unavailable {
            let _ = writeln!(
                out,
                "<li><b>{}</b>: {}</li>",
                escape(&one.factor),
                short(&one.why)
            );
        }
        out.push_str("</ul>\n");
    }
}

/// Factors in rows, in the order of their largest share; layers in columns.
fn shares(out: &mut String, document: &Document) {
    let mut names: Vec<&str> = Vec::new();
    for effect in document.factors.iter().filter(|e| e.share > 0.0) {
        if !names.contains(&&*effect.factor) {
            names.push(&effect.factor);
        }
    }
    let rows: Vec<(String, Vec<Option<Bar>>)> = names
        .iter()
        .map(|name| {
            let bars = document.layers.iter().map(|layer| {
                let mut all = document.factors.iter();
                let effect = all.find(|e| e.factor == *name && e.layer == *layer)?;
                (effect.share > 0.0).then(|| Bar {
                    value: effect.share,
                    sure: sayings::matters(effect),
                    hint: format!("{name} {}", sayings::explains(effect)),
                })
            });
            ((*name).to_owned(), bars.collect())
        })
        .collect();
    let layers: Vec<&str> = document.layers.iter().map(AsRef::as_ref).collect();
    out.push_str(&plot::matrix(
        "Share of the entropy of each layer, by factor",
        &layers,
        &rows,
    ));
}

/// Nothing where one of the two configurations has too few runs.
fn change(effect: &FactorEffect) -> String {
    let (Some(entropy), Some(range)) = (effect.entropy_change, effect.range_change) else {
        return String::new();
    };
    format!(
        "<p class=\"dim\">Average entropy of tests {entropy:+.2}, range {range:+.2} compared with the controlled runs.</p>\n"
    )
}

fn sentence(out: &mut String, document: &Document, effect: &FactorEffect) {
    let levels: Vec<String> = effect.levels.iter().map(|l| short(l)).collect();
    let _ = write!(
        out,
        "<li><b>{}</b> {}.",
        escape(&effect.factor),
        escape(&sayings::explains(effect))
    );
    if let Some((element, _)) = sayings::most_unstable(document, effect) {
        let _ = write!(
            out,
            " Most unstable element: <code>{}</code>.",
            short(element)
        );
    }
    let _ = write!(
        out,
        "\n<details><summary>{}, settings {}</summary>\n\
         {}<ul>\n",
        count(effect.tests.len() as u64, "affected test", "affected tests"),
        levels.join(", "),
        change(effect),
    );
    for test in effect.tests.iter().take(MOST_TESTS) {
        let _ = write!(
            out,
            "<li><code>{}</code> <span class=\"dim\">explains {:.2}, {}</span>",
            short(&test.id),
            test.effect,
            escape(&sayings::p_value(test.p))
        );
        for element in test.elements.iter().take(MOST_ELEMENTS) {
            let _ = write!(out, "<br><code>{}</code>", short(element));
        }
        out.push_str("</li>\n");
    }
    out.push_str("</ul>\n");
    left_out(
        out,
        effect.tests.len(),
        MOST_TESTS,
        "more test",
        "more tests",
    );
    out.push_str("</details></li>\n");
}
