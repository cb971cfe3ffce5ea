//! Which files of a project are changed: Python, tracked or at least not ignored, and no tests.

use std::collections::BTreeSet;
use std::path::Path;

use flakelab_lab::Lab;
use flakelab_model::Place;
use flakelab_mutate::{File, Modules};
use flakelab_runners::pytest::PytestLab;
use flakelab_source::decode;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::error::CliError;
use crate::sources;

/// Folders whose code is not what tests test.
const BESIDE: [&str; 10] = [
    "tests",
    "test",
    "testing",
    "docs",
    "doc",
    "examples",
    "benchmarks",
    "site-packages",
    "node_modules",
    "build",
];
/// Files that configure something.
const TOOLS: [&str; 5] = [
    "setup.py",
    "conftest.py",
    "noxfile.py",
    "tasks.py",
    "fabfile.py",
];
/// Larger files are generated.
const MOST_BYTES: u64 = 4 << 20;

pub(super) struct Found {
    pub(super) files: Vec<File>,
    /// The text of every other Python file that has no tests, and of files of tests that those or `files` import: all
    /// verdicts depend on them.
    pub(super) others: Vec<(String, String)>,
}

/// Files that are named, and files that are to be left alone: patterns as in a `.gitignore`.
pub(super) struct Patterns {
    only: Gitignore,
    exclude: Gitignore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Named,
    LeftAlone,
    Unsaid,
}

impl Patterns {
    pub(super) fn new(
        project: &Path,
        only: &[String],
        exclude: &[String],
    ) -> Result<Self, CliError> {
        Ok(Self {
            only: compiled(project, only)?,
            exclude: compiled(project, exclude)?,
        })
    }

    /// For a path inside the project.
    fn asked(&self, path: &Path) -> Asked {
        let names = |patterns: &Gitignore| {
            patterns
                .matched_path_or_any_parents(path, false)
                .is_ignore()
        };
        if names(&self.exclude) {
            Asked::LeftAlone
        } else if self.only.is_empty() {
            Asked::Unsaid
        } else if names(&self.only) {
            Asked::Named
        } else {
            Asked::LeftAlone
        }
    }
}

fn compiled(project: &Path, patterns: &[String]) -> Result<Gitignore, CliError> {
    let wrong = |what: &str, e: ignore::Error| {
        CliError::usage(format!("`{what}` is no pattern: {e}"))
            .hint("write it as in a .gitignore: `src/shop/*.py`, `vendor/`")
    };
    let mut builder = GitignoreBuilder::new(project);
    for pattern in patterns {
        builder
            .add_line(None, pattern)
            .map_err(|e| wrong(pattern, e))?;
    }
    builder.build().map_err(|e| wrong(&patterns.join(" "), e))
}

pub(super) fn find(project: &Path, lab: &PytestLab, wanted: &Patterns) -> Found {
    let tests: BTreeSet<String> = lab
        .suite()
        .ids()
        .iter()
        .filter_map(|id| Some(Place::of(id.as_str())?.file))
        .collect();
    let mut found = Found {
        files: Vec::new(),
        others: Vec::new(),
    };
    let mut test_files: Vec<(String, String)> = Vec::new();
    for (path, size) in sources::python_files(project) {
        let (true, Ok(inside)) = (size <= MOST_BYTES, path.strip_prefix(project)) else {
            continue;
        };
        let Some(text) = std::fs::read(&path).ok().and_then(|bytes| decode(&bytes)) else {
            continue;
        };
        // Interpreters get it as text, in which a mark at the start is no part of the code.
        let text = match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        };
        let name = inside.to_string_lossy().into_owned();
        let asked = wanted.asked(inside);
        let beside = tests.contains(&name) || (asked != Asked::Named && is_beside(inside));
        if asked == Asked::LeftAlone || beside {
            // A file of tests counts for its own tests, and for those that import it.
            let place = if tests.contains(&name) {
                &mut test_files
            } else {
                &mut found.others
            };
            place.push((name, text));
            continue;
        }
        found.files.push(File {
            path: name,
            absolute: path.to_string_lossy().into_owned(),
            text,
        });
    }
    let modules = Modules::new(test_files.iter().map(|(name, _)| name.as_str()));
    let others = found.others.iter().map(|(_, text)| text);
    let texts = others.chain(found.files.iter().map(|file| &file.text));
    let imported: BTreeSet<&str> = texts.flat_map(|text| modules.in_text(text)).collect();
    let imported = |file: &(String, String)| imported.contains(file.0.as_str());
    found
        .others
        .extend(test_files.iter().filter(|file| imported(file)).cloned());
    found
}

fn is_beside(path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|n| n.to_str())
        .unwrap_or_default();
    let folders = path.parent().into_iter().flat_map(Path::components);
    TOOLS.contains(&name)
        || name.starts_with("test_")
        || name.ends_with("_test.py")
        || folders
            .filter_map(|part| part.as_os_str().to_str())
            .any(|part| BESIDE.contains(&part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_files_and_folders() {
        let asked = |only: &[&str], exclude: &[&str], path: &str| {
            let owned = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
            let patterns = Patterns::new(Path::new("/p"), &owned(only), &owned(exclude));
            patterns.expect("patterns").asked(Path::new(path))
        };
        assert_eq!(asked(&[], &[], "src/a.py"), Asked::Unsaid);
        assert_eq!(asked(&["src/*.py"], &[], "src/a.py"), Asked::Named);
        assert_eq!(asked(&["src/"], &[], "src/deep/a.py"), Asked::Named);
        assert_eq!(asked(&["src/"], &[], "other/a.py"), Asked::LeftAlone);
        assert_eq!(
            asked(&["src"], &["deep/"], "src/deep/a.py"),
            Asked::LeftAlone
        );
        assert_eq!(asked(&[], &["a.py"], "src/a.py"), Asked::LeftAlone);
        assert!(Patterns::new(Path::new("/p"), &["{".into()], &[]).is_err());
    }

    #[test]
    fn tests_and_tools_are_left_alone() {
        let beside = |path: &str| is_beside(Path::new(path));
        for path in [
            "tests/helpers.py",
            "setup.py",
            "pkg/test_a.py",
            "pkg/a_test.py",
            "docs/conf.py",
        ] {
            assert!(beside(path), "{path}");
        }
        for path in ["src/pkg/a.py", "pkg/testing_tools.py", "contest.py"] {
            assert!(!beside(path), "{path}");
        }
    }
}
