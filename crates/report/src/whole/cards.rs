//! The flaky tests, one below the other; each opens and shows what is known of it.

mod body;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write as _;

use flakelab_model::Class;

use super::patches::Patches;
use super::writing::{again, missing, more, short};
use super::{Known, Part, Whole};
use crate::terminal::{headline, rate_matters};
use crate::wording::{count, percent};
use crate::{detect, explain, fix};

/// What the lines of all tests may take before any of them gets its details.
const ROOM_LINES: usize = 700_000;
/// The sentence about what was left out, and the ends of elements.
const RESERVE: usize = 400;

/// One test with all that is known of it.
pub(super) struct Card<'a> {
    pub(super) id: &'a str,
    pub(super) class: Class,
    pub(super) detected: Option<&'a detect::Test>,
    pub(super) explained: Option<&'a Known<explain::Explanation>>,
    pub(super) fixed: Option<&'a Known<fix::Fix>>,
}

impl Card<'_> {
    /// The share of random orders it fails in.
    pub(super) fn rate(&self) -> f64 {
        self.detected
            .and_then(|test| test.failure_rate.rate)
            .unwrap_or_default()
    }

    pub(super) fn has_cause(&self) -> bool {
        self.explained.is_some_and(|known| known.what.has_cause())
    }

    pub(super) fn is_fixed(&self) -> bool {
        self.fixed.is_some_and(|known| known.what.is_fixed())
    }

    /// When `fix` looked at it, nothing was left to fix.
    pub(super) fn is_passing(&self) -> bool {
        self.fixed.is_some_and(|known| known.what.is_passing())
    }
}

pub(super) struct Cards<'a> {
    /// Those that fail most come first.
    pub(super) all: Vec<Card<'a>>,
    by_id: HashMap<&'a str, usize>,
    /// Lines of those that are on the page; others cannot be linked to.
    lines: Vec<String>,
    details: Vec<String>,
}

impl<'a> Cards<'a> {
    pub(super) fn of(whole: &'a Whole, patches: &Patches<'_>) -> Self {
        let detected = whole.detect.document().map_or(&[][..], |d| &d.tests);
        let shown = |class: Class| class.varies() || class == Class::AlwaysFailing;
        let mut by_id: HashMap<&str, Card<'a>> = HashMap::new();
        for test in detected.iter().filter(|test| shown(test.class)) {
            let card = by_id
                .entry(&test.id)
                .or_insert_with(|| empty(&test.id, test.class));
            card.detected = Some(test);
        }
        for known in &whole.explanations {
            let e = &known.what;
            let card = by_id
                .entry(&e.test)
                .or_insert_with(|| empty(&e.test, e.class));
            card.explained = Some(known);
        }
        for known in &whole.fixes {
            if let Some(card) = by_id.get_mut(known.what.test.as_str()) {
                card.fixed = Some(known);
            }
        }
        let mut all: Vec<Card<'a>> = by_id.into_values().collect();
        let often = |card: &Card| (card.rate() * 1e9) as u64;
        all.sort_by_key(|card| (!card.class.is_flaky(), Reverse(often(card)), card.id));
        let by_id = all.iter().enumerate().map(|(at, card)| (card.id, at));
        let mut cards = Self {
            by_id: by_id.collect(),
            all,
            lines: Vec::new(),
            details: Vec::new(),
        };
        let mut room = ROOM_LINES;
        for card in &cards.all {
            let line = line(card);
            if line.len() > room {
                break;
            }
            room -= line.len();
            cards.lines.push(line);
        }
        let shown = &cards.all[..cards.lines.len()];
        cards.details = shown
            .iter()
            .map(|card| body::details(card, &cards, patches))
            .collect();
        cards
    }

    /// The name of a test, linked if its card is on the page.
    pub(super) fn link(&self, id: &str) -> String {
        match self.number(id) {
            Some(at) => format!("<a href=\"#t{at}\"><code>{}</code></a>", short(id)),
            None => format!("<code>{}</code>", short(id)),
        }
    }

    pub(super) fn number(&self, id: &str) -> Option<usize> {
        let at = self.by_id.get(id)?;
        (*at < self.lines.len()).then_some(*at)
    }

    pub(super) fn get(&self, id: &str) -> Option<&Card<'a>> {
        self.by_id.get(id).map(|at| &self.all[*at])
    }

    pub(super) fn flaky(&self) -> impl Iterator<Item = &Card<'a>> {
        self.all.iter().filter(|card| card.class.is_flaky())
    }

    pub(super) fn section(&self, whole: &Whole, room: usize) -> String {
        let mut out = String::new();
        match &whole.detect {
            Part::Never if self.all.is_empty() => {
                missing(
                    &mut out,
                    "Nobody has looked for flaky tests yet. This finds them:",
                    "flakelab detect",
                );
                return out;
            }
            Part::Unreadable(why) => {
                let _ = writeln!(
                    out,
                    "<p>The last detect cannot be read: {}.</p>",
                    short(why)
                );
                missing(&mut out, "This makes a new one:", "flakelab detect");
            }
            Part::Never => {}
            Part::Found(known) => {
                let _ = writeln!(
                    out,
                    "<p>{}.</p>",
                    headline(self.all.iter().map(|c| c.class))
                );
                again(&mut out, &known.ended, &known.command);
            }
        }
        if self.all.is_empty() {
            return out;
        }
        out.push_str(
            "<p class=\"dim\">Those that fail most come first. Open one to see what is known of it.</p>\n",
        );
        let lines: usize = self.lines.iter().map(|line| line.len() + RESERVE / 4).sum();
        let mut left = room.saturating_sub(out.len() + lines + RESERVE);
        for (at, (line, details)) in self.lines.iter().zip(&self.details).enumerate() {
            // One that is long leaves room for the others.
            if details.len() <= left {
                left -= details.len();
                let _ = writeln!(
                    out,
                    "<details class=\"t test\" id=\"t{at}\"><summary>{line}</summary>\n{details}</details>"
                );
            } else {
                let _ = writeln!(out, "<div class=\"t test\" id=\"t{at}\">{line}</div>");
            }
        }
        more(
            &mut out,
            self.all.len(),
            self.lines.len(),
            "tests",
            "the JSON document of <code>flakelab detect</code>",
        );
        out
    }
}

fn empty(id: &str, class: Class) -> Card<'_> {
    Card {
        id,
        class,
        detected: None,
        explained: None,
        fixed: None,
    }
}

/// What is seen before the card is opened.
fn line(card: &Card<'_>) -> String {
    let mut out = format!(
        "{} <h3><code>{}</code></h3>",
        chip(card.class),
        short(card.id)
    );
    let mut said: Vec<String> = Vec::new();
    if let Some(rate) = card
        .detected
        .filter(|test| rate_matters(test))
        .map(|test| &test.failure_rate)
        .filter(|rate| rate.of > 0)
    {
        said.push(format!(
            "fails in {} % of {} ({}–{} %)",
            percent(rate.rate.unwrap_or_default()),
            count(rate.of, "order", "orders"),
            percent(rate.low),
            percent(rate.high)
        ));
    }
    if card.has_cause() {
        said.push("cause known".into());
    }
    if card.is_fixed() {
        said.push("patch".into());
    }
    if card.is_passing() {
        said.push("passes by now".into());
    }
    if !said.is_empty() {
        let _ = write!(out, " <span class=\"dim\">{}</span>", said.join(", "));
    }
    out
}

/// Never by colour alone.
pub(super) fn chip(class: Class) -> String {
    let style = match class {
        Class::Victim => "victim",
        Class::Brittle => "brittle",
        Class::NonDeterministic => "nod",
        _ => "other",
    };
    format!("<span class=\"chip {style}\">{}</span>", class.words())
}
