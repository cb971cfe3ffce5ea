//! The way down: configuration, layer, test, element, values. Only what varies, the most unstable first.

use std::fmt::Write as _;

use super::super::{Configuration, Document, Element, Layer, Test, sayings};
use super::short;
use crate::html::{Place, escape};
use crate::wording::{count, thousands};

const MOST_TESTS: usize = 300;
const MOST_ELEMENTS: usize = 50;
const MOST_VALUES: usize = 20;
/// Characters of a value.
const VALUE: usize = 300;
/// Of the room of a layer, what one test may take: one with many elements leaves some for others.
const OF_A_LAYER: usize = 8;
/// The sentence about what was left out, and the ends of elements.
const RESERVE: usize = 400;

pub(super) fn section(out: &mut String, document: &Document, room: usize, place: Place) {
    place.heading(out, "tests", "Tests and elements");
    let varying: Vec<(usize, &Configuration)> = document
        .configurations
        .iter()
        .enumerate()
        .filter(|(_, c)| !sayings::nothing_varies(c))
        .collect();
    if varying.is_empty() {
        out.push_str("<p>Nothing varies in any configuration.</p>\n");
        return;
    }
    out.push_str(
        "<p class=\"dim\">What varies, by configuration and layer, with its entropy; the most unstable first. \
         Open a test to see its elements, and an element to see the values it had.</p>\n",
    );
    if place == Place::OWN_PAGE {
        out.push_str(
            "<p><label hidden>Only tests whose name has<input id=\"filter\" type=\"search\"></label></p>\n",
        );
    }
    let mut left = room.saturating_sub(2 * RESERVE);
    let mut sections: usize = varying.iter().map(|(_, c)| changing(c).count()).sum();
    for (at, configuration) in &varying {
        let start = out.len();
        let _ = writeln!(
            out,
            "<details class=\"c\" id=\"{}{at}\"><summary>{} <span class=\"dim\">{} in {}</span></summary>",
            &place.link("configuration")[1..],
            short(&configuration.name),
            vary(sayings::varying(configuration)),
            count(configuration.runs as u64, "run", "runs"),
        );
        let quiet: Vec<String> = configuration
            .layers
            .iter()
            .filter(|l| !changes(l))
            .map(|l| escape(&l.layer))
            .collect();
        if !quiet.is_empty() {
            let _ = writeln!(
                out,
                "<p class=\"dim\">nothing varies: {}</p>",
                quiet.join(", ")
            );
        }
        left = left.saturating_sub(out.len() - start);
        for layer in changing(configuration) {
            let before = out.len();
            tests(out, layer, left / sections.max(1));
            left = left.saturating_sub(out.len() - before);
            sections = sections.saturating_sub(1);
        }
        out.push_str("</details>\n");
    }
    let alike: Vec<String> = document
        .configurations
        .iter()
        .filter(|c| sayings::nothing_varies(c))
        .map(|c| short(&c.name))
        .collect();
    if !alike.is_empty() {
        let _ = writeln!(
            out,
            "<p class=\"dim\">Nothing varies in {}.</p>",
            alike.join(", ")
        );
    }
}

fn vary(tests: usize) -> String {
    match tests {
        1 => "1 test varies".into(),
        many => format!("{} tests vary", thousands(many as u64)),
    }
}

fn changes(layer: &Layer) -> bool {
    layer.tests.iter().any(|t| t.flakiness.entropy > 0.0)
}

fn changing(configuration: &Configuration) -> impl Iterator<Item = &Layer> {
    configuration.layers.iter().filter(|l| changes(l))
}

fn tests(out: &mut String, layer: &Layer, room: usize) {
    let unstable = sayings::unstable(&layer.tests);
    let start = out.len();
    let _ = writeln!(
        out,
        "<details class=\"l\"><summary>{} <span class=\"dim\">suite {}, {}</span></summary>",
        escape(&layer.layer),
        sayings::amount(layer.suite.entropy),
        vary(unstable.len()),
    );
    let mut shown = 0;
    for one in unstable.iter().take(MOST_TESTS) {
        let text = test(one, room / OF_A_LAYER);
        if out.len() - start + text.len() + RESERVE > room {
            break;
        }
        out.push_str(&text);
        shown += 1;
    }
    if unstable.len() > shown {
        let _ = writeln!(
            out,
            "<p class=\"dim\">… and {}, which the JSON document and the CSV table list.</p>",
            count((unstable.len() - shown) as u64, "more test", "more tests")
        );
    }
    out.push_str("</details>\n");
}

fn test(test: &Test, room: usize) -> String {
    let f = &test.flakiness;
    let mut out = format!(
        "<details class=\"t\"><summary><b>{}</b><code>{}</code> <span class=\"dim\">range {}, runs alike {}</span></summary>\n",
        sayings::amount(f.entropy),
        short(&test.id),
        f.range,
        sayings::groups(&f.groups),
    );
    let mut shown = 0;
    for one in test.elements.iter().take(MOST_ELEMENTS) {
        let text = element(one);
        if out.len() + text.len() + RESERVE / 2 > room {
            break;
        }
        out.push_str(&text);
        shown += 1;
    }
    if test.elements.is_empty() {
        out.push_str("<p class=\"dim\">No element was told apart.</p>\n");
    }
    if test.elements.len() > shown {
        let _ = writeln!(
            out,
            "<p class=\"dim\">… and {}, which the JSON document lists.</p>",
            count(
                (test.elements.len() - shown) as u64,
                "more element",
                "more elements"
            )
        );
    }
    out.push_str("</details>\n");
    out
}

fn element(element: &Element) -> String {
    let mut out = format!(
        "<details class=\"e\"><summary><b>{}</b><code>{}</code></summary><table>",
        sayings::amount(element.entropy),
        short(&element.element)
    );
    let texts: Vec<&str> = element
        .values
        .iter()
        .take(MOST_VALUES)
        .filter_map(|s| s.value.as_deref())
        .collect();
    let mut texts = sayings::cut(&texts, VALUE).into_iter();
    for seen in element.values.iter().take(MOST_VALUES) {
        let text = match &seen.value {
            Some(_) => format!("<code>{}</code>", escape(&texts.next().unwrap_or_default())),
            None => "<i>not there</i>".into(),
        };
        let _ = write!(out, "<tr><td>{}×</td><th>{text}</th></tr>", seen.runs);
    }
    out.push_str("</table>");
    if element.values.len() > MOST_VALUES {
        let _ = write!(
            out,
            "<p class=\"dim\">… and {}</p>",
            count(
                (element.values.len() - MOST_VALUES) as u64,
                "more value",
                "more values"
            )
        );
    }
    out.push_str("</details>\n");
    out
}
