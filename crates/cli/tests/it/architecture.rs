//! ARCHITECTURE.md states who may use whom; this holds it to that.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::root;

const ALLOWED: [(&str, &[&str]); 15] = [
    ("model", &[]),
    ("stats", &[]),
    ("lab", &["model"]),
    ("detect", &["model", "stats", "lab"]),
    ("source", &["model"]),
    ("explain", &["model", "lab"]),
    ("fix", &["model", "lab", "source"]),
    ("inject", &["model", "stats", "lab", "source"]),
    ("mutate", &["model", "stats", "lab", "source"]),
    ("filter", &["stats", "source"]),
    ("measure", &["model", "stats", "lab"]),
    ("history", &["model", "stats"]),
    ("runners", &["model", "lab"]),
    ("store", &["model", "lab"]),
    ("report", &["model", "stats"]),
];

fn dependencies(manifest: &Path) -> Vec<String> {
    let table: toml::Table = fs::read_to_string(manifest)
        .expect("a manifest")
        .parse()
        .expect("TOML");
    let names = table["dependencies"].as_table().expect("a table").keys();
    names
        .filter_map(|name| name.strip_prefix("flakelab-").map(str::to_owned))
        .collect()
}

#[test]
fn crates_use_only_what_they_may() {
    for (name, allowed) in ALLOWED {
        for used in dependencies(&root().join("crates").join(name).join("Cargo.toml")) {
            assert!(
                allowed.contains(&used.as_str()),
                "{name} must not use {used}"
            );
        }
    }
}

fn sources(dir: &Path, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(dir).expect("readable").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let name = path
                .strip_prefix(root())
                .expect("below")
                .display()
                .to_string();
            found.insert(name, fs::read_to_string(&path).expect("text"));
        }
    }
}

#[test]
fn only_the_process_module_spawns_and_only_the_command_line_reads_the_environment() {
    let mut found = BTreeMap::new();
    for (name, _) in ALLOWED {
        sources(&root().join("crates").join(name).join("src"), &mut found);
    }
    assert!(found.len() > 30);
    for (name, text) in found {
        // A test in a file of its own opens pages in a browser.
        let spawns = text.contains("Command::new") && !name.ends_with("/tests.rs");
        // Asking an interpreter what it is happens before there is a lab.
        let may_spawn = name.starts_with("crates/runners/src/process/")
            || name.ends_with("pytest/interpreter.rs");
        assert!(!spawns || may_spawn, "{name} spawns");
        for word in ["std::env::var", "std::process::exit", "println!"] {
            assert!(!text.contains(word), "{name} uses {word}");
        }
        if !name.starts_with("crates/runners/src/process/") {
            assert!(!text.contains("unsafe {"), "{name} has unsafe code");
        }
    }
}

fn python_files(dir: &Path, prefix: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(dir).expect("readable").flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            python_files(&entry.path(), &format!("{name}/"), found);
        } else if name.ends_with(".py") {
            found.push(name);
        }
    }
}

#[test]
fn every_shim_file_is_embedded() {
    let embedded =
        fs::read_to_string(root().join("crates/runners/src/pytest/shim.rs")).expect("text");
    let mut files = Vec::new();
    python_files(&root().join("shims/pytest/flakelab_shim"), "", &mut files);
    assert!(files.len() > 15);
    for name in files {
        assert!(
            embedded.contains(&format!("\"{name}\"")),
            "{name} is not embedded"
        );
    }
}
