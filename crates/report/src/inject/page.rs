//! Table I as a page of its own, with plots. No script, no network.

use std::fmt::Write as _;

use super::{Document, rows, sayings};
use crate::html::{self, Place, escape};
use crate::plot;

/// Classes drawn in the distribution.
const MOST_CLASSES: usize = 30;

pub fn page(document: &Document) -> String {
    let body = format!(
        "<h1>Order-dependent mutants of {}</h1>\n{}",
        escape(&document.project),
        part(document, Place::OWN_PAGE)
    );
    html::page(&format!("flakelab inject: {}", document.project), &body)
}

/// The same as a part of another page.
pub(crate) fn part(document: &Document, place: Place) -> String {
    let t = &document.totals;
    let mut body = String::from("<table>\n");
    for (name, value) in rows(document) {
        if !name.starts_with("run time") {
            let _ = writeln!(
                body,
                "<tr><th scope=\"row\">{}</th><td>{}</td></tr>",
                escape(name),
                escape(&value)
            );
        }
    }
    body.push_str("</table>\n");
    if t.order_dependent > 0 {
        plots(&mut body, document);
    }
    place.heading(&mut body, "goes-with", "What goes with it");
    body.push_str("<ul>\n");
    for line in sayings(document) {
        let _ = writeln!(body, "<li>{}</li>", escape(&line));
    }
    body.push_str("</ul>\n");
    body
}

fn plots(body: &mut String, document: &Document) {
    let t = &document.totals;
    let mut classes: Vec<_> = document.classes.iter().collect();
    classes.sort_by_key(|row| std::cmp::Reverse(row.totals.order_dependent));
    let bars: Vec<(String, f64)> = classes
        .iter()
        .take(MOST_CLASSES)
        .map(|row| (row.class.clone(), row.totals.order_dependent as f64))
        .collect();
    body.push_str(&plot::bars("Order-dependent mutants by class", &bars));
    body.push_str(&plot::bars(
        "Victims and brittles",
        &[
            ("victims".into(), t.victims as f64),
            ("brittles".into(), t.brittles as f64),
        ],
    ));
    body.push_str(&plot::bars(
        "How they fail",
        &[
            ("assertion".into(), t.assertion_failures as f64),
            ("other exception".into(), t.other_failures as f64),
        ],
    ));
}
