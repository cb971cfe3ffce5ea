//! `flakelab` without a verb: what it can do and three next steps that fit the place, on one screen.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

use clap::CommandFactory as _;
use flakelab_store::{Campaign, Store};

use crate::args::Cli;
use crate::error::{CLEAN, CliError};
use crate::printer::Printer;
use crate::project;
use crate::workbench::{Detected, Place, existing_store};

/// Columns of the smallest usual terminal.
const WIDTH: usize = 80;
/// What is set up once and needs no place on the screen.
const ASIDE: [&str; 3] = ["completions", "man", "help"];

/// Where the user is, in words, and what to do there: commands with what they bring.
#[derive(Debug, PartialEq, Eq)]
struct Advice {
    place: String,
    steps: [(&'static str, &'static str); 3],
}

pub(crate) fn run(store: Option<&OsStr>) -> crate::Outcome {
    let advice = advise(Path::new("."), store.map(Path::new));
    Printer::new(false, false).data(&screen(&advice));
    Ok(CLEAN)
}

fn screen(advice: &Advice) -> String {
    let mut out = format!(
        "flakelab {}: one workbench for flaky tests\n\n",
        env!("CARGO_PKG_VERSION")
    );
    let cli = Cli::command();
    let verbs: Vec<_> = cli
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set() && !ASIDE.contains(&verb.get_name()))
        .collect();
    let names = verbs.iter().map(|verb| verb.get_name().len()).max();
    let names = names.unwrap_or_default();
    for verb in &verbs {
        let about = verb.get_about().map(ToString::to_string);
        let about = fitting(
            about.unwrap_or_default().trim_end_matches('.'),
            WIDTH - names - 4,
        );
        let _ = writeln!(out, "  {:names$}  {about}", verb.get_name());
    }
    let _ = writeln!(out, "\nHere: {}", fitting(&advice.place, WIDTH - 6));
    let commands = advice.steps.iter().map(|(command, _)| command.len()).max();
    let commands = commands.unwrap_or_default();
    for (command, brings) in advice.steps {
        let _ = writeln!(out, "  {command:commands$}  {brings}");
    }
    out.push_str("\n`flakelab VERB --help` starts with an example\n");
    out
}

/// As many clauses of a sentence as fit, or its beginning.
fn fitting(text: &str, width: usize) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    let length = |text: &str| text.chars().count();
    if length(&text) <= width {
        return text;
    }
    let clauses = text.match_indices(", ").map(|(at, _)| &text[..at]);
    match clauses.filter(|clause| length(clause) <= width).last() {
        Some(clause) => clause.to_owned(),
        None => {
            let short: String = text.chars().take(width.saturating_sub(1)).collect();
            format!("{short}…")
        }
    }
}

fn advise(path: &Path, store: Option<&Path>) -> Advice {
    if project::locate(path).is_err() {
        return Advice {
            place: "no Python project".to_owned(),
            steps: [
                ("flakelab detect PATH", "find the flaky tests of a project"),
                ("flakelab doctor PATH", "is everything there for it?"),
                ("flakelab ingest REPORTS", "what CI reported, of any runner"),
            ],
        };
    }
    let Ok(place) = Place::settle(path, store) else {
        return unreadable("a configuration that cannot be read".to_owned());
    };
    let name = place.name();
    let known = match existing_store(&place.location) {
        Ok(None) => return first(&name),
        Ok(Some(store)) => of_store(&store, &name),
        Err(error) => Err(error),
    };
    known.unwrap_or_else(|_| unreadable(format!("{name}, with a store that cannot be read")))
}

fn unreadable(place: String) -> Advice {
    Advice {
        place,
        steps: [
            ("flakelab doctor", "says what is wrong"),
            ("flakelab init --stdout", "every setting there is"),
            ("flakelab detect --store DIR", "with a new store"),
        ],
    }
}

fn first(name: &str) -> Advice {
    Advice {
        place: format!("{name}, with nothing known of it yet"),
        steps: [
            ("flakelab doctor", "is everything there to run its tests?"),
            ("flakelab detect --budget 5m", "find its flaky tests"),
            ("flakelab measure --runs 5", "what varies, though all pass?"),
        ],
    }
}

/// What the newest campaigns have come to.
fn of_store(store: &Store, name: &str) -> Result<Advice, CliError> {
    let last = |verb| -> Result<Option<Campaign>, CliError> {
        store.last(verb).map_err(|e| CliError::usage(e.to_string()))
    };
    let Some(detect) = last("detect")? else {
        let totals = store.history_totals();
        return Ok(match totals {
            Ok(totals) if totals.files > 0 => Advice {
                place: format!("{name}, with {} reports in its history", totals.files),
                steps: [
                    ("flakelab history", "which tests flake, and since when"),
                    ("flakelab detect --budget 5m", "find them here"),
                    ("flakelab doctor", "is everything there to run its tests?"),
                ],
            },
            _ => first(name),
        });
    };
    if !detect.finished {
        return Ok(Advice {
            place: format!("{name}, with a detect that was interrupted"),
            steps: [
                ("flakelab detect --resume", "go on with it"),
                (
                    "flakelab detect --budget 5m",
                    "start anew, for five minutes",
                ),
                ("flakelab explain", "what earlier ones found"),
            ],
        });
    }
    let flaky = Detected::last(store)?.map_or(0, |(_, detected)| {
        let flaky = detected.tests.iter().filter(|t| t.class.is_flaky());
        flaky.count()
    });
    let since = |verb| -> Result<bool, CliError> {
        Ok(last(verb)?.is_some_and(|c| c.finished && c.id > detect.id))
    };
    let tests = if flaky == 1 { "test" } else { "tests" };
    Ok(if flaky == 0 {
        Advice {
            place: format!("{name}; the last detect found no flaky test"),
            steps: [
                ("flakelab detect --orders 1000", "look longer"),
                ("flakelab measure", "what varies, though all pass?"),
                ("flakelab inject -o data", "would detect find one?"),
            ],
        }
    } else if since("fix")? {
        Advice {
            place: format!("{name}; {flaky} flaky {tests}, with patches tried"),
            steps: [
                ("flakelab fix --apply", "write the patches that hold"),
                ("flakelab detect", "see what is left"),
                ("flakelab filter learn", "live with what cannot be fixed"),
            ],
        }
    } else if since("explain")? {
        Advice {
            place: format!("{name}; {flaky} flaky {tests}, explained"),
            steps: [
                ("flakelab fix", "verified patches"),
                ("flakelab explain --graph mermaid", "who pollutes whom"),
                ("flakelab filter learn", "live with what cannot be fixed"),
            ],
        }
    } else {
        Advice {
            place: format!("{name}; the last detect found {flaky} flaky {tests}"),
            steps: [
                ("flakelab explain", "which tests and which state cause them"),
                ("flakelab fix", "the same, with verified patches"),
                ("flakelab filter learn", "live with what cannot be fixed"),
            ],
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sentence_is_cut_between_clauses() {
        assert_eq!(fitting("one, two, three", 9), "one, two");
        assert_eq!(fitting("one, two, three", 15), "one, two, three");
        assert_eq!(fitting("abcdefgh", 4), "abc…");
        assert_eq!(fitting("a\u{1b}[2J", 9), "a\u{fffd}[2J");
    }

    #[test]
    fn a_folder_with_a_name_of_any_length_keeps_the_screen_narrow() {
        let dir = tempfile::tempdir().expect("a directory");
        let long = dir.path().join("x".repeat(200));
        std::fs::create_dir(&long).expect("a directory");
        std::fs::write(long.join("test_a.py"), "").expect("written");
        let text = screen(&advise(&long, None));
        assert!(text.lines().all(|l| l.chars().count() <= WIDTH), "{text}");
    }

    #[test]
    fn what_is_in_the_way_is_named() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("test_a.py"), "").expect("written");
        std::fs::write(dir.path().join("store.sqlite"), "no database ".repeat(99))
            .expect("written");
        let store = dir.path().join("store.sqlite");
        let advice = advise(dir.path(), Some(&store));
        assert!(advice.place.contains("store that cannot"), "{advice:?}");
        std::fs::write(dir.path().join("flakelab.toml"), "x = 1").expect("written");
        let advice = advise(dir.path(), None);
        assert!(advice.place.contains("configuration"), "{advice:?}");
    }
}
