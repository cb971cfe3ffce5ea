//! What the other verbs found, drawn by their own pages' code, and the history.

use std::fmt::Write as _;

use flakelab_model::shell_word;

use super::cards::Cards;
use super::writing::{again, code, command, missing, more, short};
use super::{Known, Part, Whole};
use crate::history::Document as History;
use crate::html::Place;
use crate::wording::{count, percent, thousands};
use crate::{inject as injected, measure as measured, mutate as mutated, plot, tune};

const MOST_ASSERTIONS: usize = 50;
const MOST_WORST: usize = 100;
/// Bars: the newest versions.
const MOST_VERSIONS: usize = 40;
const RESERVE: usize = 600;

/// A verb's part of the page, or what is in its place.
fn of<D>(
    part: &Part<D>,
    brings: &str,
    what: &str,
    draw: impl FnOnce(&Known<D>) -> String,
) -> String {
    let mut out = String::new();
    match part {
        Part::Never => missing(&mut out, &format!("{what} This tells:"), brings),
        Part::Unreadable(why) => {
            let _ = writeln!(
                out,
                "<p>The last campaign cannot be read: {}.</p>",
                short(why)
            );
            missing(&mut out, "This makes a new one:", brings);
        }
        Part::Found(known) => {
            out.push_str(&draw(known));
            again(&mut out, &known.ended, &known.command);
        }
    }
    out
}

/// Names of a suite without end must not push everything else away.
fn fitting(text: String, room: usize, elsewhere: &str) -> String {
    if text.len() <= room {
        return text;
    }
    let mut out = String::new();
    missing(
        &mut out,
        "There was no room for it on this page. This shows it on one of its own:",
        elsewhere,
    );
    out
}

pub(super) fn measure(whole: &Whole, room: usize) -> String {
    of(
        &whole.measure,
        "flakelab measure",
        "How much varies, though all tests pass, and because of which factor?",
        |known| {
            let text = measured::part(&known.what, Place::within("measure-"), room - RESERVE);
            fitting(text, room, "flakelab measure --html measure.html")
        },
    )
}

pub(super) fn mutate(whole: &Whole, room: usize) -> String {
    of(
        &whole.mutate,
        "flakelab mutate",
        "Which changes of the code does no test notice?",
        |known| {
            let place = Place::within("mutate-");
            let text = mutated::part(&known.what, &whole.sources, place, room - RESERVE);
            fitting(text, room, "flakelab mutate --html mutants.html")
        },
    )
}

pub(super) fn inject(whole: &Whole, room: usize) -> String {
    of(
        &whole.inject,
        "flakelab inject -o data",
        "How easily do tests of this suite become order-dependent, and would detect find them?",
        |known| {
            let text = injected::part(&known.what, Place::within("inject-"));
            fitting(text, room, "flakelab inject -o data")
        },
    )
}

pub(super) fn filter(whole: &Whole, room: usize) -> String {
    let mut out = String::new();
    let Some(filter) = &whole.filter else {
        missing(
            &mut out,
            "Which assertions vary, and may be passed over in a gate? This learns it:",
            "flakelab filter learn",
        );
        return out;
    };
    out.push_str(&tune::part(&filter.curves, Place::within("filter-")));
    out.push_str("<p class=\"dim\">Drawn from what the store has; again with</p>\n");
    command(&mut out, "flakelab filter tune", None);
    out.push_str("<h3 id=\"filter-scores\">Assertions that vary</h3>\n");
    if filter.assertions.is_empty() {
        out.push_str("<p>None: every assertion saw the same values in every run.</p>\n");
        return fitting(out, room, "flakelab filter tune --html curves.html");
    }
    out.push_str(
        "<div class=\"scroll wrap\" tabindex=\"0\" role=\"region\" aria-label=\"Assertions that vary\"><table>\n<thead><tr>\
         <th scope=\"col\">test and assertion</th><th scope=\"col\" class=\"n\">score</th><th scope=\"col\" class=\"n\">values</th>\
         <th scope=\"col\" class=\"n\">failed</th><th scope=\"col\">why</th></tr></thead>\n<tbody>\n",
    );
    let mut shown = 0;
    for one in filter.assertions.iter().take(MOST_ASSERTIONS) {
        let row = format!(
            "<tr class=\"s\"><th scope=\"row\"><code>{}</code><br><code>{}</code></th><td class=\"n\">{:.2}{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{} of {}</td><td class=\"run\">{}</td></tr>\n",
            short(&one.test),
            short(&one.text),
            one.score,
            if one.score > filter.curves.threshold {
                ", passed over"
            } else {
                ""
            },
            thousands(one.values as u64),
            thousands(one.failed),
            thousands(one.runs),
            code(&format!(
                "flakelab filter explain {}",
                shell_word(&one.test)
            ))
            .unwrap_or_else(|| "–".into()),
        );
        if out.len() + row.len() + RESERVE > room {
            break;
        }
        out.push_str(&row);
        shown += 1;
    }
    out.push_str("</tbody>\n</table></div>\n");
    more(
        &mut out,
        filter.assertions.len(),
        shown,
        "assertions",
        "<code>flakelab filter suggest</code>",
    );
    out
}

pub(super) fn history(whole: &Whole, cards: &Cards<'_>, room: usize) -> String {
    let mut out = String::new();
    let Some(history) = &whole.history else {
        missing(
            &mut out,
            "Nothing is known of other machines. This takes reports of CI in:",
            "flakelab ingest build/reports",
        );
        return out;
    };
    let t = &history.totals;
    let _ = writeln!(
        out,
        "<p class=\"lead\"><b>{}</b> of {} passed and failed in one version.</p>\n<p>{}, {}, {}.</p>",
        thousands(t.flaky),
        count(t.tests, "test", "tests"),
        count(t.versions, "version", "versions"),
        count(t.runs, "run", "runs"),
        count(t.executions, "execution", "executions"),
    );
    if history.tests.is_empty() {
        out.push_str("<p>No test has varied.</p>\n");
        return out;
    }
    worst(&mut out, history, cards, room);
    out.push_str("<p class=\"dim\">As a list with</p>\n");
    command(&mut out, "flakelab history", None);
    out
}

fn worst(out: &mut String, history: &History, cards: &Cards<'_>, room: usize) {
    let versions = &history.versions[history.versions.len().saturating_sub(MOST_VERSIONS)..];
    let _ = writeln!(
        out,
        "<p class=\"dim\">The worst first. The score is the share of consecutive executions whose verdicts differ; bars are failure rates of \
         the newest {}, the newest last.</p>\n<div class=\"scroll wrap\" tabindex=\"0\" role=\"region\" aria-label=\"Worst tests\"><table>\n\
         <thead><tr><th scope=\"col\">test</th><th scope=\"col\">by version</th><th scope=\"col\" class=\"n\">score</th>\
         <th scope=\"col\" class=\"n\">entropy</th><th scope=\"col\" class=\"n\">failed</th><th scope=\"col\">since</th></tr></thead>\n<tbody>",
        count(versions.len() as u64, "version", "versions")
    );
    let mut shown = 0;
    for test in history.tests.iter().take(MOST_WORST) {
        let rates: Vec<Option<f64>> = versions
            .iter()
            .map(|v| test.failure_rate(&v.name))
            .collect();
        let said: Vec<String> = rates
            .iter()
            .map(|rate| rate.map_or_else(|| "–".into(), |rate| format!("{} %", percent(rate))))
            .collect();
        let row = format!(
            "<tr class=\"s\"><th scope=\"row\">{}</th><td>{}</td><td class=\"n\">{:.2}</td><td class=\"n\">{:.2}</td>\
             <td class=\"n\">{} of {}</td><td>{}</td></tr>\n",
            cards.link(&test.id),
            plot::spark(&rates, &format!("failure rates: {}", said.join(", "))),
            test.transition_score,
            test.entropy,
            thousands(test.failures),
            thousands(test.decided),
            test.first_bad_version
                .as_deref()
                .map_or_else(|| "–".into(), short),
        );
        if out.len() + row.len() + RESERVE > room {
            break;
        }
        out.push_str(&row);
        shown += 1;
    }
    out.push_str("</tbody>\n</table></div>\n");
    let all = history.totals.found.max(history.tests.len() as u64) as usize;
    more(
        out,
        all,
        shown,
        "tests",
        "<code>flakelab history --limit 0</code>",
    );
}
