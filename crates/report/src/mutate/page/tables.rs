//! Tables 1 and 5 of the paper, and how the campaign was made.

use std::fmt::Write as _;

use super::super::{Document, sayings};
use super::{more, short};
use crate::html::escape;
use crate::wording::{duration, thousands};

const MOST_VARYING: usize = 100;
const MOST_ASIDE: usize = 100;

pub(super) fn coverage(out: &mut String, document: &Document) {
    let c = &document.coverage;
    out.push_str("<h2 id=\"coverage\">Coverage that differs from run to run</h2>\n");
    if c.pairs.varying == 0 {
        out.push_str("<p>None: every test reached the same code in every run.</p>\n");
        return;
    }
    out.push_str("<table>\n");
    for (what, share) in [
        ("statements", &c.statements),
        ("tests", &c.tests),
        ("pairs of both", &c.pairs),
    ] {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{what}</th><td>{}</td></tr>",
            sayings::share(share)
        );
    }
    out.push_str("</table>\n");
    if c.varying.is_empty() {
        return;
    }
    out.push_str(
        "<div class=\"scroll wrap\"><table>\n<thead><tr><th scope=\"col\">test</th><th scope=\"col\">line</th>\
         <th scope=\"col\" class=\"n\">reached in runs</th></tr></thead>\n<tbody>\n",
    );
    for one in c.varying.iter().take(MOST_VARYING) {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\"><code>{}</code></th><td>{}:{}</td><td class=\"n\">{} of {}</td></tr>",
            short(&one.test),
            short(&one.file),
            one.line,
            one.seen,
            one.of
        );
    }
    out.push_str("</tbody>\n</table></div>\n");
    more(out, c.varying.len(), MOST_VARYING);
}

pub(super) fn ladder(out: &mut String, document: &Document) {
    out.push_str("<h2 id=\"reruns\">Reruns of what was not hit</h2>\n");
    let climbs = sayings::climbs(document);
    if climbs.is_empty() {
        out.push_str("<p>None: every test hit the mutants it was to hit at once.</p>\n");
        return;
    }
    out.push_str(
        "<p class=\"dim\">Pairs of mutant and test that hit the mutant at last, by rerun; then those of the whole rung, and the mutants \
         that are no longer unknown.</p>\n<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">isolation</th>",
    );
    let reruns = sayings::reruns(&climbs);
    for rerun in reruns
        .iter()
        .map(String::as_str)
        .chain(["pairs", "mutants"])
    {
        let _ = write!(out, "<th scope=\"col\" class=\"n\">{rerun}</th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for climb in &climbs {
        let _ = write!(out, "<tr><th scope=\"row\">{}</th>", escape(climb.rung));
        for at in 0..reruns.len() {
            let cell = climb.pairs.get(at).map(|pairs| thousands(*pairs));
            let _ = write!(out, "<td>{}</td>", cell.unwrap_or_else(|| "–".into()));
        }
        let _ = writeln!(
            out,
            "<td>{}</td><td>{}</td></tr>",
            thousands(climb.all_pairs),
            thousands(climb.mutants)
        );
    }
    out.push_str("</tbody>\n</table></div>\n");
}

pub(super) fn campaign(out: &mut String, document: &Document) {
    let c = &document.campaign;
    let p = &document.pairs;
    out.push_str("<h2 id=\"campaign\">Campaign</h2>\n<table>\n");
    for (what, value) in [
        ("runs", thousands(c.runs)),
        (
            "pairs of mutant and test",
            format!(
                "{} killed, {} survived, {} unknown, {} timeout",
                thousands(p.killed),
                thousands(p.survived),
                thousands(p.unknown),
                thousands(p.timeout)
            ),
        ),
        ("made with", sayings::campaign(document)),
        (
            "time",
            format!(
                "{} ({} CPU)",
                duration(c.wall_seconds),
                duration(c.cpu_seconds)
            ),
        ),
        ("seed", c.seed.to_string()),
        ("Python", c.python.clone()),
        ("pytest", c.pytest.clone()),
        ("flakelab", document.flakelab.clone()),
    ] {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{what}</th><td>{}</td></tr>",
            short(&value)
        );
    }
    out.push_str("</table>\n");
    if document.set_aside.is_empty() {
        return;
    }
    out.push_str(
        "<h3>Tests that did not pass without a mutant; how they fail there kills nothing</h3>\n<ul>\n",
    );
    for one in document.set_aside.iter().take(MOST_ASIDE) {
        let _ = writeln!(
            out,
            "<li><code>{}</code> <span class=\"dim\">{}</span></li>",
            short(&one.test),
            short(&one.why)
        );
    }
    out.push_str("</ul>\n");
    more(out, document.set_aside.len(), MOST_ASIDE);
}
