//! Mutants as one page that needs nothing else: the sources with the mutants on their lines, and the paper's tables 1, 2 and 5.
//!
//! There is no script: lines are opened by the browser, and statuses are filtered by the style sheet.

mod listing;
mod tables;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use self::listing::Shown;
use super::sayings::{self, name};
use super::{Document, Mutant, Score, Status, Totals, useful};
use crate::html::{self, Extras, Place, escape};
use crate::wording::{count, thousands};

/// A page that is larger takes too long to open. Sources get what all else leaves.
const MOST_BYTES: usize = 3_900_000;
const MOST_FILES: usize = 1_000;
const MOST_SURVIVORS: usize = 100;
const MOST_UNKNOWN: usize = 100;
/// Tests named for one mutant.
const MOST_TESTS: usize = 10;
/// Characters of a name or a sentence.
const NAME: usize = 300;
/// So many files are all open from the start.
const OPEN_FILES: usize = 5;

const EXTRAS: Extras = Extras {
    style: include_str!("page.css"),
    script: None,
};

/// What is worth a look first.
const BY_INTEREST: [Status; 6] = [
    Status::Survived,
    Status::Unknown,
    Status::Timeout,
    Status::Error,
    Status::NotCovered,
    Status::Killed,
];

/// The mutants of one file, by line.
struct File<'a> {
    path: &'a str,
    source: Option<&'a str>,
    /// With their places in the document, which are their names on the page.
    mutants: Vec<(usize, &'a Mutant)>,
    totals: Totals,
}

/// `sources` are the texts of the files that were mutated, by the names that mutants give them.
pub fn page(document: &Document, sources: &BTreeMap<String, String>) -> String {
    let title = format!("flakelab mutate: {}", name(&document.project, NAME));
    let files = files(document, sources);
    let mut tail = String::new();
    tables::coverage(&mut tail, document);
    tables::ladder(&mut tail, document);
    tables::campaign(&mut tail, document);
    // All links, so that there is room for them.
    let every = Shown {
        files: files.len(),
        mutants: (0..document.mutants.len()).collect(),
    };
    let around = html::page_with(&title, &front(document, &files, &every), &EXTRAS);
    let room = MOST_BYTES.saturating_sub(around.len() + tail.len());
    let listings = listing::section(&files, room, Place::OWN_PAGE);
    let mut body = front(document, &files, &listings.shown);
    body.push_str(&listings.text);
    body.push_str(&tail);
    html::page_with(&title, &body, &EXTRAS)
}

/// The same as a part of another page: score, files, survivors, unknown ones, and sources as far as there is room.
pub(crate) fn part(
    document: &Document,
    sources: &BTreeMap<String, String>,
    place: Place,
    room: usize,
) -> String {
    let files = files(document, sources);
    let around = |linked: &Shown| {
        let mut out = format!(
            "<p class=\"lead\">Score <b>{}</b>: {}.</p>\n",
            sayings::range(&document.score),
            escape(&sayings::basis(document))
        );
        tiles(&mut out, document);
        lists(&mut out, document, &files, linked, place);
        out
    };
    let every = Shown {
        files: files.len(),
        mutants: (0..document.mutants.len()).collect(),
    };
    let left = room.saturating_sub(around(&every).len());
    let listings = listing::section(&files, left, place);
    around(&listings.shown) + &listings.text
}

fn files<'a>(document: &'a Document, sources: &'a BTreeMap<String, String>) -> Vec<File<'a>> {
    let mut by_path: BTreeMap<&str, Vec<(usize, &Mutant)>> = BTreeMap::new();
    for (at, mutant) in document.mutants.iter().enumerate() {
        by_path.entry(&mutant.file).or_default().push((at, mutant));
    }
    by_path
        .into_iter()
        .map(|(path, mut mutants)| {
            mutants.sort_by_key(|(_, mutant)| useful::place(mutant));
            let mut totals = Totals::default();
            for (_, mutant) in &mutants {
                totals.add(mutant.status);
            }
            File {
                path,
                source: sources.get(path).map(String::as_str),
                mutants,
                totals,
            }
        })
        .collect()
}

/// A suite's text for a place with little room.
fn short(text: &str) -> String {
    escape(&name(text, NAME))
}

/// A sentence about code: what stands in backticks is code.
pub(crate) fn sentence(text: &str) -> String {
    let text = name(text, NAME);
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escape(&text);
    }
    let mut out = String::new();
    for (at, part) in parts.into_iter().enumerate() {
        match at % 2 {
            0 => out.push_str(&escape(part)),
            _ => {
                let _ = write!(out, "<code>{}</code>", escape(part));
            }
        }
    }
    out
}

/// The name of a status in the style sheet.
fn class(status: Status) -> &'static str {
    match status {
        Status::NotCovered => "not-covered",
        status => status.words(),
    }
}

/// `2 killed`, never by colour alone.
fn chip(status: Status, number: u64) -> String {
    let many = match number {
        1 => String::new(),
        many => format!("{} ", thousands(many)),
    };
    format!(
        "<span class=\"chip {}\">{many}{}</span>",
        class(status),
        status.words()
    )
}

/// Everything before the sources. Mutants that the listings have are linked.
fn front(document: &Document, files: &[File], linked: &Shown) -> String {
    let mut out = String::new();
    head(&mut out, document);
    lists(&mut out, document, files, linked, Place::OWN_PAGE);
    out
}

/// Files, survivors, unknown ones.
fn lists(out: &mut String, document: &Document, files: &[File], linked: &Shown, place: Place) {
    overview(out, document, files, linked, place);
    survivors(out, document, linked, place);
    unknown(out, document, linked, place);
}

fn head(out: &mut String, document: &Document) {
    let _ = writeln!(
        out,
        "<h1>Mutants of {}</h1>\n<p class=\"lead\">Score <b>{}</b>: {}.</p>",
        short(&document.project),
        sayings::range(&document.score),
        escape(&sayings::basis(document))
    );
    tiles(out, document);
    out.push_str("<nav aria-label=\"Sections\"><ul>");
    for (at, title) in [
        ("files", "Files"),
        ("survivors", "Survivors"),
        ("unknown", "Unknown"),
        ("sources", "Sources"),
        ("coverage", "Coverage"),
        ("reruns", "Reruns"),
        ("campaign", "Campaign"),
    ] {
        let _ = write!(out, "<li><a href=\"#{at}\">{title}</a></li>");
    }
    out.push_str("</ul></nav>\n");
    filter(out, document);
}

fn tiles(out: &mut String, document: &Document) {
    out.push_str("<ul class=\"tiles\">\n");
    for status in Status::ALL {
        let _ = writeln!(
            out,
            "<li class=\"tile {}\"><b>{}</b> {}</li>",
            class(status),
            thousands(document.totals.of(status)),
            status.words()
        );
    }
    out.push_str("</ul>\n");
    for (what, parts) in [
        ("Not part of the score", sayings::beside(document)),
        ("Never run", sayings::left_out(document)),
    ] {
        if !parts.is_empty() {
            let _ = writeln!(out, "<p class=\"dim\">{what}: {}.</p>", parts.join(", "));
        }
    }
}

/// A box for each status that occurs.
fn filter(out: &mut String, document: &Document) {
    if document.mutants.is_empty() {
        return;
    }
    out.push_str(
        "<div class=\"filter\" role=\"group\" aria-labelledby=\"show\"><span id=\"show\">Show mutants that are</span>",
    );
    for status in Status::ALL {
        let number = document.totals.of(status);
        if number > 0 {
            let _ = write!(
                out,
                "<label><input type=\"checkbox\" id=\"show-{}\" checked> {} <span class=\"dim\">{}</span></label>",
                class(status),
                status.words(),
                thousands(number)
            );
        }
    }
    out.push_str("</div>\n");
}

/// Table 2, by file.
fn overview(out: &mut String, document: &Document, files: &[File], linked: &Shown, place: Place) {
    place.heading(out, "files", "Files");
    if files.is_empty() {
        out.push_str("<p>There is no mutant.</p>\n");
        return;
    }
    out.push_str(
        "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">file</th><th scope=\"col\" class=\"n\">score</th><td></td>",
    );
    for status in Status::ALL {
        let _ = write!(out, "<th scope=\"col\" class=\"n\">{}</th>", status.words());
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (at, file) in files.iter().take(MOST_FILES).enumerate() {
        let link = match short(file.path) {
            path if at < linked.files => format!("<a href=\"#file{at}\">{path}</a>"),
            path => path,
        };
        row(out, &link, &Score::of(&file.totals), &file.totals);
    }
    if files.len() > 1 {
        row(out, "all", &document.score, &document.totals);
    }
    out.push_str("</tbody>\n</table></div>\n");
    if files.len() > MOST_FILES {
        let more = (files.len() - MOST_FILES) as u64;
        let _ = writeln!(
            out,
            "<p class=\"dim\">… and {}, which the JSON document lists.</p>",
            count(more, "more file", "more files")
        );
    }
}

fn row(out: &mut String, first: &str, score: &Score, totals: &Totals) {
    let _ = write!(
        out,
        "<tr><th scope=\"row\">{first}</th><td>{}</td><td class=\"drawn\"><span class=\"bar\" aria-hidden=\"true\">",
        sayings::range(score)
    );
    // As the score has them; what it leaves out is not drawn.
    for status in [Status::Killed, Status::Unknown, Status::Survived] {
        let number = totals.of(status);
        if number > 0 {
            let _ = write!(
                out,
                "<i class=\"{}\" style=\"flex:{number}\"></i>",
                class(status)
            );
        }
    }
    out.push_str("</span></td>");
    for status in Status::ALL {
        let _ = write!(out, "<td>{}</td>", thousands(totals.of(status)));
    }
    out.push_str("</tr>\n");
}

/// `shop/cart.py:4` as a link to the mutant, if it is shown.
fn place(at: usize, mutant: &Mutant, linked: &Shown) -> String {
    let place = format!("{}:{}", short(&mutant.file), mutant.line);
    if linked.mutants.contains(&at) {
        format!("<a href=\"#m{at}\">{place}</a>")
    } else {
        place
    }
}

fn survivors(out: &mut String, document: &Document, linked: &Shown, at: Place) {
    at.heading(out, "survivors", "Survivors");
    let found = useful::survivors(document);
    if found.is_empty() {
        out.push_str("<p>None: every mutant that all its tests hit was killed.</p>\n");
        return;
    }
    out.push_str(
        "<p class=\"dim\">The most useful first: one of every function, then those that most tests hit without a failure.</p>\n\
         <ol class=\"mutants\">\n",
    );
    for (at, mutant) in found.iter().take(MOST_SURVIVORS) {
        let _ = writeln!(
            out,
            "<li class=\"survived\">{} <code class=\"dim\">{}</code> {} <span class=\"dim\">{}</span></li>",
            place(*at, mutant, linked),
            short(&mutant.scope),
            sentence(&mutant.says),
            count(mutant.tests as u64, "test", "tests")
        );
    }
    out.push_str("</ol>\n");
    more(out, found.len(), MOST_SURVIVORS);
}

fn unknown(out: &mut String, document: &Document, linked: &Shown, at: Place) {
    at.heading(out, "unknown", "Unknown");
    let mut found: Vec<(usize, &Mutant)> = document
        .mutants
        .iter()
        .enumerate()
        .filter(|(_, mutant)| mutant.status == Status::Unknown)
        .collect();
    found.sort_by_key(|(_, mutant)| useful::place(mutant));
    if found.is_empty() {
        out.push_str(
            "<p>None: every test hit the mutants it was to hit, or one killed them.</p>\n",
        );
    } else {
        out.push_str(
            "<p class=\"dim\">No test killed them, and these tests left them undecided: they should have hit them and never did, or failed as they fail without them.</p>\n<ul class=\"mutants\">\n",
        );
        for (at, mutant) in found.iter().take(MOST_UNKNOWN) {
            let _ = write!(
                out,
                "<li class=\"unknown\">{} <code class=\"dim\">{}</code> {}",
                place(*at, mutant, linked),
                short(&mutant.scope),
                sentence(&mutant.says),
            );
            tests(out, &mutant.unknown_pairs);
            out.push_str("</li>\n");
        }
        out.push_str("</ul>\n");
        more(out, found.len(), MOST_UNKNOWN);
    }
}

/// Names of tests, as a list.
fn tests(out: &mut String, tests: &[String]) {
    out.push_str("<ul>");
    for test in tests.iter().take(MOST_TESTS) {
        let _ = write!(out, "<li><code>{}</code></li>", short(test));
    }
    if tests.len() > MOST_TESTS {
        let more = thousands((tests.len() - MOST_TESTS) as u64);
        let _ = write!(out, "<li class=\"dim\">… and {more} more</li>");
    }
    out.push_str("</ul>");
}

fn more(out: &mut String, all: usize, most: usize) {
    if all > most {
        let _ = writeln!(
            out,
            "<p class=\"dim\">… and {} more, which the JSON document lists.</p>",
            thousands((all - most) as u64)
        );
    }
}
