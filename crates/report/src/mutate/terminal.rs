//! What the tests of a project notice, as a person reads it at a glance.

use std::fmt::Write as _;

use super::sayings::{self, name};
use super::{Document, Mutant, Status, useful};
use crate::style::{BOLD, DIM, GREEN, OFF, RED, YELLOW};
use crate::wording::{count, duration, first_line, thousands};

/// What is listed without `verbose`.
const MOST_MUTANTS: usize = 20;
const MOST_TESTS: usize = 5;
const MOST_VARYING: usize = 10;
/// Lines of a diff, and characters of a line; also with `verbose`.
const MOST_LINES: usize = 40;
const LINE: usize = 200;
/// Characters of the longest name of a status or a rung, with what follows it.
const NAME: usize = 22;

pub fn terminal(document: &Document, verbose: bool) -> String {
    let mut out = String::new();
    let survivors: Vec<&Mutant> = useful::survivors(document)
        .into_iter()
        .map(|(_, mutant)| mutant)
        .collect();
    listed(&mut out, &survivors, verbose);
    for status in [Status::Unknown, Status::Timeout, Status::Error] {
        let mut found: Vec<&Mutant> = document
            .mutants
            .iter()
            .filter(|mutant| mutant.status == status)
            .collect();
        found.sort_by_key(|mutant| useful::place(mutant));
        listed(&mut out, &found, verbose);
    }
    set_aside(&mut out, document, verbose);
    coverage(&mut out, document, verbose);
    ladder(&mut out, document);
    totals(&mut out, document);
    out
}

fn colour(status: Status) -> &'static str {
    match status {
        Status::Killed => GREEN,
        Status::Survived => RED,
        Status::Unknown | Status::Timeout | Status::Error => YELLOW,
        Status::NotCovered => DIM,
    }
}

fn listed(out: &mut String, mutants: &[&Mutant], verbose: bool) {
    let most = if verbose { usize::MAX } else { MOST_MUTANTS };
    for mutant in mutants.iter().take(most) {
        describe(out, mutant, verbose);
    }
    if let Some(first) = mutants.first().filter(|_| mutants.len() > most) {
        let _ = writeln!(
            out,
            "{DIM}… and {} more {} (--verbose lists them){OFF}\n",
            thousands((mutants.len() - most) as u64),
            first.status.words()
        );
    }
}

fn describe(out: &mut String, mutant: &Mutant, verbose: bool) {
    let _ = writeln!(
        out,
        "{}{BOLD}{}{OFF} {BOLD}{}:{}:{}{OFF} {}  {}",
        colour(mutant.status),
        mutant.status.words(),
        name(&mutant.file, LINE),
        mutant.line,
        mutant.column,
        name(&mutant.scope, LINE),
        first_line(&mutant.says, LINE),
    );
    let _ = writeln!(
        out,
        "  {} {DIM}({}, {}){OFF}",
        sayings::verdict(mutant),
        name(&mutant.operator, LINE),
        name(&mutant.id, LINE)
    );
    if let Some(why) = &mutant.why {
        let _ = writeln!(out, "  because  {}", first_line(why, LINE));
    }
    if mutant.status == Status::Unknown {
        names(
            out,
            sayings::undecided(mutant),
            &mutant.unknown_pairs,
            verbose,
        );
    }
    diff(out, &mutant.diff);
    out.push('\n');
}

fn names(out: &mut String, what: &str, tests: &[String], verbose: bool) {
    let most = if verbose { usize::MAX } else { MOST_TESTS };
    for test in tests.iter().take(most) {
        let _ = writeln!(out, "  {what}  {}", name(test, LINE));
    }
    if tests.len() > most {
        let more = (tests.len() - most) as u64;
        let _ = writeln!(out, "  {DIM}… and {} more{OFF}", thousands(more));
    }
}

/// Without its head: the file is named already.
fn diff(out: &mut String, diff: &str) {
    let lines: Vec<&str> = diff
        .lines()
        .skip_while(|line| line.starts_with("---") || line.starts_with("+++"))
        .collect();
    for line in lines.iter().take(MOST_LINES) {
        let colour = match line.as_bytes().first() {
            Some(b'+') => GREEN,
            Some(b'-') => RED,
            _ => DIM,
        };
        let _ = writeln!(
            out,
            "    {colour}{}{OFF}",
            name(&line.replace('\t', "    "), LINE)
        );
    }
    if lines.len() > MOST_LINES {
        let more = (lines.len() - MOST_LINES) as u64;
        let _ = writeln!(out, "    {DIM}… and {} more lines{OFF}", thousands(more));
    }
}

fn set_aside(out: &mut String, document: &Document, verbose: bool) {
    let aside = &document.set_aside;
    if aside.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "{YELLOW}{BOLD}set aside{OFF}: {} without a mutant; how they fail there kills nothing",
        count(
            aside.len() as u64,
            "test did not pass",
            "tests did not pass"
        )
    );
    let most = if verbose { usize::MAX } else { MOST_MUTANTS };
    for one in aside.iter().take(most) {
        let _ = writeln!(
            out,
            "  {}  {DIM}{}{OFF}",
            name(&one.test, LINE),
            first_line(&one.why, LINE)
        );
    }
    if aside.len() > most {
        let more = (aside.len() - most) as u64;
        let _ = writeln!(
            out,
            "  {DIM}… and {} more (--verbose lists them){OFF}",
            thousands(more)
        );
    }
    out.push('\n');
}

/// Table 1 of the paper.
fn coverage(out: &mut String, document: &Document, verbose: bool) {
    let c = &document.coverage;
    if c.pairs.varying == 0 {
        return;
    }
    let _ = writeln!(out, "{BOLD}coverage that differs{OFF} from run to run");
    for (what, share) in [
        ("statements", &c.statements),
        ("tests", &c.tests),
        ("pairs of both", &c.pairs),
    ] {
        let _ = writeln!(out, "  {what:<NAME$}{}", sayings::share(share));
    }
    let most = if verbose { usize::MAX } else { MOST_VARYING };
    for one in c.varying.iter().take(most) {
        let _ = writeln!(
            out,
            "  {DIM}{}:{} in {} of {} runs of{OFF} {}",
            name(&one.file, LINE),
            one.line,
            one.seen,
            one.of,
            name(&one.test, LINE)
        );
    }
    let shown = c.varying.len().min(most) as u64;
    if shown > 0 && c.pairs.varying > shown {
        let more = thousands(c.pairs.varying - shown);
        let _ = writeln!(out, "  {DIM}… and {more} more pairs{OFF}");
    }
    out.push('\n');
}

/// Table 5 of the paper: pairs that each rerun hit for the first time.
fn ladder(out: &mut String, document: &Document) {
    let climbs = sayings::climbs(document);
    let idle = document.unknown_at_first == 0 && climbs.iter().all(|climb| climb.all_pairs == 0);
    if idle {
        return;
    }
    let reruns = sayings::reruns(&climbs);
    let row = |out: &mut String, first: &str, cells: &mut dyn Iterator<Item = String>| {
        let _ = write!(out, "{first:<NAME$}");
        for cell in cells {
            let _ = write!(out, "{cell:>8}");
        }
        out.push('\n');
    };
    let _ = writeln!(
        out,
        "{BOLD}reruns of what was not hit{OFF}: pairs that hit the mutant at last, by rerun"
    );
    out.push_str(DIM);
    let last = ["pairs", "mutants"].map(String::from);
    row(out, "", &mut reruns.iter().cloned().chain(last));
    out.push_str(OFF);
    for climb in &climbs {
        let of = |at: usize| climb.pairs.get(at).map(|pairs| thousands(*pairs));
        let cells = (0..reruns.len()).map(|at| of(at).unwrap_or_else(|| "–".into()));
        let last = [climb.all_pairs, climb.mutants].map(thousands);
        let first = format!("  {}", climb.rung);
        row(out, &first, &mut cells.chain(last));
    }
    let first = document.unknown_at_first;
    if first > 0 {
        let resolved: u64 = climbs.iter().map(|climb| climb.mutants).sum();
        let _ = writeln!(
            out,
            "  {} unknown after one execution of each pair, {:.1} % of them resolved by reruns",
            count(first, "mutant was", "mutants were"),
            100.0 * resolved as f64 / first as f64
        );
    }
    out.push('\n');
}

fn totals(out: &mut String, document: &Document) {
    let c = &document.campaign;
    let _ = writeln!(out, "{BOLD}mutants{OFF}");
    for status in Status::ALL {
        let number = document.totals.of(status);
        let shown = if number > 0 { colour(status) } else { DIM };
        let beside = match status {
            Status::Killed | Status::Survived | Status::Unknown => "",
            _ => "  not part of the score",
        };
        let _ = writeln!(
            out,
            "  {shown}{:<NAME$}{:>8}{OFF}{DIM}{beside}{OFF}",
            status.words(),
            thousands(number)
        );
    }
    let left_out = sayings::left_out(document);
    if !left_out.is_empty() {
        let _ = writeln!(out, "  {DIM}never run: {}{OFF}", left_out.join(", "));
    }
    let p = &document.pairs;
    let _ = writeln!(
        out,
        "  {DIM}pairs of mutant and test: {} killed, {} survived, {} unknown, {} timeout{OFF}",
        thousands(p.killed),
        thousands(p.survived),
        thousands(p.unknown),
        thousands(p.timeout)
    );
    let t = &document.totals;
    let colour = match (t.survived, t.unknown) {
        (0, 0) => GREEN,
        (0, _) => YELLOW,
        _ => RED,
    };
    let _ = writeln!(
        out,
        "\n{colour}{BOLD}score {}{OFF}: {}",
        sayings::range(&document.score),
        sayings::basis(document)
    );
    let _ = writeln!(
        out,
        "{} in {} ({} CPU), seed {}\n{DIM}{}{OFF}",
        count(c.runs, "run", "runs"),
        duration(c.wall_seconds),
        duration(c.cpu_seconds),
        c.seed,
        sayings::campaign(document)
    );
}

#[cfg(test)]
mod tests;
