//! Step 2: one mutant for each statement that is no assertion.

use std::collections::BTreeMap;
use std::sync::Arc;

use flakelab_model::{CodeEdit, Place, Suite, TestIndex};
use flakelab_source::{Assertions, Edit, Function, Source, Tree, locate, unified};

use crate::settings::Settings;

/// A function whose statements are deleted, and the tests that run it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) file: String,
    pub(crate) path: Vec<String>,
    pub(crate) tests: Vec<TestIndex>,
    /// A fixture or set-up: it runs for other tests as well.
    pub(crate) fixture: bool,
}

/// One deleted statement.
#[derive(Debug, Clone)]
pub struct Mutant {
    pub id: String,
    pub file: String,
    /// The line it starts at, from 1.
    pub line: usize,
    pub statement: String,
    pub why_invalid: Option<String>,
    /// Tests that run it, stable without the deletion.
    pub tests: Vec<TestIndex>,
    pub fixture: bool,
    pub(crate) edit: Edit,
    pub(crate) body: Arc<CodeEdit>,
}

impl Mutant {
    /// The function with `pass` in place of the statement, its other lines where they were.
    pub fn body(&self) -> Arc<CodeEdit> {
        Arc::clone(&self.body)
    }

    /// The file without the statement.
    pub fn text(&self, before: &str) -> String {
        self.edit.applied(before)
    }

    pub fn diff(&self, before: &str) -> String {
        unified(&self.file, Some(before), &self.text(before))
    }
}

/// The functions of stable tests, in the order of the suite, then fixtures if they are wanted. Also tests
/// whose code was not found.
pub(crate) fn sites(
    suite: &Suite,
    stable: &[TestIndex],
    tree: &dyn Tree,
    settings: &Settings,
) -> (Vec<Site>, Vec<TestIndex>) {
    let mut sites: Vec<Site> = Vec::new();
    let mut by_path: BTreeMap<(String, Vec<String>), usize> = BTreeMap::new();
    let mut unknown = Vec::new();
    let mut files: Vec<(String, Vec<TestIndex>)> = Vec::new();
    // Sets of parameters share a function, and its place need be found once.
    let mut known: BTreeMap<String, Option<(String, Vec<String>)>> = BTreeMap::new();
    for test in stable {
        let id = suite.id(*test).to_string();
        let Some(place) = Place::of(&id) else {
            unknown.push(*test);
            continue;
        };
        match files.iter_mut().find(|(file, _)| *file == place.file) {
            Some((_, tests)) => tests.push(*test),
            None => files.push((place.file.clone(), vec![*test])),
        }
        let found = known.entry(place.base()).or_insert_with(|| {
            locate::test(&place, tree).map(|found| (found.file.clone(), found.path.clone()))
        });
        let Some(found) = found else {
            unknown.push(*test);
            continue;
        };
        let at = *by_path.entry(found.clone()).or_insert_with(|| {
            sites.push(Site {
                file: found.0.clone(),
                path: found.1.clone(),
                tests: Vec::new(),
                fixture: false,
            });
            sites.len() - 1
        });
        sites[at].tests.push(*test);
    }
    if settings.include_fixtures {
        sites.extend(fixtures(suite, &files, tree));
    }
    (sites, unknown)
}

/// Fixtures and set-ups of the tests' own files and of the conftest files above them.
fn fixtures(suite: &Suite, files: &[(String, Vec<TestIndex>)], tree: &dyn Tree) -> Vec<Site> {
    let mut all: Vec<(String, Vec<TestIndex>)> = Vec::new();
    for (file, tests) in files {
        let mut folder = file.as_str();
        let mut seen = vec![file.clone()];
        while let Some((above, _)) = folder.rsplit_once('/') {
            seen.push(format!("{above}/conftest.py"));
            folder = above;
        }
        seen.push("conftest.py".into());
        for path in seen {
            match all.iter_mut().find(|(known, _)| *known == path) {
                Some((_, known)) => known.extend(tests),
                None => all.push((path, tests.clone())),
            }
        }
    }
    let mut found = Vec::new();
    for (file, tests) in all {
        let Some(source) = tree.read(&file).and_then(|text| Source::parse(&text)) else {
            continue;
        };
        for path in source.fixtures() {
            let classes = &path[..path.len() - 1];
            let mut own: Vec<TestIndex> = tests
                .iter()
                .copied()
                .filter(|test| {
                    let place = Place::of(suite.id(*test).as_str());
                    classes.is_empty() || place.is_some_and(|p| p.classes.starts_with(classes))
                })
                .collect();
            own.sort_unstable();
            own.dedup();
            if !own.is_empty() {
                found.push(Site {
                    file: file.clone(),
                    path,
                    tests: own,
                    fixture: true,
                });
            }
        }
    }
    found
}

/// The mutants of one function, in source order.
pub(crate) fn of(site: &Site, tree: &dyn Tree, settings: &Settings) -> Vec<Mutant> {
    let Some(source) = tree.read(&site.file).and_then(|text| Source::parse(&text)) else {
        return Vec::new();
    };
    let path: Vec<&str> = site.path.iter().map(String::as_str).collect();
    let Some(function) = source.function(&path) else {
        return Vec::new();
    };
    let assertions = Assertions::with(settings.assertions.iter().cloned());
    function
        .statements(&assertions)
        .into_iter()
        .enumerate()
        .map(|(number, statement)| Mutant {
            id: format!("{}::{}#{}", site.file, path.join("::"), number + 1),
            file: site.file.clone(),
            line: statement.line(),
            statement: statement.text(),
            why_invalid: statement.why_not(),
            tests: site.tests.clone(),
            fixture: site.fixture,
            body: Arc::new(body(site, &source, function, statement.range())),
            edit: statement.delete(),
        })
        .collect()
}

fn body(
    site: &Site,
    source: &Source,
    function: Function<'_>,
    deleted: std::ops::Range<usize>,
) -> CodeEdit {
    let span = function.span();
    let text = source.text();
    let lines = text[deleted.clone()].matches('\n').count();
    let (name, classes) = site
        .path
        .split_last()
        .map_or(("", &[][..]), |(n, c)| (n, c));
    CodeEdit {
        file: site.file.clone(),
        classes: classes.to_vec(),
        name: name.to_owned(),
        first_line: u32::try_from(function.first_line()).unwrap_or(u32::MAX),
        line: u32::try_from(function.line()).unwrap_or(u32::MAX),
        text: format!(
            "{}pass{}{}\n",
            &text[span.start..deleted.start],
            "\n".repeat(lines),
            &text[deleted.end..span.end]
        ),
        from_start: site.fixture,
        defaults: false,
    }
}
