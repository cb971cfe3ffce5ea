//! The Python files of a project, and one number for all of them: what a campaign must not go on with once it has changed.

use std::fs::File;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use crate::project;

/// Python files that git does not ignore, in the order of their names, with their sizes. Virtual environments, which are told by what
/// they have inside, are none of the project's.
pub(crate) fn python_files(project: &Path) -> impl Iterator<Item = (PathBuf, u64)> + use<> {
    WalkBuilder::new(project)
        .require_git(false)
        .sort_by_file_path(Path::cmp)
        .filter_entry(|entry| !entry.path().join("pyvenv.cfg").exists())
        .build()
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|e| e == "py"))
        .filter_map(|entry| {
            let size = entry.metadata().ok().filter(|m| m.is_file())?.len();
            Some((entry.into_path(), size))
        })
}

/// Equal as long as no Python file and no file that configures pytest is another.
pub(crate) fn digest(project: &Path) -> String {
    let files: Vec<(PathBuf, Option<String>)> = python_files(project)
        .map(|(path, _)| {
            let text = File::open(&path).and_then(|mut file| flakelab_history::digest(&mut file));
            let inside = path.strip_prefix(project).map(Path::to_owned);
            (inside.unwrap_or(path), text.ok().map(|d| d.to_string()))
        })
        .collect();
    let names: Vec<_> = files
        .iter()
        .map(|(path, text)| (path.to_string_lossy(), text))
        .collect();
    flakelab_mutate::digest(&(names, project::settings(project))).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_that_of_texts_and_names() {
        let dir = tempfile::tempdir().expect("tempdir");
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("dirs");
            std::fs::write(path, text).expect("write");
            digest(dir.path())
        };
        let first = write("tests/test_a.py", "def test(): pass\n");
        // What is no part of the project.
        write("venv/pyvenv.cfg", "");
        for name in ["venv/lib/a.py", "notes.txt", ".gitignore"] {
            assert_eq!(write(name, "built/\n"), first, "{name}");
        }
        assert_eq!(write("built/a.py", "x = 1"), first);
        let second = write("tests/test_a.py", "def test(): fail\n");
        assert_ne!(second, first);
        let third = write("tests/conftest.py", "");
        assert_ne!(third, second);
        assert_ne!(write("pytest.ini", "[pytest]"), third);
        std::fs::remove_file(dir.path().join("pytest.ini")).expect("remove");
        assert_eq!(digest(dir.path()), third);
    }
}
