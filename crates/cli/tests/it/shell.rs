//! `flakelab completions` in a real shell, and manual pages of everything there is.

use std::process::Command;

use crate::support::Project;

fn said(args: &[&str]) -> String {
    let project = Project::new(&[]);
    let output = project.flakelab(args).output().expect("flakelab runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// What bash offers for the last of these words.
fn offered(words: &[&str]) -> Vec<String> {
    let script = said(&["completions", "bash"]);
    let list = words.join(" ");
    let last = words.len() - 1;
    let program = format!(
        "{script}\nCOMP_WORDS=({list} '')\nCOMP_CWORD={}\n_flakelab flakelab '' {}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
        last + 1,
        words[last],
    );
    let output = Command::new("bash")
        .args(["--norc", "-c", &program])
        .output()
        .expect("bash runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(str::to_owned).collect()
}

#[test]
fn bash_offers_verbs_subcommands_options_and_values() {
    let has = |words: &[&str], wanted: &[&str]| {
        let offered = offered(words);
        for word in wanted {
            assert!(offered.iter().any(|o| o == word), "{word}: {offered:?}");
        }
    };
    has(
        &["flakelab"],
        &["detect", "explain", "doctor", "completions"],
    );
    has(
        &["flakelab", "detect"],
        &["--orders", "--budget", "--junit"],
    );
    has(&["flakelab", "filter"], &["learn", "run", "tune"]);
    has(&["flakelab", "explain", "--graph"], &["dot", "mermaid"]);
}

#[test]
fn other_shells_get_theirs() {
    for (shell, word) in [
        ("zsh", "#compdef flakelab"),
        ("fish", "complete -c flakelab"),
    ] {
        let script = said(&["completions", shell]);
        assert!(script.contains(word), "{shell}");
        assert!(script.contains("isolated-runs"), "{shell}");
    }
}

#[test]
fn every_verb_has_a_manual_page() {
    let page = said(&["man", "detect"]);
    assert!(page.contains(".TH flakelab-detect 1"), "{page}");
    assert!(page.contains("$ flakelab detect"), "{page}");
    assert!(page.contains("isolated"), "{page}");
    assert!(said(&["man", "filter", "run"]).contains(".TH flakelab-filter-run 1"));
    assert!(said(&["man"]).contains(".TH flakelab 1"));
    let project = Project::new(&[]);
    let output = project.flakelab(&["man", "--dir", "pages"]).output();
    assert!(output.expect("flakelab runs").status.success());
    let pages = project.tree();
    assert!(pages.len() > 15, "{:?}", pages.keys());
    for (path, text) in pages.iter().filter(|(path, _)| path.extension().is_some()) {
        let name = path.file_stem().expect("a name").to_string_lossy();
        let text = String::from_utf8_lossy(text);
        assert!(text.contains(&format!(".TH {name} 1")), "{name}");
        assert!(text.contains(".SH OPTIONS"), "{name}");
    }
}

#[test]
fn an_unknown_verb_has_no_page() {
    let project = Project::new(&[]);
    let output = project.flakelab(&["man", "detekt"]).output();
    let output = output.expect("flakelab runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("hint: known are detect, "), "{error}");
}
