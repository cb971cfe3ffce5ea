//! Under which settings the numbers hold: whoever reports flakiness has to say so (guideline 1 of the dissertation, section
//! 4.3).

use std::fmt::Write as _;

use super::super::{Configuration, Document};
use super::{MOST_NOTES, left_out, short};
use crate::html::escape;
use crate::wording::{count, duration};

pub(super) fn section(out: &mut String, document: &Document) {
    out.push_str("<h2 id=\"settings\">Settings and environment</h2>\n<h3>Settings of each configuration</h3>\n");
    let controlled = document.base();
    for (at, configuration) in document.configurations.iter().enumerate() {
        let other = controlled.filter(|base| base.name != configuration.name);
        settings(out, configuration, other, at == 0);
    }
    environment(out, document);
    if !document.notes.is_empty() {
        out.push_str("<h3>Notes</h3>\n<ul>\n");
        for note in document.notes.iter().take(MOST_NOTES) {
            let _ = writeln!(out, "<li>{}</li>", short(note));
        }
        out.push_str("</ul>\n");
        left_out(
            out,
            document.notes.len(),
            MOST_NOTES,
            "more note",
            "more notes",
        );
    }
}

fn settings(
    out: &mut String,
    configuration: &Configuration,
    controlled: Option<&Configuration>,
    open: bool,
) {
    let differs = |factor: &str, setting: &String| {
        controlled.is_some_and(|c| c.settings.get(factor) != Some(setting))
    };
    let changed: Vec<String> = configuration
        .settings
        .iter()
        .filter(|(factor, setting)| differs(factor, setting))
        .map(|(factor, setting)| format!("{} = {}", short(factor), short(setting)))
        .collect();
    let _ = writeln!(
        out,
        "<details class=\"s\"{}><summary>{} <span class=\"dim\">{}{}{}</span></summary>\n<div class=\"scroll wrap\"><table>",
        if open { " open" } else { "" },
        short(&configuration.name),
        count(configuration.runs as u64, "run", "runs"),
        if changed.is_empty() { "" } else { "; " },
        changed.join("; "),
    );
    for (factor, setting) in &configuration.settings {
        let (open, close) = if differs(factor, setting) {
            ("<b>", "</b>")
        } else {
            ("", "")
        };
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{open}{}{close}</th><td>{open}<code>{}</code>{close}</td></tr>",
            short(factor),
            short(setting)
        );
    }
    out.push_str("</table></div></details>\n");
}

fn environment(out: &mut String, document: &Document) {
    let e = &document.environment;
    let c = &document.campaign;
    let mut rows: Vec<(&str, String)> = vec![
        ("system", format!("{} ({})", e.os, e.arch)),
        ("processors", e.cpus.to_string()),
        ("Python", e.python.clone()),
        ("pytest", e.pytest.clone()),
    ];
    if !e.plugins.is_empty() {
        rows.push(("plugins", e.plugins.join(", ")));
    }
    if let Some(commit) = &e.commit {
        rows.push(("commit", commit.clone()));
    }
    rows.push(("flakelab", document.flakelab.clone()));
    rows.push(("seed", c.seed.to_string()));
    rows.push(("runs asked for of each configuration", c.runs.to_string()));
    rows.push((
        "time",
        format!(
            "{} ({} CPU)",
            duration(c.wall_seconds),
            duration(c.cpu_seconds)
        ),
    ));
    out.push_str("<h3>Environment</h3>\n<div class=\"scroll wrap\"><table>\n");
    for (name, value) in rows {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{name}</th><td>{}</td></tr>",
            escape(&value.chars().take(2_000).collect::<String>())
        );
    }
    out.push_str("</table></div>\n");
}
