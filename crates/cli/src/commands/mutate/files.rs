//! Which files of a project are changed: Python, tracked or at least not ignored, and no tests.

use std::collections::BTreeSet;
use std::path::Path;

use flakelab_lab::Lab;
use flakelab_model::Place;
use flakelab_mutate::File;
use flakelab_runners::pytest::PytestLab;
use flakelab_source::decode;
use ignore::WalkBuilder;
use ignore::overrides::{Override, OverrideBuilder};

use crate::error::CliError;

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
    /// The text of every other Python file that has no tests: all verdicts depend on those.
    pub(super) others: Vec<(String, String)>,
}

/// Patterns as in a `.gitignore`.
pub(super) fn patterns(
    project: &Path,
    only: &[String],
    exclude: &[String],
) -> Result<Override, CliError> {
    let mut builder = OverrideBuilder::new(project);
    let wanted = only.iter().cloned();
    let unwanted = exclude.iter().map(|pattern| format!("!{pattern}"));
    for pattern in wanted.chain(unwanted) {
        builder.add(&pattern).map_err(|e| {
            CliError::usage(format!(
                "`{}` is no pattern: {e}",
                pattern.trim_start_matches('!')
            ))
            .hint("write it as in a .gitignore: `src/shop/*.py`, `vendor/`")
        })?;
    }
    builder
        .build()
        .map_err(|e| CliError::usage(e.to_string()).hint("write patterns as in a .gitignore"))
}

pub(super) fn find(project: &Path, lab: &PytestLab, wanted: &Override) -> Found {
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
    // Virtual environments are told by what they have inside.
    let walk = WalkBuilder::new(project)
        .require_git(false)
        .sort_by_file_path(Path::cmp)
        .filter_entry(|entry| !entry.path().join("pyvenv.cfg").exists())
        .build();
    for entry in walk.flatten() {
        let path = entry.path();
        let is_python = path.extension().is_some_and(|e| e == "py");
        let small = entry
            .metadata()
            .is_ok_and(|m| m.is_file() && m.len() <= MOST_BYTES);
        let (true, true, Ok(inside)) = (is_python, small, path.strip_prefix(project)) else {
            continue;
        };
        let Some(text) = std::fs::read(path).ok().and_then(|bytes| decode(&bytes)) else {
            continue;
        };
        let name = inside.to_string_lossy().into_owned();
        let asked = wanted.matched(inside, false);
        let beside = tests.contains(&name) || (!asked.is_whitelist() && is_beside(inside));
        if asked.is_ignore() || beside {
            // A file of tests counts for its own tests only.
            if !tests.contains(&name) {
                found.others.push((name, text));
            }
            continue;
        }
        found.files.push(File {
            path: name,
            absolute: path.to_string_lossy().into_owned(),
            text,
        });
    }
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
