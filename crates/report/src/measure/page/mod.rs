//! A measurement as one page that needs nothing else: the box plots of chapter 4 of the dissertation, and the way down from a
//! configuration to the values that one element had. All of it works without script; the only one there is filters tests.

mod drill;
mod factors;
mod settings;

use std::fmt::Write as _;

use super::{Configuration, Document, Layer, sayings};
use crate::html::{self, Extras, Place, Script, escape};
use crate::plot;
use crate::wording::{count, thousands};

/// A page that is larger takes too long to open. The way down gets what all else leaves.
const MOST_BYTES: usize = 1_900_000;
/// Characters of an id or an element.
const NAME: usize = 300;
const MOST_LATENT: usize = 100;
const MOST_NOTES: usize = 100;
/// Shades of the overview.
const SHADES: f64 = 4.0;

const EXTRAS: Extras = Extras {
    style: include_str!("page.css"),
    script: Some(Script {
        text: include_str!("filter.js"),
        sha256: "225YmsTtCRQa3EQHR3OMRLolyEGEZue2y9WdPOiQI9o=",
    }),
};

pub fn page(document: &Document) -> String {
    let title = format!("flakelab measure: {}", document.project);
    let mut body = String::new();
    head(&mut body, document);
    let place = Place::OWN_PAGE;
    numbers_and_plots(&mut body, document, place);
    let mut tail = String::new();
    latent(&mut tail, document, place);
    settings::section(&mut tail, document);
    let extras = Extras {
        // Nothing to filter.
        script: if document.configurations.iter().all(sayings::nothing_varies) {
            None
        } else {
            EXTRAS.script
        },
        ..EXTRAS
    };
    let frame = html::page_with(&title, "", &extras).len();
    let room = MOST_BYTES.saturating_sub(frame + body.len() + tail.len());
    drill::section(&mut body, document, room, place);
    body.push_str(&tail);
    html::page_with(&title, &body, &extras)
}

/// The same as a part of another page, without its settings; the way down gets what room there is.
pub(crate) fn part(document: &Document, place: Place, room: usize) -> String {
    let mut out = format!("<p class=\"lead\">{}</p>\n", verdict(document));
    numbers_and_plots(&mut out, document, place);
    let mut tail = String::new();
    latent(&mut tail, document, place);
    let left = room.saturating_sub(out.len() + tail.len());
    drill::section(&mut out, document, left, place);
    out + &tail
}

fn numbers_and_plots(out: &mut String, document: &Document, place: Place) {
    overview(out, document, place);
    factors::section(out, document, place);
    layers(out, document, place);
}

/// A suite's text for a place with little room.
fn short(text: &str) -> String {
    let mut shown: String = text.chars().take(NAME).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    escape(&shown)
}

fn head(out: &mut String, document: &Document) {
    let c = &document.campaign;
    let _ = writeln!(
        out,
        "<h1>Flakiness of {}</h1>\n<p class=\"lead\">{}</p>",
        escape(&document.project),
        verdict(document)
    );
    out.push_str("<ul class=\"tiles\">\n");
    let mut tile = |number: usize, what: &str| {
        let _ = writeln!(
            out,
            "<li><b>{}</b> {}</li>",
            thousands(number as u64),
            escape(what)
        );
    };
    tile(c.tests, if c.tests == 1 { "test" } else { "tests" });
    tile(c.total_runs, "runs");
    let configurations = &document.configurations;
    tile(configurations.len(), "configurations");
    let name = |c: &Configuration| c.name.chars().take(NAME).collect::<String>();
    if let Some(first) = document.base() {
        let vary = sayings::varying(first);
        tile(vary, &format!("tests vary in {}", name(first)));
        let most = configurations.iter().max_by_key(|c| sayings::varying(c));
        if let Some(worst) = most.filter(|c| sayings::varying(c) > vary) {
            let what = format!("tests vary in {}, the most", name(worst));
            tile(sayings::varying(worst), &what);
        }
    }
    out.push_str("</ul>\n<nav aria-label=\"Sections\"><ul>");
    for (at, name) in [
        ("overview", "Overview"),
        ("factors", "Factors"),
        ("layers", "Layers"),
        ("tests", "Tests and elements"),
        ("latent", "Latent flakes"),
        ("settings", "Settings and environment"),
    ] {
        let _ = write!(out, "<li><a href=\"#{at}\">{name}</a></li>");
    }
    out.push_str("</ul></nav>\n");
}

/// The result in one sentence.
fn verdict(document: &Document) -> String {
    if sayings::all_alike(document) {
        return "Nothing varies: all runs were alike, at every layer.".into();
    }
    match document.factors.iter().find(|e| sayings::matters(e)) {
        Some(effect) => format!(
            "<b>{}</b> {}: more than any other factor.",
            escape(&effect.factor),
            escape(&sayings::explains(effect))
        ),
        None => "Tests vary, and no factor explains it.".into(),
    }
}

/// The average entropy of tests for each configuration and layer.
fn overview(out: &mut String, document: &Document, place: Place) {
    place.heading(out, "overview", "Overview");
    out.push_str(
        "<p class=\"dim\">Average entropy of the tests, in nats: 0 where all runs were alike; \
         0.00 is more than that.</p>\n<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">configuration</th><th scope=\"col\" class=\"n\">runs</th>",
    );
    for (at, layer) in document.layers.iter().enumerate() {
        let _ = write!(
            out,
            "<th scope=\"col\" class=\"n\"><a href=\"{}\">{}</a></th>",
            place.link(&format!("layer{at}")),
            escape(layer)
        );
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    let most = document
        .configurations
        .iter()
        .flat_map(|c| &c.layers)
        .map(|l| l.average.entropy)
        .fold(0.0, f64::max);
    for (at, configuration) in document.configurations.iter().enumerate() {
        let name = short(&configuration.name);
        let link = if sayings::nothing_varies(configuration) {
            name
        } else {
            format!("<a href=\"{}{at}\">{name}</a>", place.link("configuration"))
        };
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{link}</th><td>{}</td>",
            configuration.runs
        );
        for layer in &document.layers {
            match of(configuration, layer) {
                Some(layer) => {
                    let value = layer.average.entropy;
                    let shade = match value {
                        v if v > 0.0 => (v / most * SHADES).ceil().clamp(1.0, SHADES) as u32,
                        _ => 0,
                    };
                    let _ = write!(
                        out,
                        "<td class=\"h{shade}\">{}</td>",
                        sayings::amount(value)
                    );
                }
                None => out.push_str("<td>–</td>"),
            }
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
}

fn of<'a>(configuration: &'a Configuration, layer: &str) -> Option<&'a Layer> {
    configuration.layers.iter().find(|l| l.layer == layer)
}

/// Box plots as in figures 4.1 to 4.6, numbers as in table 4.3. One axis for all, so that layers can be compared.
fn layers(out: &mut String, document: &Document, place: Place) {
    place.heading(out, "layers", "Layers");
    let level = place.level(1);
    out.push_str(
        "<p class=\"dim\">Entropy of every test, one box for each configuration: the box holds the \
         middle half of the tests, the line in it is the median, dots are tests far from the others.</p>\n",
    );
    let most = document
        .configurations
        .iter()
        .flat_map(|c| c.layers.iter().flat_map(|l| &l.tests))
        .map(|t| t.flakiness.entropy)
        .fold(0.0, f64::max);
    for (at, name) in document.layers.iter().enumerate() {
        let rows: Vec<(&Configuration, &Layer)> = document
            .configurations
            .iter()
            .filter_map(|c| Some((c, of(c, name)?)))
            .collect();
        let _ = writeln!(
            out,
            "<h{level} id=\"{}\">{}</h{level}>",
            &place.link(&format!("layer{at}"))[1..],
            escape(name)
        );
        let values: Vec<(String, Vec<f64>)> = rows
            .iter()
            .map(|(c, l)| {
                let entropies = l.tests.iter().map(|t| t.flakiness.entropy);
                (c.name.clone(), entropies.collect())
            })
            .collect();
        let title = format!("{name}: entropy of tests by configuration");
        out.push_str(&plot::boxes(
            &title,
            "entropy of a test (nats)",
            &values,
            most,
        ));
        numbers(out, &rows);
    }
}

fn numbers(out: &mut String, rows: &[(&Configuration, &Layer)]) {
    out.push_str(
        "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">configuration</th><th scope=\"col\" class=\"n\">entropy of the suite</th>\
         <th scope=\"col\" class=\"n\">average of tests</th><th scope=\"col\" class=\"n\">average range</th>\
         <th scope=\"col\" class=\"n\">false positives, %</th><th scope=\"col\" class=\"n\">tests that vary</th></tr></thead>\n<tbody>\n",
    );
    for (configuration, layer) in rows {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            short(&configuration.name),
            sayings::amount(layer.suite.entropy),
            sayings::amount(layer.average.entropy),
            sayings::amount(layer.average.range),
            sayings::percentage(layer.false_positives),
            thousands(sayings::unstable(&layer.tests).len() as u64),
        );
    }
    out.push_str("</tbody>\n</table></div>\n");
}

fn latent(out: &mut String, document: &Document, place: Place) {
    place.heading(out, "latent", "Latent flakes");
    if document.latent.is_empty() {
        out.push_str("<p>No numeric comparison held by less than it varies.</p>\n");
        return;
    }
    out.push_str(
        "<p class=\"dim\">Numeric comparisons that held every time, by less than they vary: how far from not holding.</p>\n\
         <div class=\"scroll wrap\"><table>\n<thead><tr><th scope=\"col\">test and element</th><th scope=\"col\" class=\"n\">least</th>\
         <th scope=\"col\" class=\"n\">mean</th><th scope=\"col\" class=\"n\">spread</th><th scope=\"col\" class=\"n\">runs</th>\
         <th scope=\"col\">configuration</th></tr></thead>\n<tbody>\n",
    );
    for one in document.latent.iter().take(MOST_LATENT) {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\"><code>{}</code><br><code>{}</code></th><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>",
            short(&one.test),
            short(&one.element),
            sayings::digits(one.smallest),
            sayings::digits(one.mean),
            sayings::digits(one.spread),
            one.runs,
            short(&one.configuration),
        );
    }
    out.push_str("</tbody>\n</table></div>\n");
    left_out(
        out,
        document.latent.len(),
        MOST_LATENT,
        "more comparison",
        "more comparisons",
    );
}

/// What a page has no room for is said.
fn left_out(out: &mut String, all: usize, most: usize, singular: &str, plural: &str) {
    if all > most {
        let _ = writeln!(
            out,
            "<p class=\"dim\">… and {}, which the JSON document lists.</p>",
            count((all - most) as u64, singular, plural)
        );
    }
}

#[cfg(test)]
mod tests;
