//! `--help` of everything there is starts with an example that works.

use crate::support::Project;

/// Lines within which the example has to come: what it does, an empty line, the example.
const NEAR: usize = 4;

fn help(path: &[&str]) -> String {
    let args = [path, &["--help"]].concat();
    let project = Project::new(&[]);
    let output = project.flakelab(&args).output().expect("flakelab runs");
    assert_eq!(output.status.code(), Some(0), "{path:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Subcommands as help lists them.
fn below(text: &str) -> Vec<String> {
    let Some((_, list)) = text.split_once("\nCommands:\n") else {
        return Vec::new();
    };
    let list = list.split("\n\n").next().unwrap_or_default();
    // Descriptions that were wrapped are indented further.
    let names = list.lines().filter_map(|line| line.strip_prefix("  "));
    names
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// Every command with its help, `flakelab` itself first.
fn all() -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    let mut left = vec![Vec::new()];
    while let Some(path) = left.pop() {
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        let text = help(&words);
        for name in below(&text) {
            left.push([&path[..], &[name]].concat());
        }
        found.push((path, text));
    }
    found
}

#[test]
fn help_of_every_command_starts_with_an_example() {
    let all = all();
    assert!(all.len() > 20, "{}", all.len());
    for (path, text) in all {
        let name = [&["flakelab".to_owned()], &path[..]].concat().join(" ");
        let start: Vec<&str> = text.lines().take(NEAR).collect();
        let example = start
            .iter()
            .find_map(|line| line.trim().strip_prefix("$ "))
            .unwrap_or_else(|| panic!("{name}: no example in {start:#?}"));
        // `flakelab` itself is shown by a verb, completions by what reads them.
        assert!(example.contains(&name), "{name}: {example}");
        let about = start[0];
        assert!(!about.trim().is_empty(), "{name}");
    }
}

#[test]
fn the_short_help_says_what_every_command_does() {
    for (path, text) in all() {
        for line in below(&text) {
            let line = text
                .lines()
                .find(|l| l.trim_start().starts_with(&format!("{line} ")));
            let said = line.unwrap_or_default().split_whitespace().count();
            assert!(said > 2, "{path:?}: {line:?}");
        }
    }
}
