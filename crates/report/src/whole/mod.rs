//! Everything the store knows, as one page that needs nothing else.
//!
//! Reads documents and nothing of a verb's algorithm; what a verb's own page draws is drawn by the same code here. All of it can
//! be read without script: the script searches, and copies commands and patches.

mod cards;
#[cfg(test)]
mod example;
mod first;
mod overview;
mod patches;
mod pollution;
mod sections;
#[cfg(test)]
mod tests;
mod writing;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::html::{self, Extras, Script};
use crate::{detect, explain, fix, history, inject, measure, mutate, tune};
use cards::Cards;
use patches::Patches;

/// A page that is larger takes too long to open, and to send to somebody.
const MOST_BYTES: usize = 1_950_000;
/// What each part may take; the tests get what all others leave.
const ROOM_PATCHES: usize = 200_000;
const ROOM_GRAPH: usize = 150_000;
const ROOM_MEASURE: usize = 220_000;
const ROOM_FILTER: usize = 60_000;
const ROOM_MUTATE: usize = 220_000;
const ROOM_INJECT: usize = 50_000;
const ROOM_HISTORY: usize = 100_000;

const EXTRAS: Extras = Extras {
    style: concat!(
        include_str!("../measure/page/page.css"),
        include_str!("../mutate/page/page.css"),
        include_str!("page.css")
    ),
    script: Some(Script {
        text: include_str!("page.js"),
        sha256: "lriXvKs3M2amCMCHS1mou4qQGCcHUSQEzdmU3Uyvqsc=",
    }),
};

/// What there is of each verb.
#[derive(Debug, Clone)]
pub struct Whole {
    pub project: String,
    pub flakelab: String,
    /// When the page was made.
    pub made: String,
    /// Tests that were collected last; `None` if nothing ever was.
    pub suite: Option<usize>,
    /// What was run, the newest of each verb.
    pub campaigns: Vec<Campaign>,
    pub detect: Part<detect::Document>,
    /// The newest of each test.
    pub explanations: Vec<Known<explain::Explanation>>,
    /// The newest of each test.
    pub fixes: Vec<Known<fix::Fix>>,
    pub measure: Part<measure::Document>,
    pub mutate: Part<mutate::Document>,
    /// Texts of the files that were mutated, where they are still the same.
    pub sources: BTreeMap<String, String>,
    pub inject: Part<inject::Document>,
    pub filter: Option<Filter>,
    pub history: Option<history::Document>,
}

#[derive(Debug, Clone)]
pub struct Campaign {
    pub verb: String,
    pub ended: String,
    /// What repeats it, for a POSIX shell in the project's directory.
    pub command: String,
}

/// The document of a verb.
#[derive(Debug, Clone)]
pub enum Part<D> {
    /// The verb was never run to its end.
    Never,
    /// What the store has makes no sense to this flakelab: why.
    Unreadable(String),
    Found(Box<Known<D>>),
}

impl<D> Part<D> {
    pub fn document(&self) -> Option<&D> {
        match self {
            Part::Found(known) => Some(&known.what),
            _ => None,
        }
    }
}

/// Something with what shows it again, for a POSIX shell in the project's directory.
#[derive(Debug, Clone)]
pub struct Known<T> {
    pub what: T,
    pub ended: String,
    pub command: String,
}

/// What `filter` has learned.
#[derive(Debug, Clone)]
pub struct Filter {
    pub curves: tune::Document,
    /// Those that vary, the highest score first.
    pub assertions: Vec<Assertion>,
}

#[derive(Debug, Clone)]
pub struct Assertion {
    pub test: String,
    pub file: String,
    pub text: String,
    pub score: f64,
    pub runs: u64,
    pub failed: u64,
    /// How many different values it saw.
    pub values: usize,
}

/// Names of sections in links, with their titles.
const SECTIONS: [(&str, &str); 10] = [
    ("overview", "Overview"),
    ("first", "What to fix first"),
    ("tests", "Flaky tests"),
    ("pollution", "Who pollutes whom"),
    ("patches", "Patches"),
    ("measure", "What varies"),
    ("filter", "Filter"),
    ("mutate", "Mutants"),
    ("inject", "Injected order-dependency"),
    ("history", "History"),
];

pub fn page(whole: &Whole) -> String {
    let title = format!("flakelab: {}", writing::plain(&whole.project));
    let patches = Patches::of(whole);
    let cards = Cards::of(whole, &patches);
    let [top, fixing] = [
        overview::section(whole, &cards, &patches),
        first::section(whole, &cards, &patches),
    ];
    let middle = [
        ("pollution", pollution::section(whole, &cards, ROOM_GRAPH)),
        ("patches", patches.section(&cards, ROOM_PATCHES)),
        ("measure", sections::measure(whole, ROOM_MEASURE)),
        ("filter", sections::filter(whole, ROOM_FILTER)),
        ("mutate", sections::mutate(whole, ROOM_MUTATE)),
        ("inject", sections::inject(whole, ROOM_INJECT)),
        ("history", sections::history(whole, &cards, ROOM_HISTORY)),
    ];
    let mut head = String::new();
    header(&mut head, whole);
    let mut around = html::page_with(&title, &head, &EXTRAS).len() + top.len() + fixing.len();
    around += middle.iter().map(|(_, text)| text.len()).sum::<usize>();
    // Sections and the footer.
    around += 200 * SECTIONS.len();
    let tests = cards.section(whole, MOST_BYTES.saturating_sub(around));
    let mut parts = vec![("overview", top), ("first", fixing), ("tests", tests)];
    parts.extend(middle);
    let mut body = head;
    body.push_str("<main>\n");
    for (name, text) in parts {
        let title = SECTIONS.iter().find(|(own, _)| *own == name);
        let _ = writeln!(
            body,
            "<section aria-labelledby=\"{name}\">\n<h2 id=\"{name}\">{}</h2>\n{text}</section>",
            title.map_or(name, |(_, title)| *title)
        );
    }
    let _ = writeln!(
        body,
        "</main>\n<footer><p class=\"dim\">Made by flakelab {} on {}.</p></footer>",
        writing::short(&whole.flakelab),
        writing::short(&whole.made)
    );
    html::page_with(&title, &body, &EXTRAS)
}

fn header(out: &mut String, whole: &Whole) {
    let _ = writeln!(
        out,
        "<a class=\"skip\" href=\"#overview\">To the content</a>\n<header>\n<h1>Flaky tests of {}</h1>\n\
         <form role=\"search\" hidden><label for=\"search\">Search</label><input id=\"search\" type=\"search\" autocomplete=\"off\" \
         aria-describedby=\"keys\"><span id=\"keys\" class=\"dim\"><kbd>/</kbd> to search, <kbd>↓</kbd> <kbd>↑</kbd> through what fits, \
         <kbd>Enter</kbd> opens, <kbd>Esc</kbd> clears</span><span id=\"said\" role=\"status\"></span></form>",
        writing::short(&whole.project)
    );
    out.push_str("<nav aria-label=\"Sections\"><ul>");
    for (name, title) in SECTIONS {
        let _ = write!(out, "<li><a href=\"#{name}\">{title}</a></li>");
    }
    out.push_str("</ul></nav>\n</header>\n");
}
