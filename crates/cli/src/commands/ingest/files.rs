//! Which files are meant: those that are named, and what looks like a report below directories.

use std::path::{Path, PathBuf};

/// How deep directories are searched.
const DEPTH: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    /// By the user; other files that are no reports are nobody's mistake.
    pub(super) named: bool,
}

/// In the order of the command line, below a directory by name.
pub(super) fn gather(given: &[PathBuf]) -> Vec<Candidate> {
    let mut all = Vec::new();
    for path in given {
        if path.is_dir() {
            search(path, DEPTH, &mut all);
        } else {
            all.push(Candidate {
                path: path.clone(),
                named: true,
            });
        }
    }
    all
}

fn search(dir: &Path, depth: usize, all: &mut Vec<Candidate>) {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return;
    };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        // Links are not followed: they may lead anywhere, and in circles.
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !hidden && depth > 0 => search(&path, depth - 1, all),
            Ok(kind) if kind.is_file() && is_report(&path) => {
                all.push(Candidate { path, named: false })
            }
            _ => {}
        }
    }
}

fn is_report(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "xml" || e == "json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_searched_and_links_are_not() {
        let dir = tempfile::tempdir().expect("tempdir");
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at("b/c")).expect("dirs");
        std::fs::create_dir_all(at(".hidden")).expect("dirs");
        for name in [
            "b/c/2.xml",
            "b/1.json",
            "b/notes.txt",
            ".hidden/x.xml",
            "a.xml",
        ] {
            std::fs::write(at(name), "").expect("write");
        }
        std::os::unix::fs::symlink(dir.path(), at("b/loop")).expect("link");
        std::os::unix::fs::symlink(at("a.xml"), at("b/link.xml")).expect("link");
        let found = gather(&[at("missing.xml"), dir.path().to_owned()]);
        let names: Vec<_> = found
            .iter()
            .map(|c| {
                (
                    c.path
                        .strip_prefix(dir.path())
                        .expect("below")
                        .display()
                        .to_string(),
                    c.named,
                )
            })
            .collect();
        let expected = [
            ("missing.xml", true),
            ("a.xml", false),
            ("b/1.json", false),
            ("b/c/2.xml", false),
        ];
        assert_eq!(
            names,
            expected.map(|(name, named)| (name.to_owned(), named))
        );
    }
}
