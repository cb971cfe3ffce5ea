//! Every command that the documentation, the action and the help show is one that flakelab takes.

use std::fs;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};

use super::Cli;

/// What ends a command in a line of shell.
const ENDS: [&str; 7] = ["|", "||", "&&", ";", ";;", ">", ")"];

const INCOMPLETE: [ErrorKind; 3] = [
    ErrorKind::MissingRequiredArgument,
    ErrorKind::MissingSubcommand,
    ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Files with commands in them.
fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(root().join("docs")).expect("docs");
    let pages = docs.flatten().map(|entry| entry.path());
    let mut pages: Vec<PathBuf> = pages
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    for name in ["README.md", "action.yml", "scripts/action", "scripts/demo"] {
        pages.push(root().join(name));
    }
    pages.sort();
    pages
}

#[derive(Debug)]
struct Shown {
    command: String,
    /// A sentence may name a verb without what it takes.
    in_prose: bool,
}

/// The commands of a text: where a line, a hook or code within a sentence starts with `flakelab`.
fn commands(text: &str, is_markdown: bool) -> Vec<Shown> {
    let mut found = Vec::new();
    let mut fenced = !is_markdown;
    // A console shows what commands print as well.
    let mut console = false;
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
            console = line == "```console";
            continue;
        }
        if console && !line.starts_with("$ ") {
            continue;
        }
        if fenced {
            found.extend(in_shell(line).map(|command| Shown {
                command,
                in_prose: false,
            }));
        } else {
            let code = line.split('`').skip(1).step_by(2);
            let code = code.filter(|code| code.starts_with("flakelab "));
            found.extend(code.map(|code| Shown {
                command: code.to_owned(),
                in_prose: true,
            }));
        }
    }
    found
}

fn in_shell(line: &str) -> Option<String> {
    let mut line = line.trim();
    // Prompts, steps of CI systems, branches of a `case`.
    for before in ["$ ", "- ", "run: ", "entry: "] {
        line = line.strip_prefix(before).unwrap_or(line);
    }
    if let Some((label, rest)) = line.split_once(") ")
        && label.len() == 1
    {
        line = rest.trim_start();
    }
    line.starts_with("flakelab ").then(|| line.to_owned())
}

fn words(command: &str) -> Vec<String> {
    let words = shlex::split(command).unwrap_or_else(|| panic!("unbalanced quotes: {command}"));
    let words = words
        .into_iter()
        .take_while(|word| !ENDS.contains(&word.as_str()));
    // What a shell puts in place of a variable: no word for a list, else any value that all options take.
    words
        .filter(|word| !word.ends_with("[@]}"))
        .map(|word| {
            if word.starts_with('$') {
                "1m".to_owned()
            } else {
                word
            }
        })
        .collect()
}

/// Why flakelab does not take a command, if so.
fn refused(shown: &Shown) -> Option<String> {
    let words = words(&shown.command);
    // `flakelab VERB --help`
    if words.get(1).is_some_and(|verb| verb == "VERB") {
        return None;
    }
    match Cli::try_parse_from(&words) {
        Ok(_) => None,
        Err(error) if !error.use_stderr() => None,
        Err(error) if shown.in_prose && INCOMPLETE.contains(&error.kind()) => None,
        Err(error) => Some(error.to_string()),
    }
}

#[test]
fn every_documented_command_is_one() {
    let mut seen = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).expect("text");
        let is_markdown = page.extension().is_some_and(|e| e == "md");
        for shown in commands(&text, is_markdown) {
            seen += 1;
            if let Some(why) = refused(&shown) {
                panic!("{}: `{}`: {why}", page.display(), shown.command);
            }
        }
    }
    assert!(seen > 40, "{seen}");
}

#[test]
fn every_link_leads_to_a_file() {
    let mut seen = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).expect("text");
        let folder = page.parent().expect("a folder");
        for link in text.split("](").skip(1) {
            let link = link.split([')', '#']).next().unwrap_or_default();
            if link.is_empty() || link.contains("://") {
                continue;
            }
            seen += 1;
            assert!(folder.join(link).exists(), "{}: {link}", page.display());
        }
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn every_example_of_help_is_one() {
    let mut left = vec![Cli::command()];
    let mut seen = 0;
    while let Some(command) = left.pop() {
        left.extend(command.get_subcommands().cloned());
        let about = command.get_long_about().map(ToString::to_string);
        for line in about.unwrap_or_default().lines() {
            let Some(example) = line.trim().strip_prefix("$ ") else {
                continue;
            };
            let example = example
                .trim_start_matches("source <(")
                .trim_end_matches(')');
            seen += 1;
            let shown = Shown {
                command: example.to_owned(),
                in_prose: false,
            };
            assert_eq!(refused(&shown), None, "{example}");
        }
    }
    assert!(seen > 25, "{seen}");
}

#[test]
fn a_command_with_an_option_that_does_not_exist_is_found() {
    let text = "Try `flakelab detect --nonsense`, not `flakelab filter`.\n```sh\n    1) flakelab fix -o patches ;;\n- run: flakelab filter\n```\n";
    let found = commands(text, true);
    assert_eq!(found.len(), 4, "{found:?}");
    let refused: Vec<bool> = found.iter().map(|c| refused(c).is_some()).collect();
    assert_eq!(
        refused,
        [true, false, false, true],
        "a required word is missing"
    );
}

#[test]
fn lines_of_the_help_fit_where_they_are_not_wrapped() {
    fn check(command: &clap::Command) {
        let about = command.get_long_about().map(ToString::to_string);
        for line in about.iter().flat_map(|about| about.lines()) {
            let width = line.chars().count();
            assert!(width <= 100, "{} ({width}): {line}", command.get_name());
        }
        command.get_subcommands().for_each(check);
    }
    check(&Cli::command());
}
