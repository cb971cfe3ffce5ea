//! How the suite is, how sure that is, and what was run for it.

use std::fmt::Write as _;

use super::cards::Cards;
use super::patches::Patches;
use super::writing::{code, cut, short};
use super::{Part, Whole};
use crate::html::escape;
use crate::terminal::headline;
use crate::wording::{count, duration, thousands};
use crate::{fix, measure, mutate};

const MOST_NOTES: usize = 20;

pub(super) fn section(whole: &Whole, cards: &Cards<'_>, patches: &Patches<'_>) -> String {
    let mut out = format!("<p class=\"lead\">{}</p>\n", health(whole, cards));
    tiles(&mut out, whole, cards, patches);
    confidence(&mut out, whole);
    campaigns(&mut out, whole);
    out
}

/// One sentence.
fn health(whole: &Whole, cards: &Cards<'_>) -> String {
    let flaky = cards.flaky().count();
    let looked = whole.detect.document().is_some();
    if !looked && flaky == 0 {
        return match &whole.history {
            Some(history) if history.totals.flaky > 0 => format!(
                "Nobody has looked for flaky tests here yet; in the history, {} passed and failed in one version.",
                count(history.totals.flaky, "test has", "tests have")
            ),
            _ => "Nobody has looked for flaky tests yet.".into(),
        };
    }
    if flaky == 0 {
        return "<b>No flaky test was found.</b>".into();
    }
    let causes = cards.flaky().filter(|card| card.has_cause()).count();
    let fixed = cards.flaky().filter(|card| card.is_fixed()).count();
    let of = whole.suite.map_or_else(String::new, |all| {
        format!(", of {} in all", thousands(all as u64))
    });
    format!(
        "<b>{}</b>{of}. The cause of {} is known, and a verified patch mends {}.",
        escape(&headline(cards.flaky().map(|card| card.class))),
        thousands(causes as u64),
        thousands(fixed as u64),
    )
}

fn tiles(out: &mut String, whole: &Whole, cards: &Cards<'_>, patches: &Patches<'_>) {
    out.push_str("<ul class=\"tiles\">\n");
    let mut tile = |number: String, what: &str, at: &str| {
        let _ = writeln!(out, "<li><a href=\"#{at}\"><b>{number}</b> {what}</a></li>");
    };
    let number = |n: usize| thousands(n as u64);
    if let Some(suite) = whole.suite {
        tile(number(suite), "tests", "campaigns");
    }
    if whole.detect.document().is_some() || !cards.all.is_empty() {
        tile(number(cards.flaky().count()), "flaky", "tests");
        let failing = cards.all.iter().filter(|card| !card.class.varies()).count();
        if failing > 0 {
            tile(number(failing), "always fail", "tests");
        }
    }
    if !whole.fixes.is_empty() {
        tile(number(patches.whole()), "verified patches", "patches");
    }
    if let Some(document) = whole.measure.document() {
        let vary = measure::most_varying(document);
        tile(number(vary), "vary at some layer", "measure");
    }
    if let Some(document) = whole.mutate.document() {
        tile(mutate::range(&document.score), "mutation score", "mutate");
    }
    if let Some(filter) = &whole.filter {
        tile(number(filter.assertions.len()), "assertions vary", "filter");
    }
    if let Some(history) = &whole.history {
        tile(
            thousands(history.totals.flaky),
            "flaky in the history",
            "history",
        );
    }
    out.push_str("</ul>\n");
}

fn confidence(out: &mut String, whole: &Whole) {
    out.push_str("<h3 id=\"confidence\">How sure that is</h3>\n");
    let Some(document) = whole.detect.document() else {
        out.push_str("<p>No order of the suite was tried, so nothing can be said about tests that were not seen to vary.</p>\n");
        return;
    };
    let c = &document.campaign;
    let _ = writeln!(
        out,
        "<p>{} were run, {} of them random ({}); {}.</p>",
        count(c.orders, "order", "orders"),
        thousands(document.confidence.random_orders),
        count(c.executions, "execution of a test", "executions of tests"),
        short(&document.confidence.statement)
    );
    if c.out_of_budget {
        out.push_str("<p>The search was ended by its budget.</p>\n");
    }
    if !c.collection_errors.is_empty() {
        let _ = writeln!(
            out,
            "<p>{} did not collect, and nothing is known of what is in there.</p>",
            count(c.collection_errors.len() as u64, "file", "files")
        );
    }
    for note in c.notes.iter().take(MOST_NOTES) {
        let _ = writeln!(out, "<p class=\"dim\">{}</p>", short(note));
    }
    let _ = writeln!(
        out,
        "<p class=\"dim\">Python {}, pytest {}; {}.</p>",
        short(&c.python),
        short(&c.pytest),
        if c.isolation == "fork" {
            "found in forks of the collected suite, confirmed in fresh interpreters"
        } else {
            "every run in an interpreter of its own"
        }
    );
}

/// The newest campaign of every verb.
fn campaigns(out: &mut String, whole: &Whole) {
    out.push_str("<h3 id=\"campaigns\">What was run</h3>\n");
    if whole.campaigns.is_empty() {
        out.push_str("<p>No campaign has come to its end.</p>\n");
        return;
    }
    out.push_str(
        "<div class=\"scroll wrap\" tabindex=\"0\" role=\"region\" aria-label=\"What was run\"><table>\n<thead><tr><th scope=\"col\">verb</th>\
         <th scope=\"col\">ended</th><th scope=\"col\">what it did</th><th scope=\"col\">again with</th></tr></thead>\n<tbody>\n",
    );
    for campaign in &whole.campaigns {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"run\">{}</td></tr>",
            short(&campaign.verb),
            short(&campaign.ended),
            escape(&did(whole, &campaign.verb)),
            code(&campaign.command).unwrap_or_else(|| "–".into()),
        );
    }
    out.push_str("</tbody>\n</table></div>\n");
}

/// What the documents say of a campaign.
fn did(whole: &Whole, verb: &str) -> String {
    let took = |seconds: f64| format!("in {}", duration(seconds.max(0.0)));
    match verb {
        "detect" => whole.detect.document().map(|d| {
            let c = &d.campaign;
            format!(
                "{}, {}",
                count(c.orders, "order", "orders"),
                took(c.wall_seconds)
            )
        }),
        "explain" => Some(count(
            whole.explanations.len() as u64,
            "test explained",
            "tests explained",
        )),
        "fix" => Some(fix::tally(whole.fixes.iter().map(|known| &known.what))),
        "measure" => whole.measure.document().map(|d| {
            let c = &d.campaign;
            format!(
                "{}, {}",
                count(c.total_runs as u64, "run", "runs"),
                took(c.wall_seconds)
            )
        }),
        "mutate" => whole.mutate.document().map(|d| {
            let mutants = count(d.mutants.len() as u64, "mutant", "mutants");
            format!("{mutants}, {}", took(d.campaign.wall_seconds))
        }),
        "inject" => whole.inject.document().map(|d| {
            let mutants = count(d.totals.mutants, "mutant", "mutants");
            format!("{mutants}, {}", took(d.campaign.wall_seconds))
        }),
        "filter learn" => whole.filter.as_ref().map(|filter| {
            let versions = filter.curves.learned.len() as u64;
            count(versions, "version learned", "versions learned")
        }),
        _ => None,
    }
    .unwrap_or_else(|| match part_of(whole, verb) {
        Some(why) => format!("its document cannot be read: {}", cut(why, 200)),
        None => "–".into(),
    })
}

fn part_of<'a>(whole: &'a Whole, verb: &str) -> Option<&'a str> {
    fn why<D>(part: &Part<D>) -> Option<&str> {
        match part {
            Part::Unreadable(why) => Some(why),
            _ => None,
        }
    }
    match verb {
        "detect" => why(&whole.detect),
        "measure" => why(&whole.measure),
        "mutate" => why(&whole.mutate),
        "inject" => why(&whole.inject),
        _ => None,
    }
}
