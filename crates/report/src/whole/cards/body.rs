//! What is known of one test: how it fails, after whom, through which state, and what mends it.

use std::fmt::Write as _;

use flakelab_model::{Phase, shell_word};

use super::super::patches::Patches;
use super::super::writing::{again, block, command, short};
use super::{Card, Cards};
use crate::detect::{Counts, Failure, Rate, Test};
use crate::explain::{Explanation, Leak};
use crate::html::escape;
use crate::terminal::{rate_matters, rate_words};
use crate::wording::{count, thousands};

const MOST_SETS: usize = 12;
/// Tests named of one set.
const MOST_OF_SET: usize = 12;
const MOST_LEAKS: usize = 10;
const MOST_NOTES: usize = 10;
const MOST_LEVELS: usize = 20;
/// Characters of a message, and of a value.
const MESSAGE: usize = 1_500;
const VALUE: usize = 200;

pub(super) fn details(card: &Card<'_>, cards: &Cards<'_>, patches: &Patches<'_>) -> String {
    let mut out = String::new();
    if let Some(test) = card.detected {
        if !test.why.is_empty() {
            let _ = writeln!(out, "<p>{}</p>", short(&test.why));
        }
        evidence(&mut out, test);
    }
    let explained = card.explained.map(|known| &known.what);
    let failure = card.detected.and_then(|t| t.failure.as_ref());
    if let Some(failure) = failure.or(explained.and_then(|e| e.failure.as_ref())) {
        message(&mut out, failure);
    }
    reproduce(&mut out, card);
    match card.explained {
        Some(known) => {
            causes(&mut out, &known.what, cards);
            leaks(&mut out, &known.what, cards);
            factors(&mut out, &known.what);
            for note in known.what.notes.iter().take(MOST_NOTES) {
                let _ = writeln!(out, "<p class=\"dim\">{}</p>", short(note));
            }
            again(&mut out, &known.ended, &known.command);
        }
        None => {
            out.push_str("<h4>Cause</h4>\n<p>Not explained yet. This looks for it:</p>\n");
            let look = format!("flakelab explain {}", shell_word(card.id));
            command(&mut out, &look, Some("flakelab explain"));
        }
    }
    patch(&mut out, card, patches);
    out
}

fn evidence(out: &mut String, test: &Test) {
    let mut rows: Vec<(&str, String)> = Vec::new();
    if test.failure_rate.of > 0 && rate_matters(test) {
        rows.push(("fails", rate_words(&test.failure_rate, "random orders")));
    }
    if let Some(e) = &test.evidence {
        let said = |c: &Counts| {
            format!(
                "{} passed, {} failed",
                thousands(c.passed),
                thousands(c.failed)
            )
        };
        for (what, counts) in [
            ("reruns of orders it had passed and failed in", &e.reruns),
            ("alone, in fresh interpreters", &e.isolated),
            ("the other side, in fresh interpreters", &e.confirmed),
        ] {
            if counts.passed + counts.failed > 0 {
                rows.push((what, said(counts)));
            }
        }
        if let Some(p) = e.order_effect_p_value {
            rows.push(("effect of the order", format!("p = {p:.4}")));
        }
    }
    if rows.is_empty() {
        return;
    }
    out.push_str("<table>\n<caption>Evidence</caption>\n");
    for (what, said) in rows {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{what}</th><td class=\"text\">{}</td></tr>",
            escape(&said)
        );
    }
    out.push_str("</table>\n");
}

fn message(out: &mut String, failure: &Failure) {
    let phase = match failure.phase {
        Phase::Setup => "in its setup",
        Phase::Call => "in the test",
        Phase::Teardown => "in its teardown",
    };
    let at = if failure.at.is_empty() {
        String::new()
    } else {
        format!(", at <code>{}</code>", short(&failure.at))
    };
    let _ = writeln!(
        out,
        "<h4>Failure</h4>\n<p class=\"dim\">{phase}{at}</p>\n<pre>{}</pre>",
        block(&failure.message, MESSAGE)
    );
}

fn reproduce(out: &mut String, card: &Card<'_>) {
    let detected = card.detected.and_then(|t| t.reproduce.as_ref());
    let detected = detected.map(|r| (r.command.as_str(), r.verified));
    let explained = card.explained.and_then(|known| {
        let command = known.what.reproduce.as_deref()?;
        Some((command, known.what.reproduce_verified))
    });
    // The one that was seen; of two, the shorter.
    let mut known: Vec<(&str, bool)> = detected.into_iter().chain(explained).collect();
    known.sort_by_key(|(command, verified)| (!verified, command.len()));
    let Some((shell, verified)) = known.first() else {
        return;
    };
    let _ = writeln!(
        out,
        "<h4>Reproduce</h4>\n<p class=\"dim\">With plain pytest; {}.</p>",
        if *verified {
            "this very command was seen to fail in a fresh interpreter"
        } else {
            "fresh interpreters have not confirmed this command"
        }
    );
    let instead = format!("flakelab explain {}", shell_word(card.id));
    command(out, shell, Some(&instead));
}

fn causes(out: &mut String, e: &Explanation, cards: &Cards<'_>) {
    out.push_str("<h4>Cause</h4>\n");
    if !e.has_cause() {
        out.push_str("<p>None was found that changes the verdict.</p>\n");
    }
    sets(out, "Fails after", &e.polluters, cards);
    sets(out, "Passes after", &e.state_setters, cards);
    if !e.intermittent.is_empty() {
        out.push_str("<p>Sometimes:</p>\n<ul>\n");
        for one in e.intermittent.iter().take(MOST_SETS) {
            let _ = writeln!(
                out,
                "<li>after {} it fails {}</li>",
                set(&one.tests, cards),
                escape(&rate_words(&one.failure_rate, "runs"))
            );
        }
        out.push_str("</ul>\n");
    }
    let cleaners: Vec<Vec<String>> = e.cleaners.iter().map(|c| c.cleaners.clone()).collect();
    sets(out, "Cured, if in between, by", &cleaners, cards);
}

fn set(tests: &[String], cards: &Cards<'_>) -> String {
    let mut names: Vec<String> = tests
        .iter()
        .take(MOST_OF_SET)
        .map(|id| cards.link(id))
        .collect();
    if tests.len() > MOST_OF_SET {
        names.push(format!("{} more", tests.len() - MOST_OF_SET));
    }
    names.join(" and ")
}

fn sets(out: &mut String, what: &str, all: &[Vec<String>], cards: &Cards<'_>) {
    if all.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "<p>{what}{}</p>\n<ul>",
        if all.len() > 1 { " any of" } else { "" }
    );
    for one in all.iter().take(MOST_SETS) {
        let _ = writeln!(out, "<li>{}</li>", set(one, cards));
    }
    if all.len() > MOST_SETS {
        let more = count((all.len() - MOST_SETS) as u64, "other", "others");
        let _ = writeln!(out, "<li class=\"dim\">{more}</li>");
    }
    out.push_str("</ul>\n");
}

/// What proved to matter comes first.
fn leaks(out: &mut String, e: &Explanation, cards: &Cards<'_>) {
    if e.leaks.is_empty() {
        return;
    }
    let mut leaks: Vec<&Leak> = e.leaks.iter().collect();
    leaks.sort_by_key(|leak| !leak.causal);
    out.push_str(
        "<h4>Leaked state</h4>\n<div class=\"scroll wrap\" tabindex=\"0\" role=\"region\" aria-label=\"Leaked state\"><table>\n\
         <thead><tr><th scope=\"col\">what</th><th scope=\"col\">before</th><th scope=\"col\">after</th>\
         <th scope=\"col\">written at</th><th scope=\"col\">left by</th><th scope=\"col\">put back</th></tr></thead>\n<tbody>\n",
    );
    let members = |group| leaks.iter().filter(|l| l.group == Some(group)).count();
    for leak in leaks.iter().take(MOST_LEAKS) {
        let at = leak.at.as_deref().map_or_else(
            || "not found".into(),
            |at| format!("<code>{}</code>", short(at)),
        );
        let by: Vec<String> = leak
            .left_by
            .iter()
            .take(3)
            .map(|id| cards.link(id))
            .collect();
        let matters = match (leak.causal, leak.group) {
            (true, Some(group)) if members(group) > 1 => {
                format!(
                    "changes the verdict, with the others of group {}",
                    group + 1
                )
            }
            (true, _) => "changes the verdict".to_owned(),
            (false, _) => "changes nothing".to_owned(),
        };
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\"><code>{}</code> <span class=\"dim\">{}</span></th><td><code>{}</code></td><td><code>{}</code></td>\
             <td>{at}</td><td>{}</td><td>{matters}</td></tr>",
            short(&leak.name),
            short(&leak.kind),
            block(&leak.before, VALUE),
            block(&leak.after, VALUE),
            by.join(", "),
        );
    }
    out.push_str("</tbody>\n</table></div>\n");
    if leaks.len() > MOST_LEAKS {
        let _ = writeln!(
            out,
            "<p class=\"dim\">… and {} more</p>",
            leaks.len() - MOST_LEAKS
        );
    }
}

fn factors(out: &mut String, e: &Explanation) {
    for factor in e.factors.iter().filter(|f| f.decides) {
        let _ = writeln!(
            out,
            "<table>\n<caption>{} decides</caption>\n<thead><tr><th scope=\"col\">setting</th><th scope=\"col\">fails</th></tr></thead>\n<tbody>",
            short(&factor.factor.replace('_', " "))
        );
        for level in factor.levels.iter().take(MOST_LEVELS) {
            let Rate { failed, of, .. } = level.failure_rate;
            let _ = writeln!(
                out,
                "<tr><th scope=\"row\"><code>{}</code></th><td>{failed} of {of}</td></tr>",
                short(&level.setting)
            );
        }
        out.push_str("</tbody>\n</table>\n");
    }
}

fn patch(out: &mut String, card: &Card<'_>, patches: &Patches<'_>) {
    let Some(known) = card.fixed else {
        return;
    };
    out.push_str("<h4>Patch</h4>\n");
    let fix = &known.what;
    let numbers: Vec<usize> = fix
        .patches
        .iter()
        .filter_map(|p| patches.number(&p.diff))
        .collect();
    if !fix.reason.is_empty() {
        let _ = writeln!(out, "<p>{}</p>", short(&fix.reason));
    }
    for number in &numbers {
        let _ = writeln!(
            out,
            "<p><a href=\"#patch{number}\">Patch {}</a>, verified.</p>",
            number + 1
        );
    }
    if numbers.is_empty() {
        let what = if fix.patches.is_empty() {
            "No patch held. This tries again:"
        } else {
            "There was no room for the patch. This shows it:"
        };
        let _ = writeln!(out, "<p>{what}</p>");
        command(out, &known.command, None);
    }
}
