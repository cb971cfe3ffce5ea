//! Restore what leaks, at the polluter: a small autouse fixture in the polluter's module puts it back. Where
//! polluters lie in several modules, it goes into the conftest file above them if there is one, else into each
//! of them: a suite gets no new files. Code that is only tested by its doctests is left alone.

use flakelab_model::{Class, Place};
use flakelab_source::{Source, Tree, locate};

use super::block::{Lines, Scope, fixture, free_name, stream, ways};
use super::names::localise;
use super::{Around, has_only_doctests};
use crate::case::{Case, Leak};
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
    for scope in scopes(case, tree) {
        for cause in &case.causes {
            match files.as_slice() {
                [file] if !has_only_doctests(file, around.suite, tree) => {
                    found.extend(in_file(cause, file, scope, tree));
                }
                several => {
                    let above = conftest(several).filter(|path| tree.read(path).is_some());
                    match above {
                        Some(path) => found.extend(in_file(cause, &path, scope, tree)),
                        None => found.extend(in_each(cause, several, scope, tree)),
                    }
                }
            }
        }
    }
    found
}

/// For whom the state can be put back: also for a class or module, where one of the culprits' sets things up for all
/// its tests.
fn scopes(case: &Case, tree: &dyn Tree) -> Vec<Scope> {
    let places = case.culprits.iter().flatten();
    let places: Vec<Place> = places.filter_map(|id| Place::of(id)).collect();
    let mut fixtures: Vec<String> = Vec::new();
    for file in case.culprit_files() {
        if let Some(source) = tree.read(&file).and_then(|text| Source::parse(&text)) {
            fixtures.extend(source.fixture_scopes());
        }
    }
    let has = |scope: &[&str]| fixtures.iter().any(|one| scope.contains(&one.as_str()));
    let mut found = vec![Scope::Test];
    if places.iter().any(|place| sets_up_class(place, tree)) || has(&["class"]) {
        found.push(Scope::Class);
    }
    if has(&["module", "package", "session"]) {
        found.push(Scope::Module);
    }
    found
}

/// Whether the class of a test sets something up for all its tests.
pub(super) fn sets_up_class(place: &Place, tree: &dyn Tree) -> bool {
    ["setUpClass", "setup_class"]
        .into_iter()
        .any(|name| locate::method(place, name, tree).is_some())
}

/// The same fixture in every file that pollutes, if they are few.
fn in_each(cause: &[Leak], files: &[String], scope: Scope, tree: &dyn Tree) -> Vec<Patch> {
    if files.len() > MOST_FILES {
        return Vec::new();
    }
    let mut all = files.iter().map(|file| in_file(cause, file, scope, tree));
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

fn in_file(cause: &[Leak], path: &str, scope: Scope, tree: &dyn Tree) -> Vec<Patch> {
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
                "{} is put back {} {}, because some leave it changed",
                leak.name,
                match scope {
                    Scope::Test | Scope::Marked => "after every test",
                    Scope::Class => "after every class",
                    Scope::Module => "after the tests",
                },
                whose(path)
            ),
            changes: vec![Change {
                path: path.to_owned(),
                before: before.clone(),
                after: with_block(&source, path, leak, &lines, scope, tree),
            }],
        })
        .collect()
}

/// The tests that get the fixtures of a file, in words.
fn whose(path: &str) -> String {
    match path.strip_suffix("conftest.py") {
        Some("") => "of the project".to_owned(),
        Some(folder) => format!("below {folder}"),
        None => format!("of {path}"),
    }
}

fn with_block(
    source: &Source,
    path: &str,
    leak: &Leak,
    lines: &Lines,
    scope: Scope,
    tree: &dyn Tree,
) -> String {
    let name = free_name(source, &stem(leak), path, tree);
    let mut block = fixture(&name, lines, source.indent(), scope);
    let needed = lines.modules.iter();
    let mut needed: Vec<String> = needed
        .filter_map(|module| localise(source, path, module, &mut block))
        .collect();
    needed.push("pytest".into());
    let modules: Vec<&str> = needed.iter().map(String::as_str).collect();
    source.add_block(&modules, &block).applied(source.text())
}

/// `restore_rates`.
fn stem(leak: &Leak) -> String {
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
        "sys_path" => leak.name.replace('.', "_"),
        kind @ ("cwd" | "random") => kind.to_owned(),
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
    if stem.is_empty() {
        "restore_state".to_owned()
    } else {
        format!("restore_{stem}")
    }
}
