//! Patches that were verified, each once, with all tests that it fixes.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::cards::Cards;
use super::writing::{command, missing, more, short};
use super::{Known, Whole};
use crate::detect::Test;
use crate::fix::{Fix, Patch};
use crate::html::{diff_line, escape};
use crate::wording::count;

/// Characters of a patch: one that is cut is none.
const MOST_DIFF: usize = 30_000;
const MOST_TESTS: usize = 50;
/// Patches looked at; beyond that nobody reads them.
const MOST_PATCHES: usize = 300;
const RESERVE: usize = 400;

pub(super) struct Patches<'a> {
    pub(super) all: Vec<Entry<'a>>,
    /// Of those on the page, their texts.
    texts: Vec<String>,
}

pub(super) struct Entry<'a> {
    pub(super) patch: &'a Patch,
    pub(super) fixes: Vec<&'a Known<Fix>>,
}

impl Entry<'_> {
    /// Whether it fixes a test: one that helps against some culprits only is shown, and never written.
    pub(super) fn is_whole(&self) -> bool {
        self.fixes.iter().any(|known| known.what.is_fixed())
    }
}

impl<'a> Patches<'a> {
    pub(super) fn of(whole: &'a Whole) -> Self {
        let mut all: Vec<Entry<'a>> = Vec::new();
        for known in whole.fixes.iter().filter(|f| !f.what.patches.is_empty()) {
            for patch in &known.what.patches {
                match all.iter_mut().find(|entry| entry.patch.diff == patch.diff) {
                    Some(entry) => entry.fixes.push(known),
                    None => all.push(Entry {
                        patch,
                        fixes: vec![known],
                    }),
                }
            }
        }
        // As in the list of what to fix first.
        let rates = rates(whole);
        let weight = |entry: &Entry<'_>| -> f64 {
            let tests = entry.fixes.iter().map(|known| known.what.test.as_str());
            tests.filter_map(|test| rates.get(test)).sum()
        };
        all.sort_by(|a, b| {
            let number = || b.fixes.len().cmp(&a.fixes.len());
            let whole = b.is_whole().cmp(&a.is_whole());
            whole
                .then_with(|| weight(b).total_cmp(&weight(a)))
                .then_with(number)
        });
        let mut room = super::ROOM_PATCHES.saturating_sub(RESERVE);
        let mut texts = Vec::new();
        for entry in all.iter().take(MOST_PATCHES) {
            let text = diff(&entry.patch.diff);
            // What stands around it is bounded too.
            let own = text.len() + RESERVE * (4 + entry.fixes.len().min(MOST_TESTS));
            if own > room {
                break;
            }
            room -= own;
            texts.push(text);
        }
        Self { all, texts }
    }

    /// How many fix a test.
    pub(super) fn whole(&self) -> usize {
        self.all.iter().filter(|entry| entry.is_whole()).count()
    }

    /// The number of a patch that is on the page.
    pub(super) fn number(&self, diff: &str) -> Option<usize> {
        let at = self.all.iter().position(|entry| entry.patch.diff == diff)?;
        (at < self.texts.len()).then_some(at)
    }

    pub(super) fn section(&self, cards: &Cards<'_>, room: usize) -> String {
        let mut out = String::new();
        if self.all.is_empty() {
            missing(
                &mut out,
                "There is no patch yet. This makes verified ones for order-dependent tests:",
                "flakelab fix",
            );
            return out;
        }
        out.push_str("<p class=\"dim\">Every one was verified in fresh interpreters, and changes no assertion.</p>\n");
        if self.whole() > 0 {
            out.push_str(
                "<p class=\"dim\">This writes them, but for those that help in part:</p>\n",
            );
            command(&mut out, "flakelab fix --apply", None);
        }
        let mut shown = 0;
        for (at, (entry, text)) in self.all.iter().zip(&self.texts).enumerate() {
            let entry = one(at, entry, text, cards);
            if out.len() + entry.len() + RESERVE > room {
                // The link to it would lead nowhere.
                let _ = writeln!(
                    out,
                    "<p id=\"patch{at}\" class=\"dim\">There was no room for patch {}.</p>",
                    at + 1
                );
            } else {
                out.push_str(&entry);
            }
            shown += 1;
        }
        more(
            &mut out,
            self.all.len(),
            shown,
            "patches",
            "<code>flakelab fix -o DIR</code>",
        );
        out
    }
}

/// The share of random orders in which each test fails.
fn rates(whole: &Whole) -> HashMap<&str, f64> {
    let tests = whole.detect.document().map_or(&[][..], |d| &d.tests);
    let rate = |test: &'_ Test| test.failure_rate.rate.unwrap_or_default();
    tests
        .iter()
        .map(|test| (test.id.as_str(), rate(test)))
        .collect()
}

/// The file that a patch changes first.
pub(super) fn file(diff: &str) -> &str {
    let name = diff.lines().find_map(|line| line.strip_prefix("+++ b/"));
    name.unwrap_or("the project")
}

fn one(at: usize, entry: &Entry<'_>, text: &str, cards: &Cards<'_>) -> String {
    let patch = entry.patch;
    let v = &patch.verified;
    let mut out = format!(
        "<div class=\"t s\"><h3 id=\"patch{at}\">Patch {} <span class=\"dim\">of <code>{}</code>, {}</span></h3>\n<p>{} <span class=\"dim\">({}, at the {})</span></p>\n",
        at + 1,
        short(file(&patch.diff)),
        count(entry.fixes.len() as u64, "test", "tests"),
        short(&patch.reason),
        short(&patch.strategy),
        short(&patch.site),
    );
    let after = v.after.iter().filter(|a| a.passed == a.of).count();
    let _ = writeln!(
        out,
        "<p class=\"dim\">Passed alone {} of {}, after {after} of {}{}; {} as before.</p>\n<ul>",
        v.alone[0],
        v.alone[1],
        count(v.after.len() as u64, "known culprit", "known culprits"),
        if v.default_order {
            let [passed, of] = v.shuffles;
            format!(", in the default order, in {passed} of {of} shuffles")
        } else {
            String::new()
        },
        count(v.others, "other test", "other tests"),
    );
    for known in entry.fixes.iter().take(MOST_TESTS) {
        let partly = if known.what.is_fixed() {
            String::new()
        } else {
            let why = short(&known.what.reason);
            format!(" <span class=\"dim\">(in part: {why})</span>")
        };
        let _ = writeln!(out, "<li>{}{partly}</li>", cards.link(&known.what.test));
    }
    if entry.fixes.len() > MOST_TESTS {
        let _ = writeln!(
            out,
            "<li class=\"dim\">{} more</li>",
            entry.fixes.len() - MOST_TESTS
        );
    }
    out.push_str("</ul>\n");
    out.push_str(text);
    if let Some(known) = entry.fixes.first() {
        let _ = writeln!(
            out,
            "<p class=\"dim\">From {}; again with</p>",
            short(&known.ended)
        );
        command(&mut out, &known.command, Some("flakelab fix"));
    }
    out.push_str("</div>\n");
    out
}

/// What can be copied and handed to `git apply`, or why it cannot.
fn diff(diff: &str) -> String {
    let odd = |c: char| c.is_control() && c != '\n' && c != '\t';
    if diff.chars().count() > MOST_DIFF || diff.chars().any(odd) {
        return "<p class=\"dim\">The patch is too long for a page, or has characters that cannot be copied: \
                <code>flakelab fix -o DIR</code> saves it.</p>\n"
            .into();
    }
    let mut out = String::from("<pre class=\"d patch\" tabindex=\"0\">");
    for line in diff.lines() {
        diff_line(&mut out, &escape(line));
    }
    out.push_str("</pre>\n");
    out
}
