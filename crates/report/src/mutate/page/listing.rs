//! The sources, with the mutants on their lines. A line that has some opens like a drawer.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::super::{Mutant, Status, sayings};
use super::{BY_INTEREST, File, MOST_FILES, OPEN_FILES, chip, class, sentence, short, tests};
use crate::html::{Place, diff_line, escape};
use crate::mutate::Score;
use crate::wording::{count, thousands};

/// Characters of a line.
const LINE: usize = 400;
/// Lines shown before and after a mutant where there is no room for all.
const CONTEXT: usize = 3;
/// Mutants of one line.
const MOST_MUTANTS: usize = 60;
/// Lines of a diff.
const MOST_DIFF: usize = 60;
/// The sentence about what was left out, and the ends of elements.
const RESERVE: usize = 400;

pub(super) struct Listings {
    pub(super) text: String,
    pub(super) shown: Shown,
}

/// What can be linked to.
pub(super) struct Shown {
    /// The first so many.
    pub(super) files: usize,
    /// Their places in the document.
    pub(super) mutants: BTreeSet<usize>,
}

/// How much of a file is shown: as much as there is room for.
#[derive(Clone, Copy, PartialEq)]
enum Detail {
    /// Every line and every mutant.
    Whole,
    /// Lines near mutants, and every mutant.
    Near,
    /// Lines near mutants that were not killed, and those mutants.
    Open,
    /// Only the lines of those mutants.
    Bare,
}

impl Detail {
    /// Whether there is room to tell of it.
    fn tells(self, mutant: &Mutant) -> bool {
        matches!(self, Detail::Whole | Detail::Near) || mutant.status != Status::Killed
    }
}

struct Listing {
    text: String,
    shown: Vec<usize>,
    /// Nothing that its detail has is missing.
    complete: bool,
}

pub(super) fn section(files: &[File], room: usize, place: Place) -> Listings {
    let mut made = Listings {
        text: String::new(),
        shown: Shown {
            files: 0,
            mutants: BTreeSet::new(),
        },
    };
    place.heading(&mut made.text, "sources", "Sources");
    if files.is_empty() {
        made.text.push_str("<p>There is no mutant.</p>\n");
        return made;
    }
    made.text.push_str(
        "<p class=\"dim\">Open a line to see its mutants: what was changed, and which test noticed.</p>\n",
    );
    // Among other things, sources would push everything else away.
    let open = place == Place::OWN_PAGE && files.len() <= OPEN_FILES;
    let mut left = room.saturating_sub(RESERVE);
    let number = files.len().min(MOST_FILES);
    for (at, file) in files.iter().take(MOST_FILES).enumerate() {
        let share = left / (number - at);
        let listing = file_listing(at, file, open, share, place);
        if listing.text.len() > left {
            let _ = writeln!(
                made.text,
                "<p class=\"dim\">There was no room for {}.</p>",
                count((files.len() - at) as u64, "more file", "more files")
            );
            break;
        }
        left -= listing.text.len();
        made.text.push_str(&listing.text);
        made.shown.files = at + 1;
        made.shown.mutants.extend(listing.shown);
    }
    made
}

/// The most detailed one that fits.
fn file_listing(at: usize, file: &File, open: bool, room: usize, place: Place) -> Listing {
    let level = place.level(1);
    let mut head = String::new();
    let _ = write!(
        head,
        "<details class=\"f\" id=\"file{at}\"{}><summary><h{level}>{}</h{level}> <span class=\"dim\">{}</span>",
        if open { " open" } else { "" },
        short(file.path),
        sayings::range(&Score::of(&file.totals))
    );
    for status in BY_INTEREST {
        let number = file.totals.of(status);
        if number > 0 {
            let _ = write!(head, " {}", chip(status, number));
        }
    }
    head.push_str("</summary>\n");
    let room = room.saturating_sub(head.len() + RESERVE);
    let mut body = lines(file, Detail::Whole, room, place);
    for detail in [Detail::Near, Detail::Open, Detail::Bare] {
        if !body.complete {
            body = lines(file, detail, room, place);
        }
    }
    let mut text = head;
    if file.source.is_none() {
        text.push_str("<p class=\"dim\">The source is not there.</p>\n");
    }
    text.push_str(&body.text);
    let missing = (file.mutants.len() - body.shown.len()) as u64;
    if missing > 0 {
        let _ = writeln!(
            text,
            "<p class=\"dim\">There was no room for {}, which the JSON document lists.</p>",
            count(missing, "mutant", "mutants")
        );
    }
    text.push_str("</details>\n");
    Listing { text, ..body }
}

fn lines(file: &File, detail: Detail, room: usize, place: Place) -> Listing {
    let source: Vec<&str> = file.source.unwrap_or("").lines().collect();
    let mut by_line: BTreeMap<usize, Vec<(usize, &Mutant)>> = BTreeMap::new();
    for (at, mutant) in &file.mutants {
        by_line.entry(mutant.line).or_default().push((*at, mutant));
    }
    let context = match detail {
        Detail::Bare => 0,
        _ => CONTEXT,
    };
    let wanted: BTreeSet<usize> = match detail {
        Detail::Whole => (1..=source.len()).chain(by_line.keys().copied()).collect(),
        _ => by_line
            .iter()
            .filter(|(_, mutants)| mutants.iter().any(|(_, mutant)| detail.tells(mutant)))
            .flat_map(|(line, _)| {
                let near = line.saturating_sub(context).max(1)..=line.saturating_add(context);
                // A line that the source does not have still has its mutants.
                let there = near.filter(|near| *near <= source.len());
                there.chain([*line])
            })
            .collect(),
    };
    let mut made = Listing {
        text: "<div class=\"source\">\n".into(),
        shown: Vec::new(),
        complete: true,
    };
    let mut last = 0;
    for line in wanted {
        let mut text = String::new();
        if last + 1 < line && detail != Detail::Whole {
            text.push_str("<div class=\"gap\">⋮</div>\n");
        }
        last = line;
        let code = line.checked_sub(1).and_then(|at| source.get(at));
        let mutants = by_line.get(&line).map_or(&[][..], Vec::as_slice);
        let shown = one_line(&mut text, line, code.copied(), mutants, detail, place);
        if made.text.len() + text.len() > room {
            made.complete = false;
            break;
        }
        made.text.push_str(&text);
        made.shown.extend(shown);
    }
    made.text.push_str("</div>\n");
    made
}

/// A line, and the places of those of its mutants that are told.
fn one_line(
    out: &mut String,
    line: usize,
    code: Option<&str>,
    mutants: &[(usize, &Mutant)],
    detail: Detail,
    place: Place,
) -> Vec<usize> {
    let code = match code {
        Some(code) => {
            let mut shown: String = code.chars().take(LINE).collect();
            if shown.len() < code.len() {
                shown.push('…');
            }
            format!("<code>{}</code>", escape(&shown))
        }
        None => "<i class=\"dim\">a line that the source does not have</i>".into(),
    };
    let mut chips = String::new();
    for status in BY_INTEREST {
        let number = mutants.iter().filter(|(_, m)| m.status == status).count();
        if number > 0 {
            chips.push_str(&chip(status, number as u64));
        }
    }
    if !chips.is_empty() {
        chips = format!("<span class=\"chips\">{chips}</span>");
    }
    let interest = |status| BY_INTEREST.iter().position(|other| *other == status);
    let mut told: Vec<&(usize, &Mutant)> = mutants
        .iter()
        .filter(|(_, mutant)| detail.tells(mutant))
        .collect();
    told.sort_by_key(|(_, mutant)| interest(mutant.status));
    told.truncate(MOST_MUTANTS);
    if told.is_empty() {
        let _ = writeln!(
            out,
            "<div class=\"r\" data-n=\"{line}\">{code}{chips}</div>"
        );
        return Vec::new();
    }
    let _ = writeln!(
        out,
        "<details class=\"r\"><summary data-n=\"{line}\">{code}{chips}</summary>"
    );
    for (at, mutant) in &told {
        article(out, *at, mutant, place.level(2));
    }
    out.push_str("</details>\n");
    told.into_iter().map(|(at, _)| *at).collect()
}

/// What was changed, and what became of it.
fn article(out: &mut String, at: usize, mutant: &Mutant, level: u8) {
    let _ = write!(
        out,
        "<article class=\"{}\" id=\"m{at}\"><h{level}>{} {}</h{level}><p>{} <span class=\"dim\">(column {}, <code>{}</code>, {}, {})</span></p>",
        class(mutant.status),
        chip(mutant.status, 1),
        sentence(&mutant.says),
        escape(&sayings::verdict(mutant)),
        thousands(mutant.column as u64),
        short(&mutant.scope),
        short(&mutant.operator),
        short(&mutant.id),
    );
    if let Some(why) = &mutant.why {
        let _ = write!(out, "<p>Because: {}</p>", short(why));
    }
    out.push_str("<pre class=\"d\">");
    diff(out, &mutant.diff);
    out.push_str("</pre>");
    if !mutant.killed_by.is_empty() {
        out.push_str("<p>Killed by</p>");
        tests(out, &mutant.killed_by);
    }
    if let Some(failure) = &mutant.failure {
        let _ = write!(out, "<p>with <code>{}</code></p>", short(failure));
    }
    if !mutant.unknown_pairs.is_empty() {
        let who = match mutant.why {
            Some(_) => "Undecided by",
            None => "Never hit by",
        };
        let _ = write!(out, "<p>{who}</p>");
        tests(out, &mutant.unknown_pairs);
    }
    out.push_str("</article>\n");
}

/// Without its head: the file is named already.
fn diff(out: &mut String, diff: &str) {
    let lines = || {
        diff.lines()
            .skip_while(|line| line.starts_with("---") || line.starts_with("+++"))
    };
    for line in lines().take(MOST_DIFF) {
        let mut shown: String = line.chars().take(LINE).collect();
        if shown.len() < line.len() {
            shown.push('…');
        }
        diff_line(out, &escape(&shown));
    }
    let number = lines().count();
    if number > MOST_DIFF {
        let _ = writeln!(out, "… and {} more lines", number - MOST_DIFF);
    }
}
