//! Restore what leaks, at the polluter: a small autouse fixture in the polluter's module puts it back. Where
//! polluters lie in several modules, it goes into the conftest file above them if there is one, else into each
//! of them: a suite gets no new files. Code that is only tested by its doctests is left alone.

use flakelab_model::Class;
use flakelab_source::{Source, Tree, apply};

use super::block::{Lines, fixture, stream, ways};
use super::names::localise;
use super::{Around, has_only_doctests};
use crate::case::{Case, CausalLeak};
use crate::patch::{Change, Patch, Site, Strategy};

/// With more files to change, no fixture is worth it.
const MOST_FILES: usize = 5;

pub(super) fn propose(case: &Case, around: Around<'_>) -> Vec<Patch> {
    let tree = around.tree;
    if case.class != Class::Victim {
        return Vec::new();
    }
    let files = case.culprit_files();
    let mut found = Vec::new();
    for cause in &case.causes {
        match files.as_slice() {
            [file] if !has_only_doctests(file, around.suite, tree) => {
                found.extend(in_file(cause, file, tree));
            }
            several => {
                let above = conftest(several).filter(|path| tree.read(path).is_some());
                match above {
                    Some(path) => found.extend(in_file(cause, &path, tree)),
                    None => found.extend(in_each(cause, several, tree)),
                }
            }
        }
    }
    found
}

/// The same fixture in every file that pollutes, if they are few.
fn in_each(cause: &[CausalLeak], files: &[String], tree: &dyn Tree) -> Vec<Patch> {
    if files.len() > MOST_FILES {
        return Vec::new();
    }
    let mut all = files.iter().map(|file| in_file(cause, file, tree));
    let Some(mut found) = all.next() else {
        return Vec::new();
    };
    for more in all {
        // One way each: they come in the same order for every file.
        found.truncate(more.len());
        for (patch, other) in found.iter_mut().zip(more) {
            patch.changes.extend(other.changes);
        }
    }
    for patch in &mut found {
        patch.reason = patch.reason.replace(&files[0], "the files that change it");
    }
    found
}

/// The conftest file next to or above all of these.
fn conftest(files: &[String]) -> Option<String> {
    let mut folder: Vec<&str> = files.first()?.split('/').collect();
    folder.pop();
    for file in files {
        let parts: Vec<&str> = file.split('/').collect();
        let common = folder
            .iter()
            .zip(&parts)
            .take_while(|(a, b)| a == b)
            .count();
        folder.truncate(common);
    }
    let mut path = folder.join("/");
    if !path.is_empty() {
        path.push('/');
    }
    Some(path + "conftest.py")
}

fn in_file(cause: &[CausalLeak], path: &str, tree: &dyn Tree) -> Vec<Patch> {
    let Some(leak) = cause.first() else {
        return Vec::new();
    };
    let before = tree.read(path);
    let text = before.clone().unwrap_or_default();
    let Some(source) = Source::parse(&text) else {
        return Vec::new();
    };
    let mut found = ways(leak, path, tree);
    // Several leaks that only work together: the first way of each, in one fixture.
    for (number, more) in cause.iter().enumerate().skip(1) {
        let Some(way) = ways(more, path, tree).into_iter().next() else {
            return Vec::new();
        };
        for lines in &mut found {
            lines.join(&way, number + 1);
        }
    }
    found
        .into_iter()
        .map(|lines| Patch {
            strategy: Strategy::Restore,
            site: Site::Polluter,
            reason: format!(
                "{} is put back after every test of {path}, because some leave it changed",
                leak.name
            ),
            changes: vec![Change {
                path: path.to_owned(),
                before: before.clone(),
                after: with_block(&source, path, leak, &lines),
            }],
        })
        .collect()
}

fn with_block(source: &Source, path: &str, leak: &CausalLeak, lines: &Lines) -> String {
    let name = fixture_name(source, leak);
    let mut block = fixture(&name, lines, source.indent());
    let mut needed: Vec<String> = lines
        .modules
        .iter()
        .filter_map(|module| match module.starts_with("from ") {
            true => Some(module.clone()),
            false => localise(source, path, module, &mut block),
        })
        .collect();
    needed.push("pytest".into());
    let modules: Vec<&str> = needed.iter().map(String::as_str).collect();
    apply(source.text(), &source.add_block(&modules, &block))
}

/// `restore_rates`, and a number if the file has that name already.
fn fixture_name(source: &Source, leak: &CausalLeak) -> String {
    let word = |text: &str| -> String {
        let kept = text
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || *c == '_');
        kept.collect::<String>().trim_matches('_').to_lowercase()
    };
    let stem = match leak.kind.as_str() {
        "environ" => "environment".to_owned(),
        "file" => "files".to_owned(),
        "logging" => "logging".to_owned(),
        "stream" => stream(leak).unwrap_or_default().to_owned(),
        "asyncio" => "event_loop".to_owned(),
        kind @ ("cwd" | "sys_path" | "random") => kind.to_owned(),
        _ => {
            let plain = leak.name.split('[').next().unwrap_or_default();
            let tail = leak.name.rsplit('.').next().unwrap_or_default();
            let last = if tail.contains('[') || tail.contains('"') {
                plain.rsplit('.').next().unwrap_or_default()
            } else {
                tail
            };
            word(last)
        }
    };
    let base = if stem.is_empty() {
        "restore_state".to_owned()
    } else {
        format!("restore_{stem}")
    };
    let mut name = base.clone();
    let mut number = 2;
    while source.function(&[&name]).is_some() {
        name = format!("{base}_{number}");
        number += 1;
    }
    name
}
