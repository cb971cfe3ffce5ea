//! The project on disk: where it is, whether it looks like one, which commit it is at.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::CliError;

const SIGNS: [&str; 7] = [
    "pyproject.toml",
    "pytest.ini",
    "setup.py",
    "setup.cfg",
    "tox.ini",
    "conftest.py",
    "Pipfile",
];
/// How deep and how long to look for a Python file before calling a directory something else.
const DEPTH: usize = 4;
const MOST_ENTRIES: usize = 20_000;

/// The project's directory, made absolute, or why it is none.
pub(crate) fn locate(path: &Path) -> Result<PathBuf, CliError> {
    let shown = path.display();
    let found = fs::canonicalize(path).map_err(|error| {
        let said = CliError::usage(format!("`{shown}`: {error}"));
        if shown.to_string().contains("::") {
            return said.hint(format!(
                "give the project's directory; to select tests, end the command with: -- {shown}"
            ));
        }
        said.hint("give the directory in which you would run pytest")
    })?;
    if found.is_file() {
        return Err(
            CliError::usage(format!("`{shown}` is a file")).hint(format!(
                "give the project's directory; to select tests, end the command with: -- {shown}"
            )),
        );
    }
    let signs = SIGNS.iter().any(|name| found.join(name).exists());
    let mut seen = 0;
    if !signs && !has_python(&found, DEPTH, &mut seen) {
        return Err(CliError::usage(format!(
            "`{shown}` is not a Python project: there is no Python file in it"
        ))
        .hint("give the directory in which you would run pytest"));
    }
    Ok(found)
}

fn has_python(dir: &Path, depth: usize, seen: &mut usize) -> bool {
    let Ok(entries) = fs::read_dir(dir) else {
        return false;
    };
    let mut below = Vec::new();
    for entry in entries.flatten() {
        *seen += 1;
        if *seen > MOST_ENTRIES {
            // Too large to say no.
            return true;
        }
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "py") {
            return true;
        }
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            below.push(path);
        }
    }
    depth > 0 && below.iter().any(|dir| has_python(dir, depth - 1, seen))
}

/// The repository around the project, or the project itself: what runs must not change.
pub(crate) fn tree(project: &Path) -> PathBuf {
    project
        .ancestors()
        .find(|dir| dir.join(".git").exists())
        .unwrap_or(project)
        .to_owned()
}

/// The files that configure a test run, with their texts.
pub(crate) fn settings(project: &Path) -> Vec<(&'static str, Option<String>)> {
    let read = |name| (name, fs::read_to_string(project.join(name)).ok());
    [
        "pyproject.toml",
        "pytest.ini",
        ".pytest.ini",
        "tox.ini",
        "setup.cfg",
    ]
    .map(read)
    .to_vec()
}

/// The commit that is checked out, read without running git.
pub(crate) fn commit(tree: &Path) -> Option<String> {
    let mut git = tree.join(".git");
    // In worktrees and submodules a file says where it is.
    if let Ok(text) = fs::read_to_string(&git) {
        git = tree.join(text.strip_prefix("gitdir: ")?.trim());
    }
    let head = fs::read_to_string(git.join("HEAD")).ok()?;
    let head = head.trim();
    let Some(name) = head.strip_prefix("ref: ") else {
        return Some(head.to_owned());
    };
    // A worktree shares its branches with the others.
    let common = fs::read_to_string(git.join("commondir"))
        .map_or_else(|_| git.clone(), |text| git.join(text.trim()));
    for git in [&git, &common] {
        if let Ok(id) = fs::read_to_string(git.join(name)) {
            return Some(id.trim().to_owned());
        }
    }
    let packed = fs::read_to_string(common.join("packed-refs")).ok()?;
    packed.lines().find_map(|line| {
        line.strip_suffix(name)?
            .split_whitespace()
            .next()
            .map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_without_python_is_no_project() {
        let dir = tempfile::tempdir().expect("tempdir");
        fs::write(dir.path().join("README"), "x").expect("write");
        assert!(locate(dir.path()).is_err());
        fs::create_dir_all(dir.path().join("a/b")).expect("dirs");
        fs::write(dir.path().join("a/b/test_x.py"), "").expect("write");
        assert!(locate(dir.path()).is_ok());
        assert!(locate(&dir.path().join("a/b/test_x.py")).is_err());
        assert!(locate(&dir.path().join("missing")).is_err());
    }

    #[test]
    fn a_worktree_has_the_commit_of_its_branch() {
        let dir = tempfile::tempdir().expect("tempdir");
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("dirs");
            fs::write(path, text).expect("write");
        };
        write("main/.git/HEAD", "ref: refs/heads/main\n");
        write("main/.git/refs/heads/main", "1111\n");
        write(
            "main/.git/packed-refs",
            "# pack-refs\n3333 refs/heads/old\n",
        );
        write("main/.git/worktrees/other/HEAD", "ref: refs/heads/other\n");
        write("main/.git/worktrees/other/commondir", "../..\n");
        write("main/.git/refs/heads/other", "2222\n");
        write("other/.git", "gitdir: ../main/.git/worktrees/other\n");
        assert_eq!(commit(&dir.path().join("main")).as_deref(), Some("1111"));
        assert_eq!(commit(&dir.path().join("other")).as_deref(), Some("2222"));
        write("main/.git/worktrees/other/HEAD", "ref: refs/heads/old\n");
        assert_eq!(commit(&dir.path().join("other")).as_deref(), Some("3333"));
        assert_eq!(commit(dir.path()), None);
    }
}
