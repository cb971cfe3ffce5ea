//! A measurement as a person reads it at a glance.

mod unstable;

use std::fmt::Write as _;

use super::{Configuration, Document, FactorEffect, Layer, Level, sayings};
use crate::style::{BOLD, DIM, GREEN, OFF, RED, YELLOW};
use crate::wording::{count, duration, first_line, thousands, visible};

/// Settings of a factor, each with what was seen under it.
const MOST_LEVELS: usize = 4;
/// Characters of a value.
const VALUE: usize = 40;
/// What is listed without `verbose`.
const MOST_FACTORS: usize = 10;
const MOST_LATENT: usize = 10;
/// Affected tests named for a factor.
const MOST_NAMED: usize = 3;
/// Characters of the longest name of a configuration that keeps the columns aligned.
const NAME: usize = 28;

pub fn terminal(document: &Document, verbose: bool) -> String {
    let mut out = String::new();
    opening(&mut out, document);
    if sayings::all_alike(document) {
        let _ = writeln!(
            out,
            "{GREEN}{BOLD}nothing varies{OFF}: all runs were alike, at every layer\n"
        );
    } else {
        for layer in &document.layers {
            table(&mut out, document, layer, verbose);
        }
        factors(&mut out, document, verbose);
        if let Some(controlled) = document.base() {
            unstable::describe(&mut out, controlled, verbose);
        }
    }
    latent(&mut out, document, verbose);
    remarks(&mut out, document);
    let _ = writeln!(
        out,
        "in {} ({} CPU), seed {}",
        duration(document.campaign.wall_seconds),
        duration(document.campaign.cpu_seconds),
        document.campaign.seed
    );
    out
}

fn opening(out: &mut String, document: &Document) {
    let c = &document.campaign;
    let _ = writeln!(
        out,
        "{BOLD}{}{OFF}: {}, {} in {}",
        visible(&document.project),
        count(c.tests as u64, "test", "tests"),
        count(c.total_runs as u64, "run", "runs"),
        count(
            document.configurations.len() as u64,
            "configuration",
            "configurations"
        ),
    );
    let runs = document.configurations.iter().map(|c| c.runs).max();
    if let Some(runs @ 2..) = runs {
        let _ = writeln!(
            out,
            "{DIM}entropy in nats: 0 where all runs are alike, {:.2} where {} all differ{OFF}",
            (runs as f64).ln(),
            count(runs as u64, "run", "runs"),
        );
    }
    out.push('\n');
}

/// One layer under every configuration; those without any difference share a line.
fn table(out: &mut String, document: &Document, name: &str, verbose: bool) {
    let rows: Vec<(&Configuration, &Layer)> = document
        .configurations
        .iter()
        .filter_map(|c| Some((c, c.layers.iter().find(|l| l.layer == name)?)))
        .collect();
    let quiet = |layer: &Layer| layer.suite.entropy <= 0.0 && layer.average.entropy <= 0.0;
    if rows.is_empty() {
        return;
    }
    if !verbose && rows.iter().all(|(_, layer)| quiet(layer)) {
        let _ = writeln!(
            out,
            "{BOLD}{:<width$}{OFF}{DIM}{}{OFF}\n",
            visible(name),
            if document
                .factors
                .iter()
                .any(|e| e.layer == name && sayings::matters(e))
            {
                "alike within every configuration"
            } else {
                "nothing varies"
            },
            width = NAME + 2
        );
        return;
    }
    let _ = writeln!(
        out,
        "{BOLD}{:<width$}{OFF}{DIM}{:>8}{:>8}{:>9}{:>18}{OFF}",
        visible(name),
        "suite",
        "tests",
        "range",
        "false positives",
        width = NAME + 2
    );
    let mut alike: Vec<String> = Vec::new();
    for (configuration, layer) in rows {
        let shown = visible(&configuration.name);
        if !verbose && quiet(layer) {
            alike.push(shown);
            continue;
        }
        let percent = match sayings::percentage(layer.false_positives) {
            none if none == "–" => none,
            value => format!("{value} %"),
        };
        let _ = writeln!(
            out,
            "  {shown:<NAME$}{:>8}{:>8}{:>9}{percent:>18}",
            sayings::amount(layer.suite.entropy),
            sayings::amount(layer.average.entropy),
            sayings::amount(layer.average.range),
        );
    }
    if !alike.is_empty() {
        let _ = writeln!(out, "  {DIM}all runs alike: {}{OFF}", alike.join(", "));
    }
    out.push('\n');
}

fn factors(out: &mut String, document: &Document, verbose: bool) {
    let found: Vec<&FactorEffect> = document
        .factors
        .iter()
        .filter(|e| sayings::matters(e))
        .collect();
    if found.is_empty() {
        let _ = writeln!(out, "no factor explains what varies\n");
        return;
    }
    let (factors, named) = if verbose {
        (usize::MAX, usize::MAX)
    } else {
        (MOST_FACTORS, MOST_NAMED)
    };
    for effect in found.iter().take(factors) {
        let tests = effect.tests.len();
        let _ = writeln!(
            out,
            "{RED}{BOLD}{}{OFF} {}; {}",
            effect.factor,
            sayings::explains(effect),
            count(tests as u64, "test", "tests"),
        );
        let names: Vec<String> = effect
            .tests
            .iter()
            .take(named)
            .map(|t| visible(&t.id))
            .collect();
        let more = if tests > names.len() {
            format!(" and {} more", thousands((tests - names.len()) as u64))
        } else {
            String::new()
        };
        let _ = writeln!(out, "  tests                  {}{more}", names.join(", "));
        if let Some(first) = effect.tests.iter().find(|t| !t.elements.is_empty()) {
            let most = if verbose { usize::MAX } else { MOST_LEVELS };
            let mut levels: Vec<String> = first.levels.iter().take(most).map(level).collect();
            if first.levels.len() > most {
                levels.push(format!("{} more", first.levels.len() - most));
            }
            let _ = writeln!(
                out,
                "  most unstable element  {}  {DIM}{}{OFF}",
                visible(&first.elements[0]),
                levels.join(" | ")
            );
        }
    }
    if found.len() > factors {
        let _ = writeln!(
            out,
            "{DIM}… and {} (--verbose lists them){OFF}",
            count(
                (found.len() - factors) as u64,
                "more effect",
                "more effects"
            )
        );
    }
    out.push('\n');
}

/// `077: 384`.
fn level(level: &Level) -> String {
    let value = level.value.as_deref().unwrap_or("(not there)");
    let others = match level.others {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    format!(
        "{}: {}{others}",
        visible(&level.setting),
        first_line(value, VALUE)
    )
}

fn latent(out: &mut String, document: &Document, verbose: bool) {
    if document.latent.is_empty() {
        return;
    }
    let number = document.latent.len();
    let _ = writeln!(
        out,
        "{YELLOW}{BOLD}latent{OFF}: {}",
        match number {
            1 => "1 comparison held every time, by less than it varies".into(),
            _ => format!(
                "{} comparisons held every time, by less than they vary",
                thousands(number as u64)
            ),
        }
    );
    let shown = if verbose { usize::MAX } else { MOST_LATENT };
    for one in document.latent.iter().take(shown) {
        let _ = writeln!(
            out,
            "  {BOLD}{}{OFF}  {}\n    {} {DIM}({}, {}){OFF}",
            visible(&one.test),
            visible(&one.element),
            sayings::margin(one),
            visible(&one.configuration),
            count(one.runs as u64, "run", "runs"),
        );
    }
    if number > shown {
        let _ = writeln!(out, "  {DIM}… and {} more{OFF}", number - shown);
    }
    out.push('\n');
}

fn remarks(out: &mut String, document: &Document) {
    for one in &document.unavailable {
        let _ = writeln!(
            out,
            "{DIM}not varied: {}, {}{OFF}",
            one.factor,
            visible(&one.why)
        );
    }
    for note in &document.notes {
        let _ = writeln!(out, "{DIM}note: {}{OFF}", visible(note));
    }
}

#[cfg(test)]
mod tests;
