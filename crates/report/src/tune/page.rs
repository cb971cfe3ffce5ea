//! The curves as a page.

use std::fmt::Write as _;

use super::{Curves, Document};
use crate::html::{self, Place, escape};
use crate::plot;
use crate::wording::count;

pub fn page(document: &Document) -> String {
    let body = format!(
        "<h1>Where to draw the line: {}</h1>\n{}",
        escape(&document.project),
        part(document, Place::OWN_PAGE)
    );
    html::page(
        &format!("flakelab filter tune: {}", document.project),
        &body,
    )
}

/// The same as a part of another page.
pub(crate) fn part(document: &Document, place: Place) -> String {
    let mut body = String::new();
    let _ = writeln!(
        body,
        "<p>Learned from {}; the default threshold is {}.</p>",
        count(document.learned.len() as u64, "version", "versions"),
        document.threshold
    );
    for (id, name, curves) in [
        ("assertions", "Assertions", &document.assertions),
        ("tests", "Tests", &document.tests),
    ] {
        place.heading(&mut body, id, name);
        section(&mut body, name, curves);
    }
    body
}

fn section(body: &mut String, name: &str, curves: &Curves) {
    let _ = writeln!(
        body,
        "<p>{} in all, {} flaky, {} reveal a bug.</p>",
        curves.all, curves.flaky, curves.revealing
    );
    let line = |of: fn(&super::Point) -> Option<f64>| -> Vec<(f64, f64)> {
        let points = curves.points.iter();
        points
            .filter_map(|point| Some((point.threshold, of(point)? * 100.0)))
            .collect()
    };
    body.push_str(&plot::lines(
        &format!("{name} by threshold, in percent"),
        &[
            ("flaky ones removed", line(|p| p.removed)),
            ("bug-revealing ones kept", line(|p| p.kept)),
        ],
    ));
    if let Some(balance) = &curves.balance {
        let _ = writeln!(
            body,
            "<p>The curves meet at {:.2}, where {:.0} % are removed and kept.</p>",
            balance.threshold,
            balance.share * 100.0
        );
    }
}
